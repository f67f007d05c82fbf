//! The facts of a turn, and their contribution to sums.

mod row;

use model::{Sentiment, VerdictStatus};
use sql::{CachedFact, Connection};

use super::sums::{self, Place};
use crate::projections::counters::{QualityCounts, UnitSums, wait_step};
use crate::row_keys::Key;

/// The facts of a turn that count in rates.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Facts {
    pub(crate) user: Option<Key>,
    pub(crate) ts: Option<i64>,
    /// Time of the first measurement or error beside the turn. It counts there until the turn is
    /// opened.
    pub(crate) measured_ts: Option<i64>,
    pub(crate) model: String,
    pub(crate) prompt: String,
    pub(crate) strategy: String,
    pub(crate) answered: bool,
    pub(crate) failed: u8,
    pub(crate) millis: Option<u64>,
    pub(crate) tokens: i64,
    pub(crate) cost: i64,
    pub(crate) opinions: Opinions,
    pub(crate) corrected: bool,
    pub(crate) retried: bool,
    pub(crate) heard: bool,
    /// Bits: reported by the application, detected.
    pub(crate) refined: u8,
    pub(crate) ended: bool,
    pub(crate) abandoned: bool,
    pub(crate) comments: Comments,
}

/// Cached facts of a turn.
#[derive(Clone, Debug)]
pub(crate) struct Known(pub(in super::super) Option<Facts>);

impl CachedFact for Known {
    const TABLE: &'static str = "turns";

    fn for_new_row() -> Option<Self> {
        Some(Self(None))
    }
}

/// The facts of a turn; `None` before the first one.
pub(crate) fn find_facts(connection: &Connection, turn: Key) -> sql::Result<Option<Facts>> {
    if let Some(Known(facts)) = connection.recall(turn) {
        return Ok(facts);
    }
    connection.find_row_with("SELECT * FROM turn_facts WHERE turn = ?1", [turn], Facts::read)
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Comments {
    positive: i64,
    negative: i64,
    neutral: i64,
}

impl Comments {
    pub(crate) fn count(&mut self, sentiment: Sentiment) {
        match sentiment {
            Sentiment::Positive => self.positive += 1,
            Sentiment::Negative => self.negative += 1,
            Sentiment::Neutral => self.neutral += 1,
        }
    }

    pub(crate) fn add_to(self, counts: &mut QualityCounts) {
        counts.comments_positive += self.positive;
        counts.comments_negative += self.negative;
        counts.comments_neutral += self.neutral;
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Opinions {
    pub(crate) ok: i64,
    pub(crate) not_ok: i64,
    pub(crate) neutral: i64,
    /// The verdict in effect.
    pub(crate) status: Option<VerdictStatus>,
    pub(crate) both: bool,
    pub(crate) agree: bool,
}

impl Facts {
    fn is_rejected(&self) -> bool {
        self.opinions.status == Some(VerdictStatus::Rejected)
    }

    /// A candidate for failure patterns. Negative comments are failures only if several users agree.
    fn is_negative(&self) -> bool {
        let unhappy = self.is_rejected() || self.opinions.not_ok > 0 || self.corrected;
        let is_criticised = self.comments.negative > 0;
        self.ts.is_some() && (unhappy || is_criticised || self.failed > 0)
    }

    /// The row of sums the turn counts in; `None` until it is opened or measured.
    pub(crate) fn place(&self) -> Option<Place<'_>> {
        let hour = sums::hour_number(self.ts.or(self.measured_ts)?);
        Some(Place { hour, model: &self.model, prompt: &self.prompt })
    }

    /// A latency counts with its answer, or as soon as it was measured beside the turn.
    pub(crate) fn step(&self) -> Option<u32> {
        self.millis.filter(|_| self.answered || self.measured_ts.is_some()).map(wait_step)
    }

    pub(crate) fn counts(&self) -> QualityCounts {
        if self.ts.is_none() {
            // Only an error beside the turn is known.
            let loose_failed = i64::from(self.failed > 0);
            return QualityCounts { loose_failed, ..QualityCounts::default() };
        }
        let Opinions { ok, not_ok, neutral, status, both, agree } = self.opinions;
        let answered = |fact: bool| i64::from(self.answered && fact);
        let reacted = ok + not_ok + neutral > 0;
        let mut counts = QualityCounts {
            turns: 1,
            answered: answered(true),
            failed: answered(self.failed > 0),
            ok,
            not_ok,
            neutral,
            accepted: answered(status == Some(VerdictStatus::Accepted)),
            rejected: answered(self.is_rejected()),
            wrong: answered(self.is_rejected() || self.corrected),
            corrected: answered(self.corrected),
            retried: i64::from(self.retried),
            heard: i64::from(reacted || self.heard || self.corrected),
            both: i64::from(both),
            agree: i64::from(agree),
            refined: i64::from(self.refined > 0),
            ended: i64::from(self.ended),
            abandoned: i64::from(self.abandoned),
            tokens: self.tokens,
            cost: self.cost,
            // An error beside a turn without an answer.
            loose_failed: i64::from(!self.answered && self.failed > 0),
            ..QualityCounts::default()
        };
        self.comments.add_to(&mut counts);
        counts
    }

    /// All sums but the score, which is not a fact. The counters mean the same as in rates.
    pub(crate) fn unit_sums(&self) -> UnitSums {
        let counts = self.counts();
        let millis = self.millis.filter(|_| self.answered);
        UnitSums {
            turns: counts.turns,
            answered: counts.answered,
            failed: counts.failed,
            ok: counts.ok,
            not_ok: counts.not_ok,
            neutral: counts.neutral,
            rejected: counts.rejected,
            corrected: counts.corrected,
            retried: counts.retried,
            timed: i64::from(millis.is_some()),
            millis: millis.map_or(0, |millis| i64::try_from(millis).unwrap_or(i64::MAX >> 16)),
            cost: counts.cost,
            ..UnitSums::default()
        }
    }
}
