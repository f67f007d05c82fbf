//! Planner context: the feedback on the previous answer and the instructions that follow, as
//! Markdown and as data.
//!
//! Applications parse the headings and labels, so they must not change. User text always follows a
//! fixed label on its line, so it cannot pass for a heading.

mod input;
mod quoting;
mod vocabulary;
mod words;
mod contrast;
mod query_rewrite;
mod feedback;
mod history_sections;

use model::{TurnId, VerdictStatus};

pub use input::{
    JudgedPreviousTurn, PastExchange, PlannerInput, RepeatedCorrection, UserPreferences,
};

use feedback::Feedback;

#[derive(Clone, Debug, PartialEq)]
pub struct PlannerContext {
    /// All sections, ready for a prompt.
    pub markdown: String,
    pub status: VerdictStatus,
    pub judged: Option<TurnId>,
    pub suggest_clarify: bool,
    pub rejection_streak: u32,
    pub previous_strategy: Option<String>,
    pub what_went_wrong: Option<String>,
    pub instructions: Vec<String>,
    /// The previous query, changed to what the user wants.
    pub rewritten_query: Option<String>,
}

pub fn build_planner_context(input: &PlannerInput<'_>) -> PlannerContext {
    let feedback = Feedback::new(input);
    PlannerContext {
        markdown: render_markdown(input, &feedback),
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

fn render_markdown(input: &PlannerInput<'_>, feedback: &Feedback) -> String {
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
    text.push_str(&history_sections::render_conversation(input.conversation));
    text.push_str("\n### Session Preferences\n");
    text.push_str(&history_sections::render_preferences(input.preferences));
    text
}

#[cfg(test)]
mod tests;
