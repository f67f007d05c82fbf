//! One turn of the timeline.

use askama::Template;
use engine::{StoredReaction, TurnView};
use model::{
    Body, Contrast, CorrectionType, ErrorType, Origin, Reaction, Scope, Tolerance, TurnStatus,
    VerdictStatus, encode_path_segment,
};

use super::MessageEvidence;
use crate::chip::Chip;
use crate::conversations::status_chip;
use crate::display_time::DisplayTime;
use crate::filter::Filter;
use crate::highlight::{HighlightedText, humanize_name};
use crate::number_format::{format_count, format_number, format_seconds};

#[derive(Clone, Debug, Template)]
#[template(path = "turn.html")]
pub struct TurnCard {
    pub id: String,
    pub encoded_id: String,
    pub when: DisplayTime,
    pub question: HighlightedText,
    pub about: Option<String>,
    pub answer: Option<HighlightedText>,
    pub error: Option<String>,
    pub answer_facts: Vec<AnswerFact>,
    pub status: Chip,
    pub source: String,
    pub signals: Vec<AnswerFact>,
    pub verdict: Option<DetectorVerdict>,
    pub feedback: Vec<FeedbackEntry>,
    pub confirm: ReviewButton,
    pub flip: ReviewButton,
    pub is_reviewed: bool,
    pub place: String,
    pub conversation: String,
    pub link: String,
}

impl TurnCard {
    pub(super) fn new(
        view: &TurnView,
        turns: &[TurnView],
        message_evidence: &MessageEvidence<'_>,
        filter: &Filter,
        scope: &Scope,
    ) -> Self {
        let exchange = &view.exchange;
        let about = message_evidence.get(&exchange.turn);
        let evidence = about.map(|(_, evidence)| *evidence).unwrap_or_default();
        let completion = exchange.completion.as_ref();
        let failure = view.signals.as_ref().map(|signals| &signals.failure);
        let in_answer = failure.map(|failure| failure.evidence.as_slice()).unwrap_or_default();
        let answer = completion.and_then(|completion| completion.response.as_deref());
        let (confirm, flip) = review_buttons(view);
        Self {
            id: exchange.turn.to_string(),
            encoded_id: encode_path_segment(exchange.turn.as_str()),
            when: DisplayTime::with_minutes(exchange.ts),
            question: HighlightedText::with_evidence(&exchange.opening.text, evidence),
            about: about.map(|(turn, _)| encode_path_segment(turn.as_str())),
            answer: answer.map(|answer| HighlightedText::with_evidence(answer, in_answer)),
            error: completion.and_then(|completion| completion.error.clone()),
            answer_facts: completion_facts(view),
            status: status_chip(exchange.standing.status),
            source: describe_source(view),
            signals: signal_facts(view),
            verdict: read_verdict(view, turns),
            feedback: feedback_entries(view),
            confirm,
            flip,
            is_reviewed: exchange.standing.review.is_some(),
            link: crate::failures::turn_link(
                filter,
                scope.project.as_str(),
                exchange.turn.as_str(),
            ),
            place: filter.place_link("", scope.project.as_str(), &[]),
            conversation: exchange
                .conversation
                .as_ref()
                .map(ToString::to_string)
                .unwrap_or_default(),
        }
    }

    pub fn standalone(view: &TurnView, filter: &Filter, scope: &Scope) -> Self {
        Self::new(view, std::slice::from_ref(view), &MessageEvidence::new(), filter, scope)
    }

    /// True while the answer is missing.
    pub fn is_waiting(&self) -> bool {
        self.answer.is_none() && self.error.is_none()
    }
}

/// A button that submits the status of a review.
#[derive(Clone, Debug)]
pub struct ReviewButton {
    pub status: &'static str,
    pub label: &'static str,
}

/// The buttons to confirm and to flip a verdict.
fn review_buttons(view: &TurnView) -> (ReviewButton, ReviewButton) {
    let accept = |label| ReviewButton { status: VerdictStatus::Accepted.as_word(), label };
    let reject = |label| ReviewButton { status: VerdictStatus::Rejected.as_word(), label };
    match view.verdict.as_ref().map(|(found, _)| found.verdict.status) {
        Some(VerdictStatus::Rejected) => (reject("Confirm: rejected"), accept("Flip to accepted")),
        Some(VerdictStatus::Accepted) => (accept("Confirm: accepted"), reject("Flip to rejected")),
        Some(VerdictStatus::Neutral) | None => {
            (accept("Mark as accepted"), reject("Mark as rejected"))
        }
    }
}

fn describe_source(view: &TurnView) -> String {
    let standing = &view.exchange.standing;
    if let Some(at) = view.reviewed_at.filter(|_| standing.review.is_some()) {
        return format!("reviewed by a person, {}", DisplayTime::with_minutes(at).text);
    }
    let by_user = view.reactions.iter().any(|reaction| reaction.origin == Origin::User);
    let confidence = format!("{:.0}% confidence", standing.confidence.get() * 100.0);
    match (by_user, &view.verdict) {
        (true, _) => "from user feedback".to_owned(),
        (false, Some(_)) => format!("detected, {confidence}"),
        (false, None) => "no feedback yet".to_owned(),
    }
}

/// The detector's verdict on an answer, with its explanation.
#[derive(Clone, Debug)]
pub struct DetectorVerdict {
    pub status: Chip,
    pub confidence: String,
    pub percent: u8,
    pub explanation: String,
    pub message: Option<HighlightedText>,
    pub message_turn: Option<String>,
    pub contrast: Option<Contrast>,
    pub detector: String,
}

fn read_verdict(view: &TurnView, turns: &[TurnView]) -> Option<DetectorVerdict> {
    let (found, _) = view.verdict.as_ref()?;
    let verdict = &found.verdict;
    let source_turn = turns.iter().find(|other| other.exchange.turn == found.detected_in);
    let message = source_turn.map(|other| other.exchange.opening.text.as_str());
    let message = message.or(verdict.user_said.as_deref()).filter(|text| !text.is_empty());
    let confidence = verdict.confidence.get();
    Some(DetectorVerdict {
        status: status_chip(verdict.status),
        confidence: format!("{:.0}%", confidence * 100.0),
        percent: (confidence * 100.0).round() as u8,
        explanation: explain_verdict(
            verdict.status,
            verdict.correction_type,
            &verdict.rule,
            found.moved_on,
        ),
        message: message.map(|message| HighlightedText::with_evidence(message, &verdict.evidence)),
        message_turn: source_turn.map(|other| encode_path_segment(other.exchange.turn.as_str())),
        contrast: verdict.contrast.clone(),
        detector: found.detector.clone(),
    })
}

fn explain_verdict(
    status: VerdictStatus,
    how: Option<CorrectionType>,
    rule: &str,
    moved_on: bool,
) -> String {
    let base = match (status, how) {
        (VerdictStatus::Rejected, Some(CorrectionType::Explicit)) => {
            "The next message rejects the answer"
        }
        (VerdictStatus::Rejected, Some(CorrectionType::Rephrased)) => {
            "The next message rephrases the question"
        }
        (VerdictStatus::Rejected, Some(CorrectionType::Abandonment)) => {
            "The next message gives up on the question"
        }
        (VerdictStatus::Rejected, None) => "The next message expresses dissatisfaction",
        (VerdictStatus::Accepted, _) if moved_on => "The user moved on to another topic",
        (VerdictStatus::Accepted, _) => "The next message accepts the answer or builds on it",
        (VerdictStatus::Neutral, _) => "The next message is inconclusive",
    };
    match rule {
        "" => base.to_owned(),
        "model" => format!("{base} (learned model)"),
        rule => format!("{base} (rule: {})", humanize_name(rule)),
    }
}

/// A reaction, a comment or a correction.
#[derive(Clone, Debug)]
pub struct FeedbackEntry {
    pub class: &'static str,
    pub label: String,
    pub author: String,
    pub when: DisplayTime,
    pub text: Option<HighlightedText>,
}

fn feedback_entries(view: &TurnView) -> Vec<FeedbackEntry> {
    let mut entries: Vec<FeedbackEntry> = view
        .reactions
        .iter()
        .filter(|reaction| reaction.origin == Origin::User)
        .map(reaction_entry)
        .collect();
    entries.extend(view.comments.iter().map(|comment| FeedbackEntry {
        class: "none",
        label: match &comment.sentiment {
            Some(found) => format!("comment ({})", found.sentiment.as_word()),
            None => "comment".to_owned(),
        },
        author: user_label(comment.user.as_ref().map(|user| user.as_str())),
        when: DisplayTime::with_minutes(comment.ts),
        text: Some(HighlightedText::plain(&comment.text)),
    }));
    for stored in &view.stored.events {
        if let Body::Correction(correction) = &stored.event.body {
            entries.push(FeedbackEntry {
                class: "bad",
                label: "correction".to_owned(),
                author: user_label(stored.event.user.as_ref().map(|user| user.as_str())),
                when: DisplayTime::with_minutes(stored.event.ts),
                text: Some(HighlightedText::plain(&correction.corrected)),
            });
        }
    }
    entries
}

fn reaction_entry(reaction: &StoredReaction) -> FeedbackEntry {
    let (class, label) = match reaction.reaction {
        Reaction::Ok => ("good", "thumbs up"),
        Reaction::NotOk => ("bad", "thumbs down"),
        Reaction::Neutral => ("none", "neutral"),
    };
    FeedbackEntry {
        class,
        label: label.to_owned(),
        author: user_label(reaction.user.as_ref().map(|user| user.as_str())),
        when: DisplayTime::with_minutes(reaction.ts),
        text: reaction.text.as_deref().filter(|text| !text.is_empty()).map(HighlightedText::plain),
    }
}

fn user_label(user: Option<&str>) -> String {
    user.unwrap_or("unknown user").to_owned()
}

/// A label of an answer: model, latency, cost, or a detected problem.
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

fn signal_facts(view: &TurnView) -> Vec<AnswerFact> {
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
        ErrorType::Truncated => "truncated",
        ErrorType::WrongLanguage => "wrong language",
        ErrorType::Repetition => "repetition",
    }
}

fn completion_facts(view: &TurnView) -> Vec<AnswerFact> {
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
