//! The sections on the conversation so far and on the user's preferences.

use super::input::{PastExchange, RepeatedCorrection, UserPreferences};
use super::quoting::{MAX_ANSWER_CHARS, MAX_QUOTED_CHARS, quote_text, to_bare_text};

const MAX_TURNS: usize = 10;
const MAX_ENTRIES: usize = 5;

const EMPTY_SECTION: &str = "None yet.";

pub(super) fn render_conversation(turns: &[PastExchange<'_>]) -> String {
    let newest = turns.get(turns.len().saturating_sub(MAX_TURNS)..).unwrap_or_default();
    render_list(&newest.iter().map(describe_exchange).collect::<Vec<_>>())
}

fn describe_exchange(past: &PastExchange<'_>) -> String {
    let question = quote_text(past.question, MAX_QUOTED_CHARS);
    let answer =
        past.answer.map(|answer| format!("answered {}", quote_text(answer, MAX_ANSWER_CHARS)));
    let answer = answer.unwrap_or_else(|| "no answer".to_owned());
    let strategy = past.strategy.map(to_bare_text).filter(|name| !name.is_empty());
    let strategy = strategy.map(|name| format!(" with {name}")).unwrap_or_default();
    format!("Turn {} ({}): asked {question}, {answer}{strategy}", past.turn, past.status.as_word())
}

/// The lines under "Session Preferences".
pub(super) fn render_preferences(preferences: &UserPreferences) -> String {
    let mut lines = Vec::new();
    lines.extend(describe_strategies("Accepted strategies", &preferences.accepted_strategies));
    lines.extend(describe_strategies("Rejected strategies", &preferences.rejected_strategies));
    lines.extend(preferences.corrections.iter().filter_map(describe_correction).take(MAX_ENTRIES));
    render_list(&lines)
}

fn describe_strategies(label: &str, counts: &[(String, u32)]) -> Option<String> {
    let names: Vec<String> = counts
        .iter()
        .map(|(name, count)| (to_bare_text(name), count))
        .filter(|(name, _)| !name.is_empty())
        .take(MAX_ENTRIES)
        .map(|(name, count)| format!("{name} ({})", format_times(*count)))
        .collect();
    (!names.is_empty()).then(|| format!("{label}: {}", names.join(", ")))
}

fn describe_correction(repeated: &RepeatedCorrection) -> Option<String> {
    let side = |text: &Option<String>| text.as_deref().map(to_bare_text).filter(|t| !t.is_empty());
    let what = match (side(&repeated.wants), side(&repeated.instead_of)) {
        (Some(wants), Some(instead_of)) => format!("wants \"{wants}\", not \"{instead_of}\""),
        (Some(wants), None) => format!("wants \"{wants}\""),
        (None, Some(instead_of)) => format!("does not want \"{instead_of}\""),
        (None, None) => return None,
    };
    Some(format!("Corrected {}: {what}", format_times(repeated.count)))
}

fn format_times(count: u32) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

fn render_list(lines: &[String]) -> String {
    if lines.is_empty() {
        return format!("{EMPTY_SECTION}\n");
    }
    lines.iter().map(|line| format!("- {line}\n")).collect()
}
