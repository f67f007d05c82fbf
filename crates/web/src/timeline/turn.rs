//! One turn of the timeline.

mod facts;
mod feedback;
mod detector_verdict;

use askama::Template;
use engine::TurnView;
use model::{Origin, Scope, VerdictStatus};

use super::MessageEvidence;
use crate::conversations::status_chip;
use crate::display_time::DisplayTime;
use crate::filter::{Filter, encode_url};
use crate::highlight::HighlightedText;
use detector_verdict::{DetectorVerdict, read_verdict};
use facts::{AnswerFact, completion_facts, signal_facts};
use feedback::{FeedbackEntry, feedback_entries};

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
    pub status: (&'static str, &'static str),
    pub source: String,
    pub signals: Vec<AnswerFact>,
    pub verdict: Option<DetectorVerdict>,
    pub feedback: Vec<FeedbackEntry>,
    pub confirm: (&'static str, String),
    pub flip: (&'static str, String),
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
            encoded_id: encode_url(exchange.turn.as_str()),
            when: DisplayTime::with_minutes(exchange.ts),
            question: HighlightedText::with_evidence(&exchange.opening.text, evidence),
            about: about.map(|(turn, _)| encode_url(turn.as_str())),
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

    /// A turn without its conversation.
    pub fn standalone(view: &TurnView, filter: &Filter, scope: &Scope) -> Self {
        Self::new(view, std::slice::from_ref(view), &MessageEvidence::new(), filter, scope)
    }

    /// True while the answer is missing.
    pub fn is_waiting(&self) -> bool {
        self.answer.is_none() && self.error.is_none()
    }
}

/// Status and label of the two review buttons: confirm and flip.
fn review_buttons(view: &TurnView) -> ((&'static str, String), (&'static str, String)) {
    let found = view.verdict.as_ref().map(|(found, _)| found.verdict.status);
    let word = |status: VerdictStatus| status.as_word();
    let (rejected, accepted) = (VerdictStatus::Rejected, VerdictStatus::Accepted);
    match found {
        Some(VerdictStatus::Rejected) => (
            (word(rejected), "Confirm: rejected".to_owned()),
            (word(accepted), "Flip to accepted".to_owned()),
        ),
        Some(VerdictStatus::Accepted) => (
            (word(accepted), "Confirm: accepted".to_owned()),
            (word(rejected), "Flip to rejected".to_owned()),
        ),
        Some(VerdictStatus::Neutral) | None => (
            (word(accepted), "Mark as accepted".to_owned()),
            (word(rejected), "Mark as rejected".to_owned()),
        ),
    }
}

/// The source of the turn's status.
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
