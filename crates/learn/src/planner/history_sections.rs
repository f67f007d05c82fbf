//! The sections on the conversation so far and on what the user prefers.

use super::input::{PastExchange, Preferences, RepeatedCorrection};
use super::quoting::{ANSWER, QUOTED, bare, quoted};

/// Turns shown at most: the newest.
const MOST_TURNS: usize = 10;
/// Entries of a list of preferences shown at most: the first.
const MOST_ENTRIES: usize = 5;

/// What a section says when it has nothing to say.
const NOTHING: &str = "None yet.";

/// The lines under "Conversation Context".
pub(super) fn conversation(turns: &[PastExchange<'_>]) -> String {
    let newest = turns.get(turns.len().saturating_sub(MOST_TURNS)..).unwrap_or_default();
    list(&newest.iter().map(exchange).collect::<Vec<_>>())
}

fn exchange(past: &PastExchange<'_>) -> String {
    let asked = quoted(past.question, QUOTED);
    let answered = past.answer.map(|answer| format!("answered {}", quoted(answer, ANSWER)));
    let answered = answered.unwrap_or_else(|| "no answer".to_owned());
    let with = past.strategy.map(bare).filter(|name| !name.is_empty());
    let with = with.map(|name| format!(" with {name}")).unwrap_or_default();
    format!("Turn {} ({}): asked {asked}, {answered}{with}", past.turn, past.status.as_word())
}

/// The lines under "Session Preferences".
pub(super) fn preferences(preferences: &Preferences) -> String {
    let mut lines = Vec::new();
    lines.extend(strategies("Accepted strategies", &preferences.accepted_strategies));
    lines.extend(strategies("Rejected strategies", &preferences.rejected_strategies));
    lines.extend(preferences.corrections.iter().filter_map(correction).take(MOST_ENTRIES));
    list(&lines)
}

fn strategies(label: &str, counted: &[(String, u32)]) -> Option<String> {
    let names: Vec<String> = counted
        .iter()
        .map(|(name, count)| (bare(name), count))
        .filter(|(name, _)| !name.is_empty())
        .take(MOST_ENTRIES)
        .map(|(name, count)| format!("{name} ({})", times(*count)))
        .collect();
    (!names.is_empty()).then(|| format!("{label}: {}", names.join(", ")))
}

fn correction(repeated: &RepeatedCorrection) -> Option<String> {
    let side = |text: &Option<String>| text.as_deref().map(bare).filter(|t| !t.is_empty());
    let what = match (side(&repeated.wants), side(&repeated.instead_of)) {
        (Some(wants), Some(instead_of)) => format!("wants \"{wants}\", not \"{instead_of}\""),
        (Some(wants), None) => format!("wants \"{wants}\""),
        (None, Some(instead_of)) => format!("does not want \"{instead_of}\""),
        (None, None) => return None,
    };
    Some(format!("Corrected {}: {what}", times(repeated.count)))
}

fn times(count: u32) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

fn list(lines: &[String]) -> String {
    if lines.is_empty() {
        return format!("{NOTHING}\n");
    }
    lines.iter().map(|line| format!("- {line}\n")).collect()
}
