//! Reads a negative turn from its events.

use learn::{
    AnswerChange, Author, FailureKind, FailureWindow, extract_changes, summarise_correction,
};
use model::{
    Body, Contrast, Finding, Origin, Reaction, Timestamp, TurnHalf, TurnStatus, VerdictStatus,
};
use serde_json::{Map, Value};
use store::StoredTurn;

use crate::insights::failures::reporters::{
    Reporter, collect_reporters, identify_author, rating_comment,
};

/// Evidence about one negative turn.
#[derive(Clone, Debug)]
pub(crate) struct NegativeTurn {
    pub(crate) turn: String,
    pub(crate) question: String,
    /// The clearest remark on the answer.
    pub(crate) remark: Option<String>,
    pub(crate) contrast: Option<Contrast>,
    pub(crate) kind: FailureKind,
    pub(crate) error_type: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) prompt: Option<String>,
    pub(crate) strategy: Option<String>,
    /// Everyone who gave feedback on the turn, each once.
    pub(crate) reporters: Vec<Reporter>,
    /// Changes made by the latest correction.
    pub(crate) changes: Vec<AnswerChange>,
    pub(crate) corrections: usize,
    /// The user who rejected the answer in the next message, otherwise the one who asked.
    pub(crate) user: Option<String>,
    pub(crate) conversation: Option<String>,
    pub(crate) at: Timestamp,
    pub(crate) period: FailureWindow,
}

/// Evidence collected from the events, in order.
#[derive(Default)]
struct TurnSummary {
    question: String,
    response: Option<String>,
    failed: bool,
    error_type: Option<String>,
    model: Option<String>,
    prompt: Option<String>,
    strategy: Option<String>,
    rejected: Option<(Option<String>, Option<Contrast>)>,
    disliked: Option<(FailureKind, Option<String>)>,
    comment: Option<String>,
    explanation: Option<String>,
    correction: Option<(String, String)>,
    corrections: usize,
    rejecting: Option<String>,
}

impl NegativeTurn {
    /// Reads a turn. `None` when its question was erased.
    pub(super) fn from_turn(turn: &StoredTurn, start: Timestamp) -> Option<Self> {
        let mut summary = TurnSummary::default();
        for stored in &turn.events {
            if let Ok(body) = Body::read(stored.event.kind, &stored.event.data) {
                if let (Body::Finding(Finding::Verdict(_)), Some(user)) =
                    (&body, &stored.event.user)
                {
                    summary.rejecting = Some(user.to_string());
                }
                summary.add_event(body, &stored.event.data);
            }
        }
        if summary.question.trim().is_empty() {
            return None;
        }
        let rejection = summary.rejected.clone();
        let (user_said, contrast) = rejection.clone().unwrap_or_default();
        let kind = match (&summary.disliked, summary.corrections) {
            (_, 1..) => FailureKind::Correction,
            (Some((kind, _)), 0) => *kind,
            (None, 0) if rejection.is_some() => FailureKind::Rejected,
            (None, 0) => FailureKind::Error,
        };
        let said = [summary.explanation, summary.comment, user_said]
            .into_iter()
            .chain([summary.disliked.and_then(|(_, text)| text)])
            .flatten()
            .find(|said| !said.trim().is_empty());
        let (original, corrected) = summary.correction.clone().unwrap_or_default();
        let said = said.or_else(|| {
            Some(summarise_correction(&original, &corrected)).filter(|s| !s.is_empty())
        });
        let error_type = summary.error_type.or_else(|| summary.failed.then(|| "error".to_owned()));
        Some(Self {
            turn: turn.head.turn.to_string(),
            question: summary.question,
            remark: said,
            contrast,
            kind,
            // Turns with a remark are grouped by the remark, not by the type of error.
            error_type: error_type.filter(|_| kind == FailureKind::Error),
            model: summary.model,
            prompt: summary.prompt,
            strategy: summary.strategy,
            changes: extract_changes(&original, &corrected),
            reporters: collect_reporters(turn),
            corrections: summary.corrections,
            user: summary.rejecting.or_else(|| turn.head.user.as_ref().map(ToString::to_string)),
            conversation: turn.head.conversation.as_ref().map(ToString::to_string),
            at: turn.head.ts,
            period: if turn.head.ts >= start {
                FailureWindow::Current
            } else {
                FailureWindow::Previous
            },
        })
    }
}

impl NegativeTurn {
    /// The user who rejected it, otherwise the one who asked.
    pub(super) fn author(&self) -> Author<'_> {
        self.author_for(self.user.as_deref())
    }

    pub(super) fn author_for<'a>(&'a self, user: Option<&'a str>) -> Author<'a> {
        identify_author(user, self.conversation.as_deref(), &self.turn)
    }

    /// Everyone who complained or remarked, otherwise the user who asked.
    pub(super) fn authors(&self) -> Vec<Author<'_>> {
        if self.reporters.is_empty() {
            return vec![self.author()];
        }
        self.reporters.iter().map(|reporter| self.author_for(reporter.user.as_deref())).collect()
    }
}

impl TurnSummary {
    fn add_event(&mut self, body: Body, data: &Map<String, Value>) {
        match body {
            Body::Turn(TurnHalf::Opened(opening)) => self.question = opening.text,
            Body::Turn(TurnHalf::Completed(done)) => {
                self.failed = done.status == TurnStatus::Error;
                self.response = done.response;
                self.model = done.model;
                self.prompt = done.prompt.map(|prompt| match prompt.version {
                    Some(version) => format!("{}@{version}", prompt.id),
                    None => prompt.id,
                });
                self.strategy = done.strategy.map(|strategy| strategy.name);
            }
            Body::Finding(Finding::Answer(found)) => {
                self.error_type = found.error.error_type.map(|kind| kind.as_word().to_owned());
            }
            Body::Finding(Finding::Verdict(found)) => {
                // The latest verdict counts. A review that is not a rejection withdraws it.
                let verdict = found.verdict;
                self.rejected = (verdict.status == VerdictStatus::Rejected)
                    .then_some((verdict.user_said, verdict.contrast));
            }
            Body::Finding(Finding::Review { status }) if status != VerdictStatus::Rejected => {
                self.rejected = None;
            }
            Body::Reaction(given) if given.origin == Origin::User => {
                self.disliked = (given.reaction == Some(Reaction::NotOk))
                    .then_some((FailureKind::NotOk, given.text));
            }
            Body::Rating(rating) => {
                self.disliked = (rating.reaction() == Reaction::NotOk)
                    .then(|| (FailureKind::Rating, rating_comment(data)));
            }
            Body::Comment(text) => self.comment = Some(text),
            Body::Correction(correction) if !correction.corrected.is_empty() => {
                let original = correction.original.or_else(|| self.response.clone());
                self.correction = Some((original.unwrap_or_default(), correction.corrected));
                self.explanation = correction.explanation.or(self.explanation.take());
                self.corrections += 1;
            }
            Body::Finding(_)
            | Body::Reaction(_)
            | Body::Correction(_)
            | Body::Interaction(_)
            | Body::Metric
            | Body::Decision(_)
            | Body::Settlement(_)
            | Body::Rule(_)
            | Body::Other => {}
        }
    }
}
