//! Everything that is known about how one turn went, kept small, and what it comes to.
//!
//! Every signal comes with its position in the log. Of two that say the same thing about the turn
//! the later one counts, whichever arrives first, so neither order nor repetition matters.

use std::collections::BTreeMap;

use model::{InteractionKind, UnitInterval, VerdictStatus};
use serde::{Deserialize, Serialize};

use super::definition::RewardRule;
use super::implicit_reward::{Implicit, implicit};
use super::{Observation, combine};

/// The reward that is shown when nothing is known. It teaches nothing.
const UNKNOWN: f64 = 0.7;
/// The quality of an answer that somebody had to correct.
const CORRECTED: f64 = 0.2;
/// Users whose ratings are kept, those who gave theirs last: all of them are read and written with each new one.
pub(super) const MOST_RATINGS: usize = 1000;
/// How much each explicit field counts: quality, rating, expectations.
const FIELDS: [f64; 3] = [0.5, 0.3, 0.2];

/// Something that was learnt about a turn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Signal {
    /// What the answer shows by itself.
    Answered(Answered),
    /// What the answer cost.
    Cost(f64),
    /// What a message says about the turn; `None` takes back what that message said before.
    Verdict {
        /// A stable number for the message, such as a hash of its turn.
        message: u64,
        /// What it says.
        judged: Option<Judged>,
    },
    /// A person says what the user thought; stands above every verdict.
    Review(Option<VerdictStatus>),
    /// The question was asked again out of dissatisfaction.
    Retry(UnitInterval),
    /// The user did something with the answer.
    Interaction {
        /// What.
        kind: InteractionKind,
        /// How long, for dwell times.
        dwell_ms: Option<f64>,
    },
    /// A user's rating from 0 to 1, or its clearing.
    Rating {
        /// A stable number for the user, such as a keyed hash: no name is kept.
        user: u64,
        /// What they gave.
        given: Option<UnitInterval>,
    },
    /// A quality score somebody gave, or its clearing.
    Quality(Option<UnitInterval>),
    /// Somebody gave a better answer.
    Correction,
    /// Whether the answer met expectations, or the clearing of that.
    MetExpectations(Option<bool>),
}

/// What an answer shows by itself.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answered {
    /// It failed.
    pub failed: bool,
    /// How long the user waited, if that is known.
    pub seconds: Option<f64>,
}

/// What a message says about an answer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// Rejected, accepted or neutral.
    pub status: VerdictStatus,
    /// How sure the detector is.
    pub confidence: UnitInterval,
    /// The user only went on to something else.
    pub moved_on: bool,
}

/// The latest word on one thing, and where in the log it stands.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Latest<T> {
    at: u64,
    said: Option<T>,
}

impl<T> Default for Latest<T> {
    fn default() -> Self {
        Self { at: 0, said: None }
    }
}

impl<T: Copy + PartialEq> Latest<T> {
    fn hear(&mut self, at: u64, said: Option<T>) {
        if at >= self.at {
            *self = Self { at, said };
        }
    }

    fn is_silent(&self) -> bool {
        self.at == 0 && self.said.is_none()
    }
}

/// The signals of one turn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TurnEvidence {
    #[serde(skip_serializing_if = "Latest::is_silent")]
    answered: Latest<Answered>,
    #[serde(skip_serializing_if = "Latest::is_silent")]
    cost: Latest<f64>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    verdicts: BTreeMap<u64, Latest<Judged>>,
    #[serde(skip_serializing_if = "Latest::is_silent")]
    review: Latest<VerdictStatus>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retried: Option<f64>,
    #[serde(skip_serializing_if = "nothing_done")]
    done: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    dwell_ms: Option<f64>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    ratings: BTreeMap<u64, Latest<f64>>,
    #[serde(skip_serializing_if = "Latest::is_silent")]
    quality: Latest<f64>,
    #[serde(skip_serializing_if = "Latest::is_silent")]
    met: Latest<bool>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn nothing_done(done: &u16) -> bool {
    *done == 0
}

impl TurnEvidence {
    /// Takes in the signal that stands at a position of the log.
    pub fn take(&mut self, at: u64, signal: &Signal) {
        match *signal {
            Signal::Answered(answered) => {
                let seconds = answered.seconds.filter(|seconds| is_amount(*seconds));
                self.answered.hear(at, Some(Answered { seconds, ..answered }));
            }
            Signal::Cost(cost) if is_amount(cost) => self.cost.hear(at, Some(cost)),
            Signal::Cost(_) => {}
            Signal::Verdict { message, judged } => {
                self.verdicts.entry(message).or_default().hear(at, judged);
            }
            Signal::Review(status) => self.review.hear(at, status),
            Signal::Retry(sure) => {
                self.retried = Some(self.retried.unwrap_or(0.0).max(sure.get()));
            }
            Signal::Interaction { kind, dwell_ms } => {
                self.done |= 1 << kind.code();
                let dwell = dwell_ms.filter(|dwell| is_amount(*dwell));
                self.dwell_ms = self.dwell_ms.into_iter().chain(dwell).reduce(f64::max);
            }
            Signal::Rating { user, given } => {
                self.ratings.entry(user).or_default().hear(at, given.map(UnitInterval::get));
                self.drop_oldest_rating();
            }
            Signal::Quality(given) => self.quality.hear(at, given.map(UnitInterval::get)),
            Signal::Correction => self.quality.hear(at, Some(CORRECTED)),
            Signal::MetExpectations(met) => self.met.hear(at, met),
        }
    }

    /// Who was dropped has an earlier word than all who are kept, so it is the same in whatever order they come.
    fn drop_oldest_rating(&mut self) {
        if self.ratings.len() <= MOST_RATINGS {
            return;
        }
        let oldest = self.ratings.iter().min_by_key(|(user, rating)| (rating.at, **user));
        if let Some(user) = oldest.map(|(user, _)| *user) {
            self.ratings.remove(&user);
        }
    }

    /// A user's rating becomes nobody's in particular, as when the user is erased: what their event
    /// in the log then says.
    pub fn anonymise(&mut self, user: u64, nobody: u64) {
        if let Some(rating) = self.ratings.remove(&user) {
            self.ratings.entry(nobody).or_default().hear(rating.at, rating.said);
        }
    }

    /// What the turn teaches under a reward definition; `None` when nothing is known.
    pub fn observation(&self, rule: &RewardRule) -> Option<Observation> {
        let (quality, weight) = combine(rule, self.explicit(), self.implicit(rule))?;
        Observation::new(rule.net(quality, self.cost.said, self.seconds()), weight)
    }

    /// The reward as it is shown, also when nothing is known.
    pub fn reward(&self, rule: &RewardRule) -> f64 {
        let known = combine(rule, self.explicit(), self.implicit(rule));
        let quality = known.map_or(UNKNOWN, |(quality, _)| quality);
        rule.net(quality, self.cost.said, self.seconds())
    }

    /// What happened around the answer, as a reward; `None` when nothing is known.
    pub fn implicit(&self, rule: &RewardRule) -> Option<Implicit> {
        implicit(rule, self)
    }

    /// What people said of the answer, as a reward; `None` when nobody said anything.
    pub fn explicit(&self) -> Option<f64> {
        let met = self.met.said.map(|met| if met { 1.0 } else { 0.0 });
        let fields = [self.quality.said, self.rating(), met];
        let present = || FIELDS.iter().zip(fields).filter_map(|(w, field)| Some((w, field?)));
        let weight: f64 = present().map(|(w, _)| w).sum();
        (weight > 0.0).then(|| present().map(|(w, field)| w * field).sum::<f64>() / weight)
    }

    /// The mean over users, as far as they are kept, of the latest each of them gave.
    fn rating(&self) -> Option<f64> {
        let given = || self.ratings.values().filter_map(|rating| rating.said);
        let users = given().count();
        (users > 0).then(|| given().sum::<f64>() / users as f64)
    }

    pub(super) fn failed(&self) -> bool {
        self.answered.said.is_some_and(|answered| answered.failed)
    }

    pub(super) fn seconds(&self) -> Option<f64> {
        self.answered.said.and_then(|answered| answered.seconds)
    }

    pub(super) fn retried(&self) -> Option<f64> {
        self.retried
    }

    pub(super) fn did(&self, kind: InteractionKind) -> bool {
        self.done & (1 << kind.code()) != 0
    }

    pub(super) fn dwell_ms(&self) -> Option<f64> {
        self.dwell_ms
    }

    /// The word that counts: a person's, else the latest clear one; going on to something else
    /// says less than anything said about the answer.
    pub(super) fn verdict(&self) -> Option<Judged> {
        if let Some(status) = self.review.said {
            return Some(Judged { status, confidence: UnitInterval::ONE, moved_on: false });
        }
        let clear = |latest: &Latest<Judged>| {
            let judged = latest.said.filter(|judged| judged.status != VerdictStatus::Neutral)?;
            Some((!judged.moved_on, latest.at, judged))
        };
        let said = self.verdicts.values().filter_map(clear);
        said.max_by_key(|(meant, at, _)| (*meant, *at)).map(|(_, _, judged)| judged)
    }
}

fn is_amount(value: f64) -> bool {
    value.is_finite() && value >= 0.0
}
