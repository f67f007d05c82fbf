//! Reads a negative turn from its events.

use learn::{
    AnswerChange, Author, FailureKind, FailureWindow, extract_changes, summarise_correction,
};
use model::{
    Body, Contrast, Event, EventId, Finding, Origin, Reaction, Sentiment, Timestamp, TurnHalf,
    TurnStatus, Type, VerdictStatus,
};
use store::StoredTurn;

use crate::insights::failures::reporters::{Reporter, collect_reporters, identify_author};

/// Evidence about one negative turn.
#[derive(Clone, Debug)]
pub(crate) struct NegativeTurn {
    pub(crate) turn: String,
    pub(crate) question: String,
    pub(crate) complaint: Complaint,
    pub(crate) error_type: Option<String>,
    pub(crate) source: AnswerSource,
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

#[derive(Clone, Debug)]
pub(crate) struct Complaint {
    pub(crate) kind: FailureKind,
    /// The clearest remark on the answer.
    pub(crate) remark: Option<String>,
    pub(crate) contrast: Option<Contrast>,
}

/// The parts of the application that gave an answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct AnswerSource {
    pub(crate) model: Option<String>,
    /// Written as `id@version`.
    pub(crate) prompt: Option<String>,
    /// The strategy's name.
    pub(crate) strategy: Option<String>,
}

/// Evidence collected from the events, in order.
#[derive(Default)]
struct TurnSummary {
    question: String,
    response: Option<String>,
    failed: bool,
    error_type: Option<String>,
    source: AnswerSource,
    rejection: Option<Rejection>,
    dislike: Option<Dislike>,
    /// The latest comment and its event.
    last_comment: Option<(EventId, String)>,
    /// The latest negative comment.
    criticism: Option<String>,
    /// The application reported an error beside the turn.
    error_reported: bool,
    corrections: Corrections,
    /// The user whose message holds the latest verdict.
    rejected_by: Option<String>,
}

/// A rejection in the user's next message.
#[derive(Default)]
struct Rejection {
    remark: Option<String>,
    contrast: Option<Contrast>,
}

/// A thumbs down or a low rating.
struct Dislike {
    kind: FailureKind,
    remark: Option<String>,
}

#[derive(Default)]
struct Corrections {
    count: usize,
    /// The latest explanation.
    explanation: Option<String>,
    /// The texts of the latest correction.
    original: String,
    corrected: String,
}

impl NegativeTurn {
    /// Reads a turn. `None` when its question was erased.
    pub(super) fn from_turn(turn: &StoredTurn, start: Timestamp) -> Option<Self> {
        let mut summary = TurnSummary::default();
        for stored in &turn.events {
            let body = &stored.event.body;
            if let (Body::Finding(Finding::Verdict(_)), Some(user)) = (body, &stored.event.user) {
                summary.rejected_by = Some(user.to_string());
            }
            summary.add_event(body);
            summary.add_envelope(&stored.event);
        }
        let kind = match (&summary.dislike, summary.corrections.count) {
            (_, 1..) => FailureKind::Correction,
            (Some(dislike), 0) => dislike.kind,
            (None, 0) if summary.rejection.is_some() => FailureKind::Rejected,
            (None, 0) if summary.is_error() || summary.criticism.is_none() => FailureKind::Error,
            (None, 0) => FailureKind::Comment,
        };
        // The question of a comment may be unknown. In all other cases it was erased.
        if summary.question.trim().is_empty() && kind != FailureKind::Comment {
            return None;
        }
        let Rejection { remark, contrast } = summary.rejection.unwrap_or_default();
        let dislike_remark = summary.dislike.and_then(|dislike| dislike.remark);
        let comment = match kind {
            FailureKind::Comment => summary.criticism,
            FailureKind::Rejected
            | FailureKind::NotOk
            | FailureKind::Rating
            | FailureKind::Correction
            | FailureKind::Error => summary.last_comment.map(|(_, text)| text),
        };
        let Corrections { count, explanation, original, corrected } = summary.corrections;
        let remarks = [explanation, comment, remark, dislike_remark];
        let remark = remarks.into_iter().flatten().find(|remark| !remark.trim().is_empty());
        let remark = remark.or_else(|| {
            let correction = summarise_correction(&original, &corrected);
            Some(correction).filter(|correction| !correction.is_empty())
        });
        let failed = summary.failed || summary.error_reported;
        let error_type = summary.error_type.or_else(|| failed.then(|| "error".to_owned()));
        Some(Self {
            turn: turn.head.turn.to_string(),
            question: summary.question,
            complaint: Complaint { kind, remark, contrast },
            // Turns with a remark are grouped by the remark, not by the type of error.
            error_type: error_type.filter(|_| kind == FailureKind::Error),
            source: summary.source,
            changes: extract_changes(&original, &corrected),
            reporters: collect_reporters(turn),
            corrections: count,
            user: summary.rejected_by.or_else(|| turn.head.user.as_ref().map(ToString::to_string)),
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
    fn is_error(&self) -> bool {
        self.failed || self.error_reported || self.error_type.is_some()
    }

    /// Reads the parts of an event that need its envelope.
    fn add_envelope(&mut self, event: &Event) {
        match &event.body {
            Body::Comment(comment) => {
                self.last_comment = Some((event.id.clone(), comment.text.clone()));
            }
            Body::Finding(Finding::Sentiment(found)) if found.sentiment == Sentiment::Negative => {
                if let Some((id, text)) = &self.last_comment
                    && found.comment.as_ref() == Some(id)
                {
                    self.criticism = Some(text.clone());
                }
            }
            Body::Other(_) if event.kind.event_type == Type::Error => self.error_reported = true,
            Body::Turn(_)
            | Body::Reaction(_)
            | Body::Rule(_)
            | Body::Finding(_)
            | Body::Rating(_)
            | Body::Correction(_)
            | Body::Interaction(_)
            | Body::Metric(_)
            | Body::Decision(_)
            | Body::Settlement(_)
            | Body::Spans(_)
            | Body::Other(_)
            | Body::Unreadable(_) => {}
        }
    }

    fn add_event(&mut self, body: &Body) {
        match body {
            Body::Turn(TurnHalf::Opened(opening)) => self.question.clone_from(&opening.text),
            Body::Turn(TurnHalf::Completed(done)) => {
                self.failed = done.status == TurnStatus::Error;
                self.response.clone_from(&done.response);
                self.source = AnswerSource {
                    model: done.model.clone(),
                    prompt: done.prompt.as_ref().map(ToString::to_string),
                    strategy: done.strategy.as_ref().map(|strategy| strategy.name.clone()),
                };
            }
            Body::Finding(Finding::Answer(found)) => {
                self.error_type = found.error.error_type.map(|kind| kind.as_word().to_owned());
            }
            Body::Finding(Finding::Verdict(found)) => {
                // The latest verdict counts. A review that is not a rejection withdraws it.
                let verdict = &found.verdict;
                self.rejection = (verdict.status == VerdictStatus::Rejected).then(|| Rejection {
                    remark: verdict.user_said.clone(),
                    contrast: verdict.contrast.clone(),
                });
            }
            Body::Finding(Finding::Review { status }) if *status != VerdictStatus::Rejected => {
                self.rejection = None;
            }
            Body::Reaction(feedback) if feedback.origin == Origin::User => {
                self.dislike = (feedback.reaction == Some(Reaction::NotOk))
                    .then(|| Dislike { kind: FailureKind::NotOk, remark: feedback.text.clone() });
            }
            Body::Rating(feedback) => {
                let remark = feedback.remark().cloned();
                self.dislike = (feedback.rating.reaction() == Reaction::NotOk)
                    .then_some(Dislike { kind: FailureKind::Rating, remark });
            }
            Body::Correction(correction) if !correction.corrected.is_empty() => {
                let original = correction.original.clone().or_else(|| self.response.clone());
                let explanation = correction.explanation.clone();
                self.corrections = Corrections {
                    count: self.corrections.count + 1,
                    explanation: explanation.or(self.corrections.explanation.take()),
                    original: original.unwrap_or_default(),
                    corrected: correction.corrected.clone(),
                };
            }
            Body::Finding(_)
            | Body::Reaction(_)
            | Body::Comment(_)
            | Body::Correction(_)
            | Body::Interaction(_)
            | Body::Metric(_)
            | Body::Decision(_)
            | Body::Settlement(_)
            | Body::Spans(_)
            | Body::Rule(_)
            | Body::Other(_)
            | Body::Unreadable(_) => {}
        }
    }
}
