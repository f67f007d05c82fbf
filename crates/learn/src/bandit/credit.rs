//! A turn teaches the arm that served it. What it taught before goes out, what it teaches now goes
//! in, so a turn counts once however often it is spoken of.

use serde::{Deserialize, Serialize};

use super::ridge_regression::Point;
use super::definition::RouterRule;
use super::shadow_evaluation::Shadow;
use super::state::{RouterState, prior_of};
use super::reward_sums::Sums;
use crate::reward::Observation;

/// Which choice earned it.
#[derive(Clone, Copy, Debug)]
pub struct Credit<'a> {
    /// The arm that served the turn.
    pub arm: &'a str,
    /// The features of the choice: always the same ones for the same turn.
    pub features: &'a [f64],
    /// What the choice said about a hybrid's candidate, if it did.
    pub shadow: Option<Shadow>,
    /// Whole hours since 1970, of the event that is applied.
    pub hour: u64,
}

/// What a turn has taught so far. Keep it with the turn and hand it in with the next signal.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Applied {
    /// In which life of the arm.
    born: u32,
    /// When it was first observed: later signals do not make it younger.
    tick: u64,
    /// In which era the tick was. Turns that were kept before eras were counted have none.
    #[serde(default, skip_serializing_if = "is_first")]
    era: u32,
    /// `None` when all its signals were withdrawn.
    observed: Option<(f64, f64)>,
    /// In which life of the arm's regression, if the features were fit to learn from.
    linear: Option<u32>,
    /// What the choice said about a hybrid's candidate, if it did.
    shadow: Option<Shadow>,
}

fn is_first(era: &u32) -> bool {
    *era == 0
}

impl Applied {
    /// What it teaches now.
    pub fn observation(&self) -> Option<Observation> {
        self.observed.and_then(|(reward, weight)| Observation::new(reward, weight))
    }
}

impl RouterState {
    /// Takes out what a turn taught before and puts in what it teaches now. Returns what to hand in
    /// next time. Turns of an arm that is gone, or that were forgotten by a reset, stay out.
    pub fn observe(
        &mut self,
        rule: &RouterRule,
        credit: &Credit<'_>,
        before: Option<Applied>,
        now: Option<Observation>,
    ) -> Option<Applied> {
        let Some(index) = self.arms.iter().position(|arm| arm.id == credit.arm) else {
            return before;
        };
        let born = self.arms[index].born;
        if before.is_some_and(|before| before.born != born) || (before.is_none() && now.is_none()) {
            return before;
        }
        let mut applied = before.unwrap_or_else(|| self.first(rule, credit, born));
        let old = applied.observation();
        applied.observed = now.map(|now| (now.reward(), now.weight()));
        if old == now {
            return Some(applied);
        }
        self.move_sums(rule, index, &applied, old, now);
        self.move_linear(rule, index, credit, &applied, old, now);
        if let Some(shadow) = applied.shadow {
            self.move_comparison(shadow, old, now);
        }
        Some(applied)
    }

    /// A turn's features must not be kept any longer: the arm's regression unlearns the turn, its
    /// plain sums keep it.
    pub fn forget_features(
        &mut self,
        rule: &RouterRule,
        credit: &Credit<'_>,
        before: Applied,
    ) -> Applied {
        let index = self.arms.iter().position(|arm| arm.id == credit.arm);
        if let Some(index) = index.filter(|index| self.arms[*index].born == before.born) {
            self.move_linear(rule, index, credit, &before, before.observation(), None);
        }
        Applied { linear: None, ..before }
    }

    /// A turn that is observed for the first time moves the clock.
    fn first(&mut self, rule: &RouterRule, credit: &Credit<'_>, born: u32) -> Applied {
        if rule.fading().hourly {
            if self.tick == 0 {
                // What was learnt before the clock ran begins to fade now.
                self.fading_since = credit.hour;
                self.arms.iter_mut().for_each(|arm| arm.tick = credit.hour);
            }
            self.tick = self.tick.max(credit.hour);
        } else {
            self.tick += 1;
        }
        let linear = self.arms.iter().find(|arm| arm.born == born);
        let linear = linear.and_then(|arm| arm.linear.as_ref());
        let fit = |features| Point::new(credit.features, features).is_some();
        let unfit = linear.is_some_and(|linear| !fit(linear.features()));
        let linear = linear.filter(|_| !unfit).map(|linear| linear.born);
        // None at all are those of somebody who was erased.
        self.faults += u64::from(unfit && !credit.features.is_empty());
        let shadow = credit.shadow.filter(|shadow| {
            let finite = shadow.offset.is_finite() && shadow.slope.is_finite();
            finite && rule.algorithm() == super::Algorithm::Hybrid
        });
        Applied { born, tick: self.tick, era: self.era(), observed: None, linear, shadow }
    }

    fn move_sums(
        &mut self,
        rule: &RouterRule,
        index: usize,
        applied: &Applied,
        old: Option<Observation>,
        now: Option<Observation>,
    ) {
        let (tick, fading) = (self.tick, rule.fading());
        let left = self.left_of(rule, applied.era, applied.tick);
        let arm = &mut self.arms[index];
        if !fading.is_off() {
            let rest = fading.left(tick.saturating_sub(arm.tick));
            arm.sums.fade(rest);
            if let Some(linear) = &mut arm.linear {
                linear.fade(rest);
            }
            arm.tick = tick;
        }
        if let Some(old) = old {
            arm.sums.take(Sums::of(old, left));
            arm.observations = arm.observations.saturating_sub(1);
        }
        if let Some(now) = now {
            arm.sums.add(Sums::of(now, left));
            arm.observations += 1;
        }
    }

    fn move_linear(
        &mut self,
        rule: &RouterRule,
        index: usize,
        credit: &Credit<'_>,
        applied: &Applied,
        old: Option<Observation>,
        now: Option<Observation>,
    ) {
        let left = self.left_of(rule, applied.era, applied.tick);
        let weight = |o: Option<Observation>| o.map_or(0.0, |o| o.weight() * left);
        let reward = |o: Option<Observation>| o.map_or(0.0, |o| o.weight() * o.reward() * left);
        let arm = &mut self.arms[index];
        let definition = rule.arms().iter().find(|definition| definition.id == arm.id);
        let prior = definition.map_or(0.5, |definition| prior_of(rule, definition, arm.sums));
        let Some(linear) = &mut arm.linear else { return };
        if applied.linear != Some(linear.born) {
            return;
        }
        let sound = Point::new(credit.features, linear.features()).is_some_and(|point| {
            linear.update(&point, weight(now) - weight(old), reward(now) - reward(old), prior)
        });
        self.faults += u64::from(!sound);
    }

    fn move_comparison(
        &mut self,
        shadow: Shadow,
        old: Option<Observation>,
        now: Option<Observation>,
    ) {
        if let Some(old) = old {
            self.comparison.add(shadow, old.reward(), old.weight(), -1.0);
        }
        if let Some(now) = now {
            self.comparison.add(shadow, now.reward(), now.weight(), 1.0);
        }
        self.comparison.decide();
    }
}
