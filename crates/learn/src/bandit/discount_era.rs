//! Discount eras: weights of turns observed before the discount setting changed.

use super::definition::RouterRule;
use super::discount::Decay;
use super::state::RouterState;

/// A closed period with one discount setting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct DiscountEra {
    pub(super) decay: Decay,
    /// First tick. Ticks of different eras are not comparable: they count turns in one and hours in
    /// another.
    pub(super) since: u64,
    pub(super) until: u64,
}

impl RouterState {
    /// Number of the current era, counting from 0.
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
        let faded = old.remaining_after(self.tick.saturating_sub(self.decay_since)) < 1.0;
        // Without any decay so far, older turns decay from the change on, given by `decay_since`.
        if self.tick > 0 && (faded || old.hourly != new.hourly) {
            self.eras.push(DiscountEra { decay: old, since: self.decay_since, until: self.tick });
        }
    }
}
