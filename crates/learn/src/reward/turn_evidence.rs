//! Compact evidence about one turn, and the reward it yields.
//!
//! Every signal carries its log position. Among signals of the same kind the latest position wins,
//! so neither order nor repetition matters.

use std::collections::BTreeMap;

use model::{InteractionKind, Reaction, UnitInterval, VerdictStatus};
use serde::{Deserialize, Serialize};

use super::definition::{OverrideCondition, RewardRule};
use super::{Observation, TurnReward};

/// Displayed reward of a turn without signals. Never used for learning.
const DEFAULT_REWARD: f64 = 0.7;
const CORRECTED_QUALITY: f64 = 0.2;
/// Pseudonym shared by all unnamed users.
pub(crate) const ANONYMOUS_USER: u64 = 0;
/// Ratings kept per turn, the most recent first. Each new rating rewrites all of them.
pub(super) const MAX_RATINGS: usize = 1000;
/// Weights of quality, rating and expectations in the explicit reward.
const EXPLICIT_FIELD_WEIGHTS: [f64; 3] = [0.5, 0.3, 0.2];
const RETRY_REWARD: f64 = 0.3;
const FAST_REWARD: f64 = 0.9;
const ACCEPTABLE_REWARD: f64 = 0.7;
const SLOW_REWARD: f64 = 0.5;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TurnSignal {
    /// The user who asked, known with the first answer. An earlier rating without a user is theirs.
    AskedBy {
        user: u64,
    },
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

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImplicitReward {
    pub reward: f64,
    /// Confidence in the signal, 0 to 1. Scales the weight of the evidence, never the reward.
    pub confidence: f64,
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
    fn set_if_newer(&mut self, position: u64, value: Option<T>) {
        if position >= self.position {
            *self = Self { position, value };
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
    pub fn record(&mut self, at: u64, signal: &TurnSignal) {
        match *signal {
            TurnSignal::AskedBy { user } => {
                // Only before the first answer: later ratings without a user are of erased users.
                if self.answered.is_unset()
                    && let Some(early) = self.ratings.remove(&ANONYMOUS_USER)
                {
                    let rating = self.ratings.entry(user).or_default();
                    rating.set_if_newer(early.position, early.value);
                }
            }
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
                let rating = self.ratings.entry(user).or_default();
                rating.set_if_newer(at, given.map(UnitInterval::get));
                self.drop_oldest_rating();
            }
            TurnSignal::Quality(given) => {
                self.quality.set_if_newer(at, given.map(UnitInterval::get))
            }
            TurnSignal::Correction => self.quality.set_if_newer(at, Some(CORRECTED_QUALITY)),
            TurnSignal::MetExpectations(met) => self.met.set_if_newer(at, met),
        }
    }

    /// Keeps the latest ratings, so the result does not depend on arrival order.
    fn drop_oldest_rating(&mut self) {
        if self.ratings.len() <= MAX_RATINGS {
            return;
        }
        let oldest = self.ratings.iter().min_by_key(|(user, rating)| (rating.position, **user));
        if let Some(user) = oldest.map(|(user, _)| *user) {
            self.ratings.remove(&user);
        }
    }

    /// Moves a user's rating to another pseudonym, as a replay after erasure would.
    pub fn anonymise_rating(&mut self, user: u64, anonymous: u64) {
        if let Some(rating) = self.ratings.remove(&user) {
            self.ratings.entry(anonymous).or_default().set_if_newer(rating.position, rating.value);
        }
    }

    /// The observation under a reward definition; `None` without signals.
    pub fn observation(&self, rule: &RewardRule) -> Option<Observation> {
        let (quality, weight) = self.combined_reward(rule)?;
        Observation::new(rule.net_reward(quality, self.cost.value, self.seconds()), weight)
    }

    /// The displayed reward, defined even without signals.
    pub fn reward(&self, rule: &RewardRule) -> f64 {
        let quality = self.combined_reward(rule).map_or(DEFAULT_REWARD, |(quality, _)| quality);
        rule.net_reward(quality, self.cost.value, self.seconds())
    }

    /// The displayed reward with the weight of its signals.
    pub fn turn_reward(&self, rule: &RewardRule) -> TurnReward {
        let weight = self.observation(rule).map_or(0.0, Observation::weight);
        TurnReward { value: self.reward(rule), weight }
    }

    fn combined_reward(&self, rule: &RewardRule) -> Option<(f64, f64)> {
        let definition = rule.definition();
        let (explicit_weight, implicit_weight) =
            (definition.explicit_weight, definition.implicit_weight);
        let explicit = self.explicit_reward().filter(|_| explicit_weight > 0.0);
        // A zero-confidence reward counts as absent, so that it cannot dilute the explicit one.
        let counts = |implicit: &ImplicitReward| implicit.confidence > 0.0 && implicit_weight > 0.0;
        let implicit = self.implicit_reward(rule).filter(counts);
        match (explicit, implicit) {
            (None, None) => None,
            (Some(explicit), None) => Some((explicit, explicit_weight)),
            (None, Some(implicit)) => {
                Some((implicit.reward, implicit_weight * implicit.confidence))
            }
            (Some(explicit), Some(implicit)) => {
                let weight = explicit_weight + implicit_weight;
                let sum = explicit_weight * explicit + implicit_weight * implicit.reward;
                Some((sum / weight, weight))
            }
        }
    }

    /// Errors and rejections come first, then the configured overrides. An export does not excuse
    /// a failure, but a regeneration may be worse than a retry.
    pub fn implicit_reward(&self, rule: &RewardRule) -> Option<ImplicitReward> {
        let certain = |reward| Some(ImplicitReward { reward, confidence: 1.0 });
        if self.answered.value.is_some_and(|answered| answered.failed) {
            return certain(0.0);
        }
        let verdict = self.effective_verdict();
        if let Some(MessageVerdict { status: VerdictStatus::Rejected, confidence, .. }) = verdict {
            return Some(ImplicitReward { reward: 0.0, confidence: confidence.get() });
        }
        if let Some(reward) = self.override_reward(rule) {
            return certain(reward);
        }
        if let Some(confidence) = self.retried {
            return Some(ImplicitReward { reward: RETRY_REWARD, confidence });
        }
        if let Some(MessageVerdict { status: VerdictStatus::Accepted, confidence, .. }) = verdict {
            return Some(ImplicitReward { reward: 1.0, confidence: confidence.get() });
        }
        let [quick, slow] = rule.definition().latency_seconds;
        match self.seconds() {
            Some(seconds) if seconds > slow => certain(SLOW_REWARD),
            Some(seconds) if seconds > quick => certain(ACCEPTABLE_REWARD),
            Some(_) => certain(FAST_REWARD),
            None => None,
        }
    }

    /// Several overrides may hold at once and their order must not matter. A reward below 0.5
    /// beats a higher one; on the same side the more extreme wins.
    fn override_reward(&self, rule: &RewardRule) -> Option<f64> {
        let holds = |condition: OverrideCondition| match condition {
            OverrideCondition::Interaction(kind) => self.done & (1 << kind.code()) != 0,
            OverrideCondition::Dwell(bound) => self.dwell_ms.is_some_and(|ms| bound.is_met(ms)),
        };
        let held = rule.overrides().iter().filter(|(condition, _)| holds(*condition));
        held.map(|(_, reward)| *reward).reduce(|one, other| {
            let worst = one.min(other);
            if worst < 0.5 { worst } else { one.max(other) }
        })
    }

    pub fn explicit_reward(&self) -> Option<f64> {
        let met = self.met.value.map(|met| if met { 1.0 } else { 0.0 });
        let fields = [self.quality.value, self.mean_rating(), met];
        let present =
            || EXPLICIT_FIELD_WEIGHTS.iter().zip(fields).filter_map(|(w, field)| Some((w, field?)));
        let weight: f64 = present().map(|(w, _)| w).sum();
        (weight > 0.0).then(|| present().map(|(w, field)| w * field).sum::<f64>() / weight)
    }

    /// The mean over users. A reviewer decides instead of the users.
    fn mean_rating(&self) -> Option<f64> {
        let given = || self.ratings.values().filter_map(|rating| rating.value);
        let users = given().count();
        let decided = self.review.value.map(|status| Reaction::from(status).value().get());
        (users > 0).then(|| decided.unwrap_or_else(|| given().sum::<f64>() / users as f64))
    }

    fn seconds(&self) -> Option<f64> {
        self.answered.value.and_then(|answered| answered.seconds)
    }

    /// A review wins, then the latest clear verdict. Moving on counts least.
    fn effective_verdict(&self) -> Option<MessageVerdict> {
        if let Some(status) = self.review.value {
            return Some(MessageVerdict { status, confidence: UnitInterval::ONE, moved_on: false });
        }
        let clear = |latest: &LatestValue<MessageVerdict>| {
            let judged = latest.value.filter(|judged| judged.status != VerdictStatus::Neutral)?;
            Some((!judged.moved_on, latest.position, judged))
        };
        let clear = self.verdicts.values().filter_map(clear);
        clear.max_by_key(|(about_answer, at, _)| (*about_answer, *at)).map(|(_, _, judged)| judged)
    }
}

fn is_valid_amount(value: f64) -> bool {
    value.is_finite() && value >= 0.0
}
