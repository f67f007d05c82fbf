//! What a router has learnt, and what changes it besides observations.

use super::discount::Fading;
use super::discount_era::Era;
use super::ridge_regression::Linear;
use super::definition::{ArmDefinition, RouterRule};
use super::shadow_evaluation::{Comparison, Lead};
use super::reward_sums::Sums;

/// Costs are summed in whole billionths, so that their order does not matter.
pub(super) const COST_PARTS: f64 = 1e9;

/// What one arm has learnt.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Arm {
    pub(super) id: String,
    /// Which life of the router or of the arm this is: a reset or a removal starts another.
    pub(super) born: u32,
    /// The tick up to which its sums have faded.
    pub(super) tick: u64,
    pub(super) sums: Sums,
    pub(super) observations: u64,
    pub(super) choices: u64,
    pub(super) cost: i128,
    pub(super) costs: u64,
    pub(super) linear: Option<Linear>,
}

impl Arm {
    fn new(id: &str, born: u32, tick: u64) -> Self {
        Self {
            id: id.to_owned(),
            born,
            tick,
            sums: Sums::default(),
            observations: 0,
            choices: 0,
            cost: 0,
            costs: 0,
            linear: None,
        }
    }

    /// What a call has cost so far, on average.
    pub(super) fn mean_cost(&self) -> Option<f64> {
        (self.costs > 0).then(|| self.cost as f64 / COST_PARTS / self.costs as f64)
    }
}

/// What a router has learnt. Begins empty; give it its rule with `adopt` first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RouterState {
    pub(super) arms: Vec<Arm>,
    pub(super) lives: u32,
    /// Counts turns, or hours where things fade by time.
    pub(super) tick: u64,
    /// The tick at which things began to fade as they do now.
    pub(super) fading_since: u64,
    pub(super) fading_factor: f64,
    pub(super) fading_hourly: bool,
    /// Since the router was set or reset, in order: how things faded before.
    pub(super) eras: Vec<Era>,
    pub(super) day: i64,
    pub(super) spent: i128,
    pub(super) faults: u64,
    pub(super) comparison: Comparison,
}

impl RouterState {
    /// The state of a new router.
    pub fn new(rule: &RouterRule) -> Self {
        let mut state = Self::default();
        state.adopt(rule);
        state
    }

    /// The router's definition was set: new arms begin, removed ones go, all others stay as they
    /// are. Must be called when the rule's event is reached in the log, before anything else is
    /// done under the new rule.
    pub fn adopt(&mut self, rule: &RouterRule) {
        self.change_fading(rule);
        let mut before = std::mem::take(&mut self.arms);
        for definition in rule.arms() {
            let kept = before.iter().position(|arm| arm.id == definition.id);
            let mut arm = match kept {
                Some(index) => before.swap_remove(index),
                None => {
                    self.lives += 1;
                    // Without fading the clock must leave no trace in an arm: order is free then.
                    let tick = if rule.fading().is_off() { 0 } else { self.tick };
                    Arm::new(&definition.id, self.lives, tick)
                }
            };
            self.fit_linear(&mut arm, rule, definition);
            self.arms.push(arm);
        }
    }

    /// Everything is forgotten, for good: later signals about turns that were counted before do
    /// not bring them back.
    pub fn reset(&mut self, rule: &RouterRule) {
        // What was spent today stays spent.
        let (lives, faults, day, spent) = (self.lives, self.faults, self.day, self.spent);
        *self = Self { lives, faults, day, spent, ..Self::default() };
        self.adopt(rule);
    }

    /// Which life of an arm this is: another one after a reset, and after it was removed and added
    /// again.
    pub fn life_of(&self, arm: &str) -> Option<u32> {
        self.arms.iter().find(|known| known.id == arm).map(|arm| arm.born)
    }

    /// All choices so far.
    pub fn choices(&self) -> u64 {
        self.arms.iter().map(|arm| arm.choices).sum()
    }

    /// An arm was chosen.
    pub fn chosen(&mut self, arm: &str) {
        if let Some(arm) = self.arm_mut(arm) {
            arm.choices += 1;
        }
    }

    /// A call was paid for. Days count from 1970; once per turn.
    pub fn spent(&mut self, arm: &str, cost: f64, day: i64) {
        if !(cost.is_finite() && (0.0..1e9).contains(&cost)) {
            return;
        }
        let parts = (cost * COST_PARTS).round() as i128;
        if let Some(arm) = self.arm_mut(arm) {
            arm.cost += parts;
            arm.costs += 1;
        }
        // Bills of an earlier day that come late no longer matter to any budget.
        if day > self.day {
            self.day = day;
            self.spent = parts;
        } else if day == self.day {
            self.spent += parts;
        }
    }

    /// What was spent on a day, as far as it is remembered: the latest day alone is.
    pub fn spent_on(&self, day: i64) -> f64 {
        if day == self.day { self.spent as f64 / COST_PARTS } else { 0.0 }
    }

    /// How often numbers went wrong while learning. The arm's mean stood in.
    pub fn faults(&self) -> u64 {
        self.faults
    }

    /// How far a hybrid's contextual candidate is ahead of Thompson.
    pub fn lead(&self) -> Lead {
        self.comparison.lead()
    }

    pub(super) fn arm_mut(&mut self, id: &str) -> Option<&mut Arm> {
        self.arms.iter_mut().find(|arm| arm.id == id)
    }

    /// The state of the rule's arm at an index. Rule and state are in the same order after
    /// `adopt`; if they are not, the arm is looked for.
    pub(super) fn arm_at(&self, rule: &RouterRule, index: usize) -> Option<&Arm> {
        let id = &rule.arms().get(index)?.id;
        let here = self.arms.get(index).filter(|arm| arm.id == *id);
        here.or_else(|| self.arms.iter().find(|arm| arm.id == *id))
    }

    /// What is left of an arm's sums by now.
    pub(super) fn left(&self, rule: &RouterRule, arm: &Arm) -> f64 {
        rule.fading().left(self.tick.saturating_sub(arm.tick))
    }

    /// Brings every arm up to date under the old way of fading, and starts the new one.
    fn change_fading(&mut self, rule: &RouterRule) {
        let fading = rule.fading();
        if self.fading_factor == fading.factor && self.fading_hourly == fading.hourly {
            return;
        }
        let old = Fading {
            factor: if self.fading_factor > 0.0 { self.fading_factor } else { 1.0 },
            hourly: self.fading_hourly,
        };
        for arm in &mut self.arms {
            let left = old.left(self.tick.saturating_sub(arm.tick));
            arm.sums.fade(left);
            if let Some(linear) = &mut arm.linear {
                linear.fade(left);
            }
        }
        self.end_era(old, fading);
        // Turns and hours are different ticks.
        if old.hourly != fading.hourly {
            self.tick = 0;
        }
        self.arms.iter_mut().for_each(|arm| arm.tick = self.tick);
        self.fading_since = self.tick;
        self.fading_factor = fading.factor;
        self.fading_hourly = fading.hourly;
    }

    /// Contextual algorithms keep a regression per arm; the others have no use for one.
    fn fit_linear(&mut self, arm: &mut Arm, rule: &RouterRule, definition: &ArmDefinition) {
        if !rule.algorithm().is_contextual() {
            arm.linear = None;
            return;
        }
        let features = rule.definition().features;
        let linear = arm.linear.take().filter(|linear| linear.features() == features);
        let mut linear = linear.unwrap_or_else(|| {
            self.lives += 1;
            Linear::new(features, self.lives)
        });
        linear.solve(prior_of(rule, definition, arm.sums));
        arm.linear = Some(linear);
    }
}

/// The reward that an arm's regression starts from.
pub(super) fn prior_of(rule: &RouterRule, definition: &ArmDefinition, sums: Sums) -> f64 {
    use super::definition::Algorithm::{
        EpsilonGreedy, Fixed, Hybrid, LinTs, LinUcb, Random, Thompson, Ucb1,
    };
    match rule.algorithm() {
        Hybrid => {
            let (good, bad) = sums.counts(1.0).posterior(definition.prior_quality, 1.0);
            good / (good + bad)
        }
        LinUcb | LinTs | Thompson | EpsilonGreedy | Ucb1 | Fixed | Random => {
            definition.prior_quality.unwrap_or(0.5)
        }
    }
}
