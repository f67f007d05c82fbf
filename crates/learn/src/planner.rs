//! The planner's context: what the user made of the last answer and what to do about it, as
//! Markdown for a prompt and as data.
//!
//! The Markdown keeps the headings and labels that applications already read. Text of users is
//! always inside a line that begins with a word of ours, so that it cannot pass for a heading.

mod input;
mod quoting;
mod vocabulary;
mod words;
mod contrast;
mod query_rewrite;
mod feedback;
mod history_sections;

use model::{TurnId, VerdictStatus};

pub use input::{JudgedPrevious, PastExchange, PlannerInput, Preferences, RepeatedCorrection};

use feedback::Feedback;

/// What a planner should know before it plans the turn.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannerContext {
    /// Everything below and the background, ready for a prompt.
    pub markdown: String,
    /// How the previous response was taken.
    pub status: VerdictStatus,
    /// Which turn was judged.
    pub judged: Option<TurnId>,
    /// Several answers in a row were rejected: ask before answering.
    pub suggest_clarify: bool,
    /// How many.
    pub rejection_streak: u32,
    /// How the judged turn was answered, in words.
    pub previous_strategy: Option<String>,
    /// Why it was rejected, in words.
    pub what_went_wrong: Option<String>,
    /// What to do now, one sentence each.
    pub instructions: Vec<String>,
    /// The previous query with what the user wants in it.
    pub rewritten_query: Option<String>,
}

/// Puts together what the planner should know.
pub fn planner_context(input: &PlannerInput<'_>) -> PlannerContext {
    let feedback = Feedback::of(input);
    PlannerContext {
        markdown: markdown(input, &feedback),
        status: feedback.status,
        judged: input.judged.map(|judged| judged.turn.clone()),
        suggest_clarify: feedback.suggest_clarify,
        rejection_streak: input.rejection_streak,
        previous_strategy: feedback.previous_strategy,
        what_went_wrong: feedback.what_went_wrong,
        instructions: feedback.instructions,
        rewritten_query: feedback.rewritten_query,
    }
}

fn markdown(input: &PlannerInput<'_>, feedback: &Feedback) -> String {
    let mut text = "## 2. Gathered Context\n\n### Previous Response Feedback\n".to_owned();
    let status = feedback.status.as_word().to_uppercase();
    let labelled = [
        ("Status", Some(&status)),
        ("Detected", Some(&feedback.detected)),
        ("User said", feedback.user_said.as_ref()),
        ("Previous strategy", feedback.previous_strategy.as_ref()),
        ("What went wrong", feedback.what_went_wrong.as_ref()),
    ];
    for (label, value) in labelled {
        text.extend(value.map(|value| format!("**{label}:** {value}\n")));
    }
    if !feedback.instructions.is_empty() {
        text.push_str("\n**Instruction for Planner:**\n");
        text.extend(feedback.instructions.iter().map(|line| format!("- {line}\n")));
    }
    text.push_str("\n### Conversation Context\n");
    text.push_str(&history_sections::conversation(input.conversation));
    text.push_str("\n### Session Preferences\n");
    text.push_str(&history_sections::preferences(input.preferences));
    text
}

#[cfg(test)]
mod tests;
