//! Credits a turn's reward to the arm that served it. Each update removes the turn's previous
//! observation before adding the current one, so a turn counts once.

use serde::{Deserialize, Serialize};

use super::definition::RouterRule;
use super::reward_sums::RewardSums;
use super::ridge_regression::FeatureVector;
use super::shadow_evaluation::ShadowEstimate;
use super::state::{RouterState, regression_prior};
use crate::reward::Observation;

#[derive(Clone, Copy, Debug)]
pub struct Credit<'a> {
    pub arm: &'a str,
    /// Feature values of the choice. They must be identical for every update of the same turn.
    pub features: &'a [f64],
    pub shadow: Option<ShadowEstimate>,
    /// Whole hours since 1970, from the event being applied.
    pub hour: u64,
}

/// A turn's contribution so far. Store it with the turn and pass it to the next update.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AppliedObservation {
    /// Generation of the arm at the first observation.
    #[serde(rename = "born")]
    generation: u32,
    /// Tick of the first observation. Later signals do not change it.
    tick: u64,
    /// Discount era of `tick`. Records from before eras existed have none.
    #[serde(default, skip_serializing_if = "is_first_era")]
    era: u32,
    /// Reward and weight; `None` when all signals were withdrawn.
    observed: Option<(f64, f64)>,
    /// Generation of the arm's regression; `None` when the features were unusable.
    linear: Option<u32>,
    shadow: Option<ShadowEstimate>,
}

fn is_first_era(era: &u32) -> bool {
    *era == 0
}

impl AppliedObservation {
    pub fn observation(&self) -> Option<Observation> {
        self.observed.and_then(|(reward, weight)| Observation::new(reward, weight))
    }
}

/// A turn's old and new observation, of which `left` remains.
#[derive(Clone, Copy)]
struct Replacement {
    old: Option<Observation>,
    now: Option<Observation>,
    left: f64,
}

impl RouterState {
    /// Replaces the turn's previous observation by the current one and returns the record to store.
    /// Turns of removed arms, and turns from before a reset, are left out.
    pub fn observe(
        &mut self,
        rule: &RouterRule,
        credit: &Credit<'_>,
        before: Option<AppliedObservation>,
        now: Option<Observation>,
    ) -> Option<AppliedObservation> {
        let Some(index) = self.arms.iter().position(|arm| arm.id == credit.arm) else {
            return before;
        };
        let generation = self.arms[index].generation;
        if before.is_some_and(|before| before.generation != generation)
            || (before.is_none() && now.is_none())
        {
            return before;
        }
        let mut applied =
            before.unwrap_or_else(|| self.start_observation(rule, credit, generation));
        let old = applied.observation();
        applied.observed = now.map(|now| (now.reward(), now.weight()));
        if old == now {
            return Some(applied);
        }
        let turn = (applied.era, applied.tick);
        let is_dropped = self.arms[index].window.has_dropped(turn);
        let remaining = self.remaining_weight(rule, applied.era, applied.tick);
        let left = if is_dropped { 0.0 } else { remaining };
        let replacement = Replacement { old, now, left };
        if rule.detects_falls() && before.is_none() {
            let arm = &mut self.arms[index];
            arm.window.open_turn(turn, arm.sums);
        }
        self.update_sums(rule, index, replacement);
        if rule.detects_falls() {
            let arm = &mut self.arms[index];
            arm.window.replace_turn(turn, (old, now), left);
            if before.is_none()
                && let Some(kept) = arm.window.detect_fall()
            {
                arm.sums = kept;
            }
        }
        self.update_regression(rule, credit, index, applied.linear, replacement);
        if let Some(shadow) = applied.shadow {
            self.comparison.replace_turn(shadow, old, now);
        }
        Some(applied)
    }

    /// Removes the turn from the arm's regression, for erasure. The reward sums keep it.
    pub fn forget_features(
        &mut self,
        rule: &RouterRule,
        credit: &Credit<'_>,
        before: AppliedObservation,
    ) -> AppliedObservation {
        let index = self.arms.iter().position(|arm| arm.id == credit.arm);
        let same = |index: &usize| self.arms[*index].generation == before.generation;
        if let Some(index) = index.filter(same) {
            let left = self.remaining_weight(rule, before.era, before.tick);
            let replacement = Replacement { old: before.observation(), now: None, left };
            self.update_regression(rule, credit, index, before.linear, replacement);
        }
        AppliedObservation { linear: None, ..before }
    }

    /// Advances the clock for a turn observed for the first time.
    fn start_observation(
        &mut self,
        rule: &RouterRule,
        credit: &Credit<'_>,
        generation: u32,
    ) -> AppliedObservation {
        if rule.decay().hourly {
            if self.tick == 0 {
                // Observations from before the first hourly tick start to decay now.
                self.decay_since = credit.hour;
                self.arms.iter_mut().for_each(|arm| arm.tick = credit.hour);
            }
            self.tick = self.tick.max(credit.hour);
        } else {
            self.tick += 1;
        }
        let linear = self.arms.iter().find(|arm| arm.generation == generation);
        let linear = linear.and_then(|arm| arm.linear.as_ref());
        let fit = |features| FeatureVector::new(credit.features, features).is_some();
        let unfit = linear.is_some_and(|linear| !fit(linear.feature_count()));
        let linear = linear.filter(|_| !unfit).map(|linear| linear.generation);
        // Empty features belong to an erased user and are no fault.
        self.faults += u64::from(unfit && !credit.features.is_empty());
        let shadow = credit.shadow.filter(|shadow| {
            let finite = shadow.offset.is_finite() && shadow.slope.is_finite();
            finite && rule.algorithm() == super::Algorithm::Hybrid
        });
        let (tick, era) = (self.tick, self.current_era());
        AppliedObservation { generation, tick, era, observed: None, linear, shadow }
    }

    fn update_sums(&mut self, rule: &RouterRule, index: usize, replacement: Replacement) {
        let Replacement { old, now, left } = replacement;
        let (tick, decay) = (self.tick, rule.decay());
        let arm = &mut self.arms[index];
        if !decay.is_disabled() {
            arm.apply_decay(decay.remaining_after(tick.saturating_sub(arm.tick)));
            arm.tick = tick;
        }
        if let Some(old) = old {
            arm.sums.subtract(RewardSums::from_observation(old, left));
            arm.observations = arm.observations.saturating_sub(1);
        }
        if let Some(now) = now {
            arm.sums.add(RewardSums::from_observation(now, left));
            arm.observations += 1;
        }
    }

    /// Updates the arm's regression if it still has this generation.
    fn update_regression(
        &mut self,
        rule: &RouterRule,
        credit: &Credit<'_>,
        index: usize,
        generation: Option<u32>,
        Replacement { old, now, left }: Replacement,
    ) {
        let weight = |o: Option<Observation>| o.map_or(0.0, |o| o.weight() * left);
        let reward = |o: Option<Observation>| o.map_or(0.0, |o| o.weight() * o.reward() * left);
        let arm = &mut self.arms[index];
        let definition = rule.arms().iter().find(|definition| definition.id == arm.id);
        let prior = definition.map_or(0.5, |known| regression_prior(rule, known, arm.sums));
        let Some(linear) = &mut arm.linear else { return };
        if generation != Some(linear.generation) {
            return;
        }
        let (weight, reward) = (weight(now) - weight(old), reward(now) - reward(old));
        let point = FeatureVector::new(credit.features, linear.feature_count());
        let sound = point.is_some_and(|point| linear.apply_turn(&point, weight, reward, prior));
        self.faults += u64::from(!sound);
    }
}
