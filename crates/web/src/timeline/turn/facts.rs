//! Labels of an answer: model, latency, cost, and detected problems.

use engine::TurnView;
use model::{ErrorType, Tolerance, TurnStatus};

use crate::number_format::{format_count, format_number, format_seconds};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerFact {
    pub class: &'static str,
    pub text: String,
    pub title: String,
}

impl AnswerFact {
    fn new(class: &'static str, text: impl Into<String>, title: impl Into<String>) -> Self {
        Self { class, text: text.into(), title: title.into() }
    }
}

pub(super) fn signal_facts(view: &TurnView) -> Vec<AnswerFact> {
    let mut facts = Vec::new();
    if let Some(signals) = &view.signals {
        if let Some(kind) = signals.failure.error_type {
            let confidence = signals.failure.confidence.get() * 100.0;
            let title = format!("{confidence:.0}% confidence");
            facts.push(AnswerFact::new("bad", failure_label(kind), title));
        }
        if let Some(pace) = &signals.pace {
            let latency = format_seconds(pace.seconds);
            match pace.tolerance {
                Tolerance::High => {}
                Tolerance::Medium => facts.push(AnswerFact::new("unsure", "slow", &latency)),
                Tolerance::Low => facts.push(AnswerFact::new("bad", "very slow", &latency)),
            }
            if !pace.accepted {
                facts.push(AnswerFact::new("bad", "client stopped waiting", latency));
            }
        }
    }
    if view.retries > 0 {
        let times = if view.retries == 1 { String::new() } else { format!(" ×{}", view.retries) };
        let title = "The same question was asked again soon afterwards";
        facts.push(AnswerFact::new("unsure", format!("retried{times}"), title));
    }
    if view.exchange.standing.silent {
        facts.push(AnswerFact::new("none", "session ended here", "No message followed"));
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
    let mut facts = Vec::new();
    if completion.status == TurnStatus::Error {
        facts.push(AnswerFact::new("bad", "error", "Reported by the application"));
    }
    let mut push = |text: String, title: &str| facts.push(AnswerFact::new("none", text, title));
    if let Some(model) = &completion.model {
        push(model.clone(), "Model");
    }
    if let Some(prompt) = &completion.prompt {
        let version =
            prompt.version.as_ref().map_or_else(String::new, |version| format!("@{version}"));
        push(format!("{}{version}", prompt.id), "Prompt");
    }
    if let Some(strategy) = &completion.strategy {
        push(strategy.name.clone(), "Strategy");
    }
    if let Some(pace) = view.signals.as_ref().and_then(|signals| signals.pace) {
        push(format_seconds(pace.seconds), "Latency");
    }
    if let Some((input, output)) = completion.tokens_in.zip(completion.tokens_out) {
        let text = format!("{} + {} tokens", format_count(input), format_count(output));
        push(text, "Input and output tokens");
    }
    if let Some(cost) = completion.cost {
        push(format!("cost {}", format_number(cost)), "Cost");
    }
    facts
}
