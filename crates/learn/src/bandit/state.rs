//! Learned state of a router, every change to it besides observations, and its summary.

use super::best_arm_probability::ScoreDensity;
use super::definition::{Algorithm, ArmDefinition, RouterRule};
use super::discount::{Decay, DiscountEra};
use super::reward_sums::RewardSums;
use super::reward_window::RewardWindow;
use super::ridge_regression::RidgeRegression;
use super::shadow_evaluation::{CandidateLead, ShadowComparison};

/// Costs are summed in integer billionths, so that their order does not matter.
const COST_SCALE: f64 = 1e9;

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ArmState {
    pub(super) id: String,
    /// Changes when the router is reset or the arm is removed and added.
    pub(super) generation: u32,
    /// Tick up to which the sums are decayed.
    pub(super) tick: u64,
    pub(super) sums: RewardSums,
    pub(super) window: RewardWindow,
    pub(super) observations: u64,
    pub(super) choices: u64,
    pub(super) cost: i128,
    pub(super) paid_calls: u64,
    pub(super) linear: Option<RidgeRegression>,
}

impl ArmState {
    fn new(id: &str, generation: u32, tick: u64) -> Self {
        Self { id: id.to_owned(), generation, tick, ..Self::default() }
    }

    pub(super) fn apply_decay(&mut self, left: f64) {
        self.sums.apply_decay(left);
        if let Some(linear) = &mut self.linear {
            linear.apply_decay(left);
        }
    }

    pub(super) fn mean_cost(&self) -> Option<f64> {
        (self.paid_calls > 0).then(|| self.cost as f64 / COST_SCALE / self.paid_calls as f64)
    }
}

/// Learned state of a router. A default state is empty; call `adopt_rule` first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RouterState {
    pub(super) arms: Vec<ArmState>,
    pub(super) generations: u32,
    /// Counts observed turns, or hours under an hourly discount.
    pub(super) tick: u64,
    /// Tick at which the current discount took effect.
    pub(super) decay_since: u64,
    /// The factor is 0 before the first rule.
    pub(super) decay: Decay,
    /// Closed discount eras since the last reset, oldest first.
    pub(super) eras: Vec<DiscountEra>,
    pub(super) spent_day: i64,
    pub(super) spent: i128,
    pub(super) faults: u64,
    pub(super) comparison: ShadowComparison,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ArmSummary {
    pub id: String,
    pub enabled: bool,
    pub choices: u64,
    pub observations: u64,
    /// Total weight of the observations after decay, without dropped ones.
    pub weight: f64,
    /// Posterior mean reward.
    pub mean: f64,
    /// 95% credible interval of the mean.
    pub interval: [f64; 2],
    /// Share of all choices, 0 to 1.
    pub share: f64,
    /// Detected falls of the reward. Each dropped the observations from before it.
    pub falls: u64,
    pub cost: f64,
    /// Expected cost of the next call; `None` when unknown.
    pub expected_cost: Option<f64>,
}

impl RouterState {
    pub fn new(rule: &RouterRule) -> Self {
        let mut state = Self::default();
        state.adopt_rule(rule);
        state
    }

    /// Applies a new definition: adds new arms, drops removed ones and keeps the rest. Must be
    /// called at the rule's event in the log, before any later event.
    pub fn adopt_rule(&mut self, rule: &RouterRule) {
        self.change_decay(rule);
        let mut before = std::mem::take(&mut self.arms);
        for definition in rule.arms() {
            let kept = before.iter().position(|arm| arm.id == definition.id);
            let mut arm = match kept {
                Some(index) => before.swap_remove(index),
                None => {
                    self.generations += 1;
                    // Without decay the tick must not affect an arm, so that order is irrelevant.
                    let tick = if rule.decay().is_disabled() { 0 } else { self.tick };
                    ArmState::new(&definition.id, self.generations, tick)
                }
            };
            if !rule.detects_falls() {
                arm.window.clear();
            }
            self.prepare_regression(&mut arm, rule, definition);
            self.arms.push(arm);
        }
    }

    /// Forgets everything learned. Later signals about earlier turns are ignored.
    pub fn reset(&mut self, rule: &RouterRule) {
        // The day's spending survives a reset.
        let Self { generations, faults, spent_day, spent, .. } = *self;
        *self = Self { generations, faults, spent_day, spent, ..Self::default() };
        self.adopt_rule(rule);
    }

    pub fn arm_generation(&self, arm: &str) -> Option<u32> {
        self.arms.iter().find(|known| known.id == arm).map(|arm| arm.generation)
    }

    pub fn total_choices(&self) -> u64 {
        self.arms.iter().map(|arm| arm.choices).sum()
    }

    pub fn record_choice(&mut self, arm: &str) {
        if let Some(arm) = self.find_arm_mut(arm) {
            arm.choices += 1;
        }
    }

    /// Records the cost of a call, once per turn. `day` counts from 1970.
    pub fn record_cost(&mut self, arm: &str, cost: f64, day: i64) {
        if !(cost.is_finite() && (0.0..1e9).contains(&cost)) {
            return;
        }
        let parts = (cost * COST_SCALE).round() as i128;
        if let Some(arm) = self.find_arm_mut(arm) {
            arm.cost += parts;
            arm.paid_calls += 1;
        }
        // Late bills of earlier days affect no budget.
        if day > self.spent_day {
            self.spent_day = day;
            self.spent = parts;
        } else if day == self.spent_day {
            self.spent += parts;
        }
    }

    /// Spending on a day; 0 for any day but the latest.
    pub fn spent_on(&self, day: i64) -> f64 {
        if day == self.spent_day { self.spent as f64 / COST_SCALE } else { 0.0 }
    }

    /// Numerical faults while learning; the arm's mean was used instead.
    pub fn faults(&self) -> u64 {
        self.faults
    }

    /// Advantage of a hybrid's contextual candidate over Thompson.
    pub fn candidate_lead(&self) -> CandidateLead {
        self.comparison.estimate_lead()
    }

    pub fn summarise_arms(&self, rule: &RouterRule) -> Vec<ArmSummary> {
        let all = self.total_choices();
        let summary = |index: usize| {
            let definition = &rule.arms()[index];
            let arm = self.find_arm(rule, index)?;
            let left = self.arm_remaining(rule, arm);
            let (good, bad) =
                arm.sums.decayed_counts(left).beta_posterior(definition.prior_quality, 1.0);
            let mean = good / (good + bad);
            let interval =
                ScoreDensity::from_beta(good, bad).map(|score| score.credible_interval());
            Some(ArmSummary {
                id: definition.id.clone(),
                enabled: definition.enabled,
                choices: arm.choices,
                observations: arm.observations,
                weight: arm.sums.weight() * left,
                mean,
                interval: interval.unwrap_or([0.0, 1.0]),
                share: if all > 0 { arm.choices as f64 / all as f64 } else { 0.0 },
                falls: arm.window.falls,
                cost: arm.cost as f64 / COST_SCALE,
                expected_cost: self.expected_cost(rule, index),
            })
        };
        (0..rule.arms().len()).filter_map(summary).collect()
    }

    pub(super) fn find_arm_mut(&mut self, id: &str) -> Option<&mut ArmState> {
        self.arms.iter_mut().find(|arm| arm.id == id)
    }

    /// The state of the rule's arm at `index`. Rule and state have the same order after
    /// `adopt_rule`; otherwise the arm is searched by id.
    pub(super) fn find_arm(&self, rule: &RouterRule, index: usize) -> Option<&ArmState> {
        let id = &rule.arms().get(index)?.id;
        let here = self.arms.get(index).filter(|arm| arm.id == *id);
        here.or_else(|| self.arms.iter().find(|arm| arm.id == *id))
    }

    /// Remaining share of an arm's sums at the current tick.
    pub(super) fn arm_remaining(&self, rule: &RouterRule, arm: &ArmState) -> f64 {
        rule.decay().remaining_after(self.tick.saturating_sub(arm.tick))
    }

    /// Decays every arm to the current tick under the old discount, then switches.
    fn change_decay(&mut self, rule: &RouterRule) {
        let decay = rule.decay();
        if self.decay == decay {
            return;
        }
        let old = if self.decay.factor > 0.0 { self.decay } else { Decay::DISABLED };
        for arm in &mut self.arms {
            arm.apply_decay(old.remaining_after(self.tick.saturating_sub(arm.tick)));
        }
        self.end_era(old, decay);
        // Turn ticks and hour ticks are not comparable.
        if old.hourly != decay.hourly {
            self.tick = 0;
        }
        self.arms.iter_mut().for_each(|arm| arm.tick = self.tick);
        self.decay_since = self.tick;
        self.decay = decay;
    }

    pub(super) fn current_era(&self) -> u32 {
        self.eras.len() as u32
    }

    /// Remaining weight of a turn first observed at `tick` of `era`.
    pub(super) fn remaining_weight(&self, rule: &RouterRule, era: u32, tick: u64) -> f64 {
        let (mut left, mut from) = (1.0, tick);
        for over in self.eras.get(era as usize..).unwrap_or_default() {
            left *= over.decay.remaining_after(over.until.saturating_sub(from.max(over.since)));
            // Later eras cover the turn from their first tick.
            from = 0;
        }
        left * rule.decay().remaining_after(self.tick.saturating_sub(from.max(self.decay_since)))
    }

    /// Closes the current era when turns need its discount later.
    pub(super) fn end_era(&mut self, old: Decay, new: Decay) {
        let decayed = old.remaining_after(self.tick.saturating_sub(self.decay_since)) < 1.0;
        // Without any decay so far, older turns decay from the change on, given by `decay_since`.
        if self.tick > 0 && (decayed || old.hourly != new.hourly) {
            self.eras.push(DiscountEra { decay: old, since: self.decay_since, until: self.tick });
        }
    }

    /// Contextual algorithms keep one regression per arm; the others drop it.
    fn prepare_regression(
        &mut self,
        arm: &mut ArmState,
        rule: &RouterRule,
        definition: &ArmDefinition,
    ) {
        if !rule.algorithm().is_contextual() {
            arm.linear = None;
            return;
        }
        let features = rule.definition().features;
        let linear = arm.linear.take().filter(|linear| linear.feature_count() == features);
        let mut linear = linear.unwrap_or_else(|| {
            self.generations += 1;
            RidgeRegression::new(features, self.generations)
        });
        linear.solve_coefficients(regression_prior(rule, definition, arm.sums));
        arm.linear = Some(linear);
    }
}

/// The reward that an arm's regression starts from.
pub(super) fn regression_prior(rule: &RouterRule, arm: &ArmDefinition, sums: RewardSums) -> f64 {
    let prior = arm.prior_quality;
    if rule.algorithm() == Algorithm::Hybrid {
        let (good, bad) = sums.decayed_counts(1.0).beta_posterior(prior, 1.0);
        good / (good + bad)
    } else {
        prior.unwrap_or(0.5)
    }
}
