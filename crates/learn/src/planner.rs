//! Planner context: the feedback on the previous answer and the instructions that follow, as
//! Markdown and as data.
//!
//! The default text is made for a prompt (`prompt.rs`). Applications parse the headings and labels of
//! [`ContextFormat::Sections`], so they must not change. User text always follows a fixed label on
//! its line, so it cannot pass for a heading.

mod words;
mod complaint;
mod contrast;
mod query_rewrite;
mod feedback;
mod preferences;
mod prompt;

use model::{Strategy, TurnId, UnitInterval, Verdict, VerdictStatus};

use crate::text::{MAX_ANSWER_CHARS, MAX_QUOTED_CHARS, quote_text, to_bare_text};
use feedback::Feedback;
pub use preferences::{ComparedStrategies, JudgedStrategy, compare_strategies};

const MAX_TURNS: usize = 10;
const MAX_ENTRIES: usize = 5;
const EMPTY_SECTION: &str = "None yet.";

/// Layout of the Markdown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContextFormat {
    /// For a prompt: no empty sections and no ids. Empty without feedback.
    #[default]
    Prompt,
    /// Fixed headings and labels, for applications that parse them.
    Sections,
}

/// Why a clarifying question is better than an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClarifyReason {
    EmptyMessage,
    AmbiguousWord,
    UnresolvedReference,
    /// Several answers in a row were rejected.
    Rejections,
}

impl ClarifyReason {
    pub const fn as_word(self) -> &'static str {
        match self {
            Self::EmptyMessage => "empty_message",
            Self::AmbiguousWord => "ambiguous_word",
            Self::UnresolvedReference => "unresolved_reference",
            Self::Rejections => "rejections",
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct PlannerInput<'a> {
    pub format: ContextFormat,
    /// The turn being opened.
    pub turn: &'a TurnId,
    pub message: &'a str,
    /// Why the message is unclear, if it is.
    pub unclear: Option<ClarifyReason>,
    /// The turn judged by this message, if any.
    pub judged: Option<JudgedPreviousTurn<'a>>,
    /// Rejected answers in a row, including the one judged by this message.
    pub rejection_streak: u32,
    /// The last few turns, oldest first.
    pub conversation: &'a [PastExchange<'a>],
    pub preferences: &'a UserPreferences,
}

#[derive(Clone, Copy, Debug)]
pub struct JudgedPreviousTurn<'a> {
    pub turn: &'a TurnId,
    pub question: &'a str,
    /// Recorded by the application, if at all.
    pub strategy: Option<&'a Strategy>,
    pub verdict: &'a Verdict,
}

#[derive(Clone, Copy, Debug)]
pub struct PastExchange<'a> {
    pub turn: &'a TurnId,
    pub question: &'a str,
    pub answer: Option<&'a str>,
    pub status: VerdictStatus,
    /// Confidence of the status.
    pub confidence: UnitInterval,
    pub strategy: Option<&'a str>,
}

/// Strategies and corrections of a user, most important first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserPreferences {
    /// Described strategies with the number of accepted answers.
    pub accepted_strategies: Vec<(String, u32)>,
    pub rejected_strategies: Vec<(String, u32)>,
    pub corrections: Vec<RepeatedCorrection>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RepeatedCorrection {
    pub wants: Option<String>,
    pub instead_of: Option<String>,
    pub count: u32,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PlannerContext {
    /// The context in the requested format.
    pub markdown: String,
    pub status: VerdictStatus,
    pub judged: Option<TurnId>,
    pub suggest_clarify: bool,
    /// `None` when the message can be answered.
    pub clarify_reason: Option<ClarifyReason>,
    pub rejection_streak: u32,
    pub previous_strategy: Option<String>,
    pub what_went_wrong: Option<String>,
    pub instructions: Vec<String>,
    /// The previous query, changed to what the user wants.
    pub rewritten_query: Option<String>,
}

/// Counts consecutive rejected turns, starting at the newest.
pub fn count_rejection_streak(newest_first: impl IntoIterator<Item = VerdictStatus>) -> u32 {
    let rejected = newest_first.into_iter().take_while(|s| *s == VerdictStatus::Rejected);
    u32::try_from(rejected.count()).unwrap_or(u32::MAX)
}

pub fn build_planner_context(input: &PlannerInput<'_>) -> PlannerContext {
    let feedback = Feedback::new(input);
    let markdown = match input.format {
        ContextFormat::Prompt => prompt::render_prompt(input, &feedback),
        ContextFormat::Sections => render_sections(input, &feedback),
    };
    PlannerContext { markdown, ..feedback.context }
}

fn render_sections(input: &PlannerInput<'_>, feedback: &Feedback) -> String {
    let mut text = "## 2. Gathered Context\n\n### Previous Response Feedback\n".to_owned();
    let status = feedback.context.status.as_word().to_uppercase();
    let labelled = [
        ("Status", Some(&status)),
        ("Detected", Some(&feedback.detected)),
        ("User said", feedback.user_said.as_ref()),
        ("Previous strategy", feedback.context.previous_strategy.as_ref()),
        ("What went wrong", feedback.context.what_went_wrong.as_ref()),
    ];
    for (label, value) in labelled {
        text.extend(value.map(|value| format!("**{label}:** {value}\n")));
    }
    if !feedback.context.instructions.is_empty() {
        text.push_str("\n**Instruction for Planner:**\n");
        text.extend(feedback.context.instructions.iter().map(|line| format!("- {line}\n")));
    }
    text.push_str("\n### Conversation Context\n");
    text.push_str(&render_conversation(input.conversation));
    text.push_str("\n### Session Preferences\n");
    text.push_str(&render_list(&describe_preferences(input.preferences)));
    text
}

fn render_conversation(turns: &[PastExchange<'_>]) -> String {
    let describe = |past: &PastExchange<'_>| {
        format!("Turn {} ({}): {}", past.turn, past.status.as_word(), describe_exchange(past))
    };
    render_list(&newest_turns(turns).iter().map(describe).collect::<Vec<_>>())
}

fn newest_turns<'a>(turns: &'a [PastExchange<'a>]) -> &'a [PastExchange<'a>] {
    turns.get(turns.len().saturating_sub(MAX_TURNS)..).unwrap_or_default()
}

fn describe_exchange(past: &PastExchange<'_>) -> String {
    let question = quote_text(past.question, MAX_QUOTED_CHARS);
    let answer =
        past.answer.map(|answer| format!("answered {}", quote_text(answer, MAX_ANSWER_CHARS)));
    let answer = answer.unwrap_or_else(|| "no answer".to_owned());
    let strategy = past.strategy.map(to_bare_text).filter(|name| !name.is_empty());
    let strategy = strategy.map(|name| format!(" with {name}")).unwrap_or_default();
    format!("asked {question}, {answer}{strategy}")
}

fn describe_preferences(preferences: &UserPreferences) -> Vec<String> {
    let mut lines = Vec::new();
    lines.extend(describe_strategies("Accepted strategies", &preferences.accepted_strategies));
    lines.extend(describe_strategies("Rejected strategies", &preferences.rejected_strategies));
    lines.extend(preferences.corrections.iter().filter_map(describe_correction).take(MAX_ENTRIES));
    lines
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

#[cfg(test)]
mod tests;
