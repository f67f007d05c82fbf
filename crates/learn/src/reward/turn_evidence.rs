//! Compact evidence about one turn, and the reward it yields.
//!
//! Every signal carries its log position. Among signals of the same kind the latest position wins,
//! so neither order nor repetition matters.

use std::collections::BTreeMap;

use model::{InteractionKind, UnitInterval, VerdictStatus};
use serde::{Deserialize, Serialize};

use super::definition::RewardRule;
use super::implicit_reward::{ImplicitReward, compute_implicit_reward};
use super::{Observation, combine_rewards};

/// Displayed reward of a turn without signals. Never used for learning.
const DEFAULT_REWARD: f64 = 0.7;
/// Quality of an answer that a user corrected.
const CORRECTED_QUALITY: f64 = 0.2;
/// Ratings kept per turn, the most recent first. Each new rating rewrites all of them.
pub(super) const MAX_RATINGS: usize = 1000;
/// Weights of quality, rating and expectations in the explicit reward.
const EXPLICIT_FIELD_WEIGHTS: [f64; 3] = [0.5, 0.3, 0.2];

/// A signal about a turn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TurnSignal {
    Answered(AnswerOutcome),
    Cost(f64),
    /// Verdict of a later message; `None` withdraws that message's earlier verdict.
    Verdict {
        /// Stable number of the message, such as a hash of its turn.
        message: u64,
        judged: Option<MessageVerdict>,
    },
    /// A reviewer's verdict; overrides every detected one.
    Review(Option<VerdictStatus>),
    /// The user repeated the question out of dissatisfaction.
    Retry(UnitInterval),
    Interaction {
        kind: InteractionKind,
        dwell_ms: Option<f64>,
    },
    /// A user's rating, 0 to 1; `None` clears it.
    Rating {
        /// Stable pseudonym of the user; names are never stored.
        user: u64,
        given: Option<UnitInterval>,
    },
    /// A quality score; `None` clears it.
    Quality(Option<UnitInterval>),
    /// A user supplied a better answer.
    Correction,
    /// True when the answer met expectations; `None` clears it.
    MetExpectations(Option<bool>),
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AnswerOutcome {
    pub failed: bool,
    /// Latency in seconds, when known.
    pub seconds: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MessageVerdict {
    pub status: VerdictStatus,
    /// The detector's confidence, 0 to 1.
    pub confidence: UnitInterval,
    /// True when the user only moved on to another topic.
    pub moved_on: bool,
}

/// The latest value of a signal and its log position.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct LatestValue<T> {
    #[serde(rename = "at")]
    position: u64,
    #[serde(rename = "said")]
    value: Option<T>,
}

impl<T> Default for LatestValue<T> {
    fn default() -> Self {
        Self { position: 0, value: None }
    }
}

impl<T: Copy + PartialEq> LatestValue<T> {
    fn set_if_newer(&mut self, at: u64, said: Option<T>) {
        if at >= self.position {
            *self = Self { position: at, value: said };
        }
    }

    fn is_unset(&self) -> bool {
        self.position == 0 && self.value.is_none()
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TurnEvidence {
    #[serde(skip_serializing_if = "LatestValue::is_unset")]
    answered: LatestValue<AnswerOutcome>,
    #[serde(skip_serializing_if = "LatestValue::is_unset")]
    cost: LatestValue<f64>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    verdicts: BTreeMap<u64, LatestValue<MessageVerdict>>,
    #[serde(skip_serializing_if = "LatestValue::is_unset")]
    review: LatestValue<VerdictStatus>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retried: Option<f64>,
    #[serde(skip_serializing_if = "is_zero")]
    done: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    dwell_ms: Option<f64>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    ratings: BTreeMap<u64, LatestValue<f64>>,
    #[serde(skip_serializing_if = "LatestValue::is_unset")]
    quality: LatestValue<f64>,
    #[serde(skip_serializing_if = "LatestValue::is_unset")]
    met: LatestValue<bool>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde requires a reference")]
fn is_zero(done: &u16) -> bool {
    *done == 0
}

impl TurnEvidence {
    /// Records the signal at a log position.
    pub fn record(&mut self, at: u64, signal: &TurnSignal) {
        match *signal {
            TurnSignal::Answered(answered) => {
                let seconds = answered.seconds.filter(|seconds| is_valid_amount(*seconds));
                self.answered.set_if_newer(at, Some(AnswerOutcome { seconds, ..answered }));
            }
            TurnSignal::Cost(cost) if is_valid_amount(cost) => {
                self.cost.set_if_newer(at, Some(cost))
            }
            TurnSignal::Cost(_) => {}
            TurnSignal::Verdict { message, judged } => {
                self.verdicts.entry(message).or_default().set_if_newer(at, judged);
            }
            TurnSignal::Review(status) => self.review.set_if_newer(at, status),
            TurnSignal::Retry(sure) => {
                self.retried = Some(self.retried.unwrap_or(0.0).max(sure.get()));
            }
            TurnSignal::Interaction { kind, dwell_ms } => {
                self.done |= 1 << kind.code();
                let dwell = dwell_ms.filter(|dwell| is_valid_amount(*dwell));
                self.dwell_ms = self.dwell_ms.into_iter().chain(dwell).reduce(f64::max);
            }
            TurnSignal::Rating { user, given } => {
                self.ratings
                    .entry(user)
                    .or_default()
                    .set_if_newer(at, given.map(UnitInterval::get));
                self.drop_oldest_rating();
            }
            TurnSignal::Quality(given) => {
                self.quality.set_if_newer(at, given.map(UnitInterval::get))
            }
            TurnSignal::Correction => self.quality.set_if_newer(at, Some(CORRECTED_QUALITY)),
            TurnSignal::MetExpectations(met) => self.met.set_if_newer(at, met),
        }
    }

    /// A dropped rating is older than every kept one, so the result does not depend on arrival
    /// order.
    fn drop_oldest_rating(&mut self) {
        if self.ratings.len() <= MAX_RATINGS {
            return;
        }
        let oldest = self.ratings.iter().min_by_key(|(user, rating)| (rating.position, **user));
        if let Some(user) = oldest.map(|(user, _)| *user) {
            self.ratings.remove(&user);
        }
    }

    /// Moves a user's rating to another pseudonym, for erasure. A replay of the anonymised log
    /// gives the same result.
    pub fn anonymise_rating(&mut self, user: u64, nobody: u64) {
        if let Some(rating) = self.ratings.remove(&user) {
            self.ratings.entry(nobody).or_default().set_if_newer(rating.position, rating.value);
        }
    }

    /// The observation under a reward definition; `None` without signals.
    pub fn observation(&self, rule: &RewardRule) -> Option<Observation> {
        let (quality, weight) =
            combine_rewards(rule, self.explicit_reward(), self.implicit_reward(rule))?;
        Observation::new(rule.net_reward(quality, self.cost.value, self.seconds()), weight)
    }

    /// The displayed reward, defined even without signals.
    pub fn reward(&self, rule: &RewardRule) -> f64 {
        let known = combine_rewards(rule, self.explicit_reward(), self.implicit_reward(rule));
        let quality = known.map_or(DEFAULT_REWARD, |(quality, _)| quality);
        rule.net_reward(quality, self.cost.value, self.seconds())
    }

    pub fn implicit_reward(&self, rule: &RewardRule) -> Option<ImplicitReward> {
        compute_implicit_reward(rule, self)
    }

    /// Explicit reward; `None` without explicit feedback.
    pub fn explicit_reward(&self) -> Option<f64> {
        let met = self.met.value.map(|met| if met { 1.0 } else { 0.0 });
        let fields = [self.quality.value, self.mean_rating(), met];
        let present =
            || EXPLICIT_FIELD_WEIGHTS.iter().zip(fields).filter_map(|(w, field)| Some((w, field?)));
        let weight: f64 = present().map(|(w, _)| w).sum();
        (weight > 0.0).then(|| present().map(|(w, field)| w * field).sum::<f64>() / weight)
    }

    /// Mean of the users' latest ratings.
    fn mean_rating(&self) -> Option<f64> {
        let given = || self.ratings.values().filter_map(|rating| rating.value);
        let users = given().count();
        (users > 0).then(|| given().sum::<f64>() / users as f64)
    }

    pub(super) fn failed(&self) -> bool {
        self.answered.value.is_some_and(|answered| answered.failed)
    }

    pub(super) fn seconds(&self) -> Option<f64> {
        self.answered.value.and_then(|answered| answered.seconds)
    }

    pub(super) fn retried(&self) -> Option<f64> {
        self.retried
    }

    pub(super) fn has_interaction(&self, kind: InteractionKind) -> bool {
        self.done & (1 << kind.code()) != 0
    }

    pub(super) fn dwell_ms(&self) -> Option<f64> {
        self.dwell_ms
    }

    /// A review wins, then the latest clear verdict. Moving on counts less than a statement about
    /// the answer.
    pub(super) fn effective_verdict(&self) -> Option<MessageVerdict> {
        if let Some(status) = self.review.value {
            return Some(MessageVerdict { status, confidence: UnitInterval::ONE, moved_on: false });
        }
        let clear = |latest: &LatestValue<MessageVerdict>| {
            let judged = latest.value.filter(|judged| judged.status != VerdictStatus::Neutral)?;
            Some((!judged.moved_on, latest.position, judged))
        };
        let said = self.verdicts.values().filter_map(clear);
        said.max_by_key(|(meant, at, _)| (*meant, *at)).map(|(_, _, judged)| judged)
    }
}

fn is_valid_amount(value: f64) -> bool {
    value.is_finite() && value >= 0.0
}
