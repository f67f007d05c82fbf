//! The planner context as text for a prompt: only what there is to say, without ids.

#[cfg(test)]
mod tests;

use model::VerdictStatus;

use super::feedback::{Feedback, is_last_turn, is_weak_acceptance};
use super::{PastExchange, PlannerInput, describe_exchange, describe_preferences, newest_turns};
use crate::strategy::is_sure_acceptance;
use crate::text::{MAX_QUOTED_CHARS, quote_text};

/// Sections with at least one line, separated by blank lines. Empty when there is none.
pub(super) fn render_prompt(input: &PlannerInput<'_>, feedback: &Feedback) -> String {
    let list = |lines: Vec<String>| lines.into_iter().map(|line| format!("- {line}")).collect();
    let conversation = newest_turns(input.conversation).iter().map(describe_turn).collect();
    let is_earlier = input.judged.is_some_and(|judged| !is_last_turn(input, &judged));
    let which = if is_earlier { "an earlier" } else { "the previous" };
    let judged = format!("Feedback on {which} answer");
    let sections: [(&str, Vec<String>); 4] = [
        (&judged, describe_feedback(input, feedback)),
        ("Instructions", list(feedback.context.instructions.clone())),
        ("Conversation so far", list(conversation)),
        ("Preferences of the user", list(describe_preferences(input.preferences))),
    ];
    let shown = sections.into_iter().filter(|(_, lines)| !lines.is_empty());
    let shown = shown.map(|(heading, lines)| format!("### {heading}\n{}\n", lines.join("\n")));
    shown.collect::<Vec<_>>().join("\n")
}

/// Empty unless the user accepted or rejected the answer.
fn describe_feedback(input: &PlannerInput<'_>, feedback: &Feedback) -> Vec<String> {
    let Some(judged) = input.judged.filter(|judged| !is_weak_acceptance(judged)) else {
        return Vec::new();
    };
    let mut lines = Vec::new();
    match (judged.verdict.status, &feedback.user_said) {
        (VerdictStatus::Neutral, _) => return lines,
        (VerdictStatus::Accepted, _) => lines.push("The user accepted the answer.".to_owned()),
        (VerdictStatus::Rejected, None) => lines.push("The user rejected the answer.".to_owned()),
        (VerdictStatus::Rejected, Some(said)) => {
            lines.push(format!("The user rejected the answer: {said}"));
        }
    }
    lines.push(format!("Question: {}", quote_text(judged.question, MAX_QUOTED_CHARS)));
    let strategy = judged.strategy.and(feedback.context.previous_strategy.as_ref());
    lines.extend(strategy.map(|strategy| format!("Strategy: {strategy}")));
    let problem = feedback.context.what_went_wrong.as_ref();
    lines.extend(problem.map(|problem| format!("Problem: {problem}")));
    lines
}

fn describe_turn(past: &PastExchange<'_>) -> String {
    let status = match past.status {
        VerdictStatus::Rejected => " (rejected)",
        VerdictStatus::Accepted if is_sure_acceptance(past.status, past.confidence) => {
            " (accepted)"
        }
        VerdictStatus::Accepted | VerdictStatus::Neutral => "",
    };
    format!("User {}{status}", describe_exchange(past))
}
