//! What is left of a turn that was observed while things faded otherwise than now.

use super::discount::Fading;
use super::definition::RouterRule;
use super::state::RouterState;

/// A time that is over, in which things faded in one way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Era {
    pub(super) fading: Fading,
    /// The tick at which it began. Ticks of two eras must not be compared: they may be turns in one
    /// and hours in the other.
    pub(super) since: u64,
    pub(super) until: u64,
}

impl RouterState {
    /// The number of the present era; how many are over.
    pub(super) fn era(&self) -> u32 {
        self.eras.len() as u32
    }

    /// What is left by now of a turn that was first observed at a tick of an era.
    pub(super) fn left_of(&self, rule: &RouterRule, era: u32, tick: u64) -> f64 {
        let (mut left, mut from) = (1.0, tick);
        for over in self.eras.get(era as usize..).unwrap_or_default() {
            left *= over.fading.left(over.until.saturating_sub(from.max(over.since)));
            // Later eras saw the turn from their beginning on.
            from = 0;
        }
        left * rule.fading().left(self.tick.saturating_sub(from.max(self.fading_since)))
    }

    /// Notes that the old way of fading has ended, if turns need to know that.
    pub(super) fn end_era(&mut self, old: Fading, new: Fading) {
        let faded = old.left(self.tick.saturating_sub(self.fading_since)) < 1.0;
        // Where nothing has faded yet, older turns fade from the change on: `fading_since` says so.
        if self.tick > 0 && (faded || old.hourly != new.hourly) {
            self.eras.push(Era { fading: old, since: self.fading_since, until: self.tick });
        }
    }
}
