//! A turn of which something went wrong, as its events tell it.

use learn::{
    AnswerChange, Author, FailureKind, FailureWindow, extract_changes, summarise_correction,
};
use model::{
    Body, Contrast, Finding, Origin, Reaction, Timestamp, TurnHalf, TurnStatus, VerdictStatus,
};
use serde_json::{Map, Value};
use store::StoredTurn;

use crate::insights::failures::people::{Person, beside_rating, people, voice};

/// What is known of it.
#[derive(Clone, Debug)]
pub(crate) struct Negative {
    pub(crate) turn: String,
    pub(crate) question: String,
    /// What was said of the answer: of the clearest of those who said something.
    pub(crate) said: Option<String>,
    pub(crate) contrast: Option<Contrast>,
    pub(crate) kind: FailureKind,
    pub(crate) error_type: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) prompt: Option<String>,
    pub(crate) strategy: Option<String>,
    /// Everybody who said something of it, each by themselves.
    pub(crate) people: Vec<Person>,
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
struct Told {
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

impl Negative {
    /// Reads a turn; nothing when nobody can know any more what was asked.
    pub(super) fn of(turn: &StoredTurn, start: Timestamp) -> Option<Self> {
        let mut told = Told::default();
        for stored in &turn.events {
            if let Ok(body) = Body::read(stored.event.kind, &stored.event.data) {
                if let (Body::Finding(Finding::Verdict(_)), Some(user)) =
                    (&body, &stored.event.user)
                {
                    told.rejecting = Some(user.to_string());
                }
                told.hear(body, &stored.event.data);
            }
        }
        if told.question.trim().is_empty() {
            return None;
        }
        let rejection = told.rejected.clone();
        let (user_said, contrast) = rejection.clone().unwrap_or_default();
        let kind = match (&told.disliked, told.corrections) {
            (_, 1..) => FailureKind::Correction,
            (Some((kind, _)), 0) => *kind,
            (None, 0) if rejection.is_some() => FailureKind::Rejected,
            (None, 0) => FailureKind::Error,
        };
        let said = [told.explanation, told.comment, user_said]
            .into_iter()
            .chain([told.disliked.and_then(|(_, text)| text)])
            .flatten()
            .find(|said| !said.trim().is_empty());
        let (original, corrected) = told.correction.clone().unwrap_or_default();
        let said = said.or_else(|| {
            Some(summarise_correction(&original, &corrected)).filter(|s| !s.is_empty())
        });
        let error_type = told.error_type.or_else(|| told.failed.then(|| "error".to_owned()));
        Some(Self {
            turn: turn.head.turn.to_string(),
            question: told.question,
            said,
            contrast,
            kind,
            // Who was told why is grouped by that, not by the sort of error.
            error_type: error_type.filter(|_| kind == FailureKind::Error),
            model: told.model,
            prompt: told.prompt,
            strategy: told.strategy,
            changes: extract_changes(&original, &corrected),
            people: people(turn),
            corrections: told.corrections,
            user: told.rejecting.or_else(|| turn.head.user.as_ref().map(ToString::to_string)),
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

impl Negative {
    /// Who rejected it or, when nobody did, who asked.
    pub(super) fn voice(&self) -> Author<'_> {
        self.voice_of(self.user.as_deref())
    }

    /// Somebody who spoke of it.
    pub(super) fn voice_of<'a>(&'a self, user: Option<&'a str>) -> Author<'a> {
        voice(user, self.conversation.as_deref(), &self.turn)
    }

    /// Everybody who complained or said something of it or, when nobody did, who asked.
    pub(super) fn voices(&self) -> Vec<Author<'_>> {
        if self.people.is_empty() {
            return vec![self.voice()];
        }
        self.people.iter().map(|person| self.voice_of(person.user.as_deref())).collect()
    }
}

impl Told {
    fn hear(&mut self, body: Body, data: &Map<String, Value>) {
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
                    .then(|| (FailureKind::Rating, beside_rating(data)));
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
