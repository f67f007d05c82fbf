//! Detects a fall of an arm's reward and drops the observations from before it, as ADWIN does
//! (Bifet and Gavaldà, 2007).
//!
//! The window is a list of buckets in the order in which turns were first observed. A later signal
//! changes the bucket of its turn, so a late rating counts at the time of the turn. Only products
//! and quotients are used, because `ln` and `exp` may differ in the last bit between machines.

use super::reward_sums::{RewardSums, from_parts, to_parts};
use crate::reward::Observation;

/// Turns in the newest bucket before the next one opens. The test runs once per full bucket.
const BUCKET_TURNS: u64 = 4;
/// Buckets of one size. One more merges the two oldest of them.
const MAX_SAME_SIZE: usize = 4;
/// Marks the bucket of observations from before the window. It is never merged.
const BASE_TURNS: u64 = u64::MAX;
/// Hoeffding's bound for one split is exp(-9), about 1 in 8000. By that bound a fall by 0.5 is found
/// after about 20 turns. The simulation in `bandit/tests/recovery.rs` checks the cost in a stationary run.
const FALL_THRESHOLD: f64 = 9.0;

/// Discount era and tick of a turn's first observation.
pub(super) type TurnPoint = (u32, u64);

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct WindowBucket {
    pub(super) since: TurnPoint,
    pub(super) turns: u64,
    pub(super) sums: RewardSums,
    /// Sum of squared weights, in fixed-point parts.
    pub(super) squares: i128,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct RewardWindow {
    /// Earlier turns are dropped for good.
    pub(super) kept_from: TurnPoint,
    pub(super) falls: u64,
    pub(super) buckets: Vec<WindowBucket>,
}

/// Totals of neighbouring buckets.
#[derive(Clone, Copy, Default)]
struct WindowPart {
    sums: RewardSums,
    squares: i128,
}

impl WindowPart {
    fn add(&mut self, bucket: &WindowBucket) {
        self.sums.add(bucket.sums);
        self.squares += bucket.squares;
    }

    fn subtract(mut self, other: Self) -> Self {
        self.sums.subtract(other.sums);
        self.squares -= other.squares;
        self
    }

    /// Mean reward and effective number of observations (Kish); `None` without weight.
    fn estimate(self) -> Option<(f64, f64)> {
        let (good, all) = (from_parts(self.sums.good), from_parts(self.sums.all));
        let squares = from_parts(self.squares);
        (all > 0.0 && squares > 0.0).then(|| (good / all, all * all / squares))
    }
}

impl RewardWindow {
    pub(super) fn has_dropped(&self, turn: TurnPoint) -> bool {
        turn < self.kept_from
    }

    /// Stops the detection. Dropped turns stay dropped.
    pub(super) fn clear(&mut self) {
        self.buckets.clear();
    }

    /// Adds a turn. `before` are the arm's sums without it.
    pub(super) fn open_turn(&mut self, turn: TurnPoint, before: RewardSums) {
        if self.buckets.is_empty() && before.all > 0 {
            // Observations without a bucket count like turns of weight one.
            let (turns, squares) = (BASE_TURNS, before.all);
            self.buckets.push(WindowBucket { since: (0, 0), turns, sums: before, squares });
        }
        match self.buckets.last_mut() {
            Some(last) if last.turns < BUCKET_TURNS => last.turns += 1,
            Some(_) | None => {
                self.merge_buckets();
                let (sums, squares) = (RewardSums::default(), 0);
                self.buckets.push(WindowBucket { since: turn, turns: 1, sums, squares });
            }
        }
    }

    /// Replaces a turn's observation, of which `left` remains.
    pub(super) fn replace_turn(
        &mut self,
        turn: TurnPoint,
        (old, now): (Option<Observation>, Option<Observation>),
        left: f64,
    ) {
        let index = self.buckets.partition_point(|bucket| bucket.since <= turn);
        let Some(bucket) = index.checked_sub(1).and_then(|index| self.buckets.get_mut(index))
        else {
            return;
        };
        let square = |o: Observation| to_parts((o.weight() * left) * (o.weight() * left));
        if let Some(old) = old {
            bucket.sums.subtract(RewardSums::from_observation(old, left));
            bucket.squares -= square(old);
        }
        if let Some(now) = now {
            bucket.sums.add(RewardSums::from_observation(now, left));
            bucket.squares += square(now);
        }
    }

    /// After a full bucket, drops the turns from before a fall and returns the sums of the rest.
    /// Rises are ignored: a turn often gets a high reward for its speed first and a rating later.
    pub(super) fn detect_fall(&mut self) -> Option<RewardSums> {
        if self.buckets.last()?.turns != BUCKET_TURNS {
            return None;
        }
        let mut whole = WindowPart::default();
        self.buckets.iter().for_each(|bucket| whole.add(bucket));
        let (mut newer, mut strongest) = (WindowPart::default(), (FALL_THRESHOLD, None));
        for index in (1..self.buckets.len()).rev() {
            newer.add(&self.buckets[index]);
            let strength = fall_strength(whole.subtract(newer), newer);
            if strength > strongest.0 {
                strongest = (strength, Some((index, newer.sums)));
            }
        }
        let (index, kept) = strongest.1?;
        self.buckets.drain(..index);
        self.kept_from = self.buckets[0].since;
        self.falls += 1;
        Some(kept)
    }

    /// Merges from the newest buckets to the oldest, so that the list stays logarithmic.
    fn merge_buckets(&mut self) {
        let (mut turns, mut end) = (BUCKET_TURNS, self.buckets.len());
        loop {
            let same = self.buckets[..end].iter().rev().take_while(|b| b.turns == turns).count();
            if same <= MAX_SAME_SIZE {
                return;
            }
            let first = end - same;
            let second = self.buckets.remove(first + 1);
            let merged = &mut self.buckets[first];
            merged.turns += second.turns;
            merged.sums.add(second.sums);
            merged.squares += second.squares;
            (turns, end) = (2 * turns, first + 1);
        }
    }
}

/// Exponent of Hoeffding's bound on a fall of the mean; 0 without a fall.
fn fall_strength(older: WindowPart, newer: WindowPart) -> f64 {
    let (Some((was, n_old)), Some((is, n_new))) = (older.estimate(), newer.estimate()) else {
        return 0.0;
    };
    let fall = (was - is).max(0.0);
    2.0 * fall * fall * (n_old * n_new / (n_old + n_new))
}
