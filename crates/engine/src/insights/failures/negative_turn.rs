//! A turn of which something went wrong, as its events tell it.

use learn::{
    AnswerChange, Author, FailureKind, FailureWindow, extract_changes, summarise_correction,
};
use model::{
    Body, Contrast, Finding, Origin, Reaction, Timestamp, TurnHalf, TurnStatus, VerdictStatus,
};
use serde_json::{Map, Value};
use store::StoredTurn;

use crate::insights::failures::reporters::{Reporter, collect_reporters, rating_comment, identify_author};

/// What is known of it.
#[derive(Clone, Debug)]
pub(crate) struct NegativeTurn {
    pub(crate) turn: String,
    pub(crate) question: String,
    /// What was said of the answer: of the clearest of those who said something.
    pub(crate) remark: Option<String>,
    pub(crate) contrast: Option<Contrast>,
    pub(crate) kind: FailureKind,
    pub(crate) error_type: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) prompt: Option<String>,
    pub(crate) strategy: Option<String>,
    /// Everybody who said something of it, each by themselves.
    pub(crate) reporters: Vec<Reporter>,
    /// What the latest correction changed.
    pub(crate) changes: Vec<AnswerChange>,
    pub(crate) corrections: usize,
    /// Who rejected it with the next message or, when nobody did, who asked.
    pub(crate) user: Option<String>,
    pub(crate) conversation: Option<String>,
    pub(crate) at: Timestamp,
    pub(crate) period: FailureWindow,
}

/// What its events say, in their order.
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
    /// Reads a turn; nothing when nobody can know any more what was asked.
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
            // Who was summary why is grouped by that, not by the sort of error.
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
    /// Who rejected it or, when nobody did, who asked.
    pub(super) fn author(&self) -> Author<'_> {
        self.author_for(self.user.as_deref())
    }

    /// Somebody who spoke of it.
    pub(super) fn author_for<'a>(&'a self, user: Option<&'a str>) -> Author<'a> {
        identify_author(user, self.conversation.as_deref(), &self.turn)
    }

    /// Everybody who complained or said something of it or, when nobody did, who asked.
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
                // The latest that says something; a correction of what the machine thought takes it back.
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
