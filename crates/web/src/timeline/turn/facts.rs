//! Labels of an answer: model, latency, cost, and detected problems.

use engine::TurnView;
use model::{ErrorType, Tolerance, TurnStatus};

use crate::number_format;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerFact {
    pub class: &'static str,
    pub text: String,
    pub title: String,
}

pub(super) fn signal_facts(view: &TurnView) -> Vec<AnswerFact> {
    let mut facts = Vec::new();
    if let Some(signals) = &view.signals {
        if let Some(kind) = signals.failure.error_type {
            let sure = format!("{:.0}% confidence", signals.failure.confidence.get() * 100.0);
            facts.push(AnswerFact {
                class: "bad",
                text: failure_label(kind).to_owned(),
                title: sure,
            });
        }
        if let Some(pace) = &signals.pace {
            let slow = match pace.tolerance {
                Tolerance::High => None,
                Tolerance::Medium => Some(("unsure", "slow")),
                Tolerance::Low => Some(("bad", "very slow")),
            };
            let title = number_format::format_seconds(pace.seconds);
            if let Some((class, text)) = slow {
                facts.push(AnswerFact { class, text: text.to_owned(), title: title.clone() });
            }
            if !pace.accepted {
                let text = "client stopped waiting".to_owned();
                facts.push(AnswerFact { class: "bad", text, title });
            }
        }
    }
    if view.retries > 0 {
        let times = if view.retries == 1 { String::new() } else { format!(" ×{}", view.retries) };
        let title = "The same question was asked again soon afterwards".to_owned();
        facts.push(AnswerFact { class: "unsure", text: format!("retried{times}"), title });
    }
    if view.exchange.standing.silent {
        let title = "No message followed".to_owned();
        facts.push(AnswerFact { class: "none", text: "session ended here".to_owned(), title });
    }
    facts
}

fn failure_label(kind: ErrorType) -> &'static str {
    match kind {
        ErrorType::ExecutionError => "execution error",
        ErrorType::EmptyResponse => "empty response",
        ErrorType::ModelRefusal => "model refusal",
        ErrorType::ErrorText => "error text",
    }
}

pub(super) fn completion_facts(view: &TurnView) -> Vec<AnswerFact> {
    let Some(completion) = &view.exchange.completion else { return Vec::new() };
    let fact =
        |text: String, title: &str| AnswerFact { class: "none", text, title: title.to_owned() };
    let mut facts = Vec::new();
    if completion.status == TurnStatus::Error {
        facts.push(AnswerFact {
            class: "bad",
            text: "error".to_owned(),
            title: "Reported by the application".to_owned(),
        });
    }
    facts.extend(completion.model.clone().map(|model| fact(model, "Model")));
    if let Some(prompt) = &completion.prompt {
        let version =
            prompt.version.as_ref().map_or_else(String::new, |version| format!("@{version}"));
        facts.push(fact(format!("{}{version}", prompt.id), "Prompt"));
    }
    facts.extend(
        completion.strategy.as_ref().map(|strategy| fact(strategy.name.clone(), "Strategy")),
    );
    let pace = view.signals.as_ref().and_then(|signals| signals.pace);
    facts.extend(pace.map(|pace| fact(number_format::format_seconds(pace.seconds), "Latency")));
    let tokens = completion.tokens_in.zip(completion.tokens_out);
    facts.extend(tokens.map(|(input, output)| {
        fact(
            format!(
                "{} + {} tokens",
                number_format::format_count(input),
                number_format::format_count(output)
            ),
            "Input and output tokens",
        )
    }));
    facts.extend(
        completion
            .cost
            .map(|cost| fact(format!("cost {}", number_format::format_number(cost)), "Cost")),
    );
    facts
}
