//! What is known of an answer: how it was made, and what it shows.

use engine::TurnView;
use model::{ErrorType, Tolerance, TurnStatus};

use crate::number;

/// Something that is known of an answer: a class, and words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// How it is shown.
    pub class: &'static str,
    /// What it says.
    pub text: String,
    /// More of it.
    pub title: String,
}

pub(super) fn signals(view: &TurnView) -> Vec<Fact> {
    let mut facts = Vec::new();
    if let Some(signals) = &view.signals {
        if let Some(kind) = signals.failure.error_type {
            let sure = format!("{:.0}% sure", signals.failure.confidence.get() * 100.0);
            facts.push(Fact { class: "bad", text: failure(kind).to_owned(), title: sure });
        }
        if let Some(pace) = &signals.pace {
            let slow = match pace.tolerance {
                Tolerance::High => None,
                Tolerance::Medium => Some(("unsure", "slow")),
                Tolerance::Low => Some(("bad", "very slow")),
            };
            let title = number::seconds(pace.seconds);
            if let Some((class, text)) = slow {
                facts.push(Fact { class, text: text.to_owned(), title: title.clone() });
            }
            if !pace.accepted {
                let text = "the client gave up waiting".to_owned();
                facts.push(Fact { class: "bad", text, title });
            }
        }
    }
    if view.retries > 0 {
        let times = if view.retries == 1 { String::new() } else { format!(" ×{}", view.retries) };
        let title = "The same question came again soon after".to_owned();
        facts.push(Fact { class: "unsure", text: format!("asked again{times}"), title });
    }
    if view.exchange.standing.silent {
        let title = "Nothing came after it".to_owned();
        facts.push(Fact { class: "none", text: "session ended here".to_owned(), title });
    }
    facts
}

fn failure(kind: ErrorType) -> &'static str {
    match kind {
        ErrorType::ExecutionError => "execution error",
        ErrorType::EmptyResponse => "empty answer",
        ErrorType::ModelRefusal => "refusal",
        ErrorType::ErrorText => "error text",
    }
}

pub(super) fn made(view: &TurnView) -> Vec<Fact> {
    let Some(completion) = &view.exchange.completion else { return Vec::new() };
    let fact = |text: String, title: &str| Fact { class: "none", text, title: title.to_owned() };
    let mut facts = Vec::new();
    if completion.status == TurnStatus::Error {
        facts.push(Fact {
            class: "bad",
            text: "error".to_owned(),
            title: "The application says so".to_owned(),
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
    facts.extend(pace.map(|pace| fact(number::seconds(pace.seconds), "Latency")));
    let tokens = completion.tokens_in.zip(completion.tokens_out);
    facts.extend(tokens.map(|(put, got)| {
        fact(format!("{} + {} tokens", number::count(put), number::count(got)), "Tokens in and out")
    }));
    facts.extend(completion.cost.map(|cost| fact(format!("cost {}", number::plain(cost)), "Cost")));
    facts
}
