//! Keeps the best results.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::entry::{Near, Quality};

/// A bounded heap of the nearest rows above a floor.
pub(super) struct Best {
    most: usize,
    floor: f32,
    // The worst on top, because it is evicted first.
    kept: BinaryHeap<Reverse<Ranked>>,
}

impl Best {
    /// A NaN floor counts as none.
    pub(super) fn new(most: usize, floor: f32) -> Self {
        let floor = if most == 0 { f32::INFINITY } else { floor.max(-1.0) };
        Self { most, floor, kept: BinaryHeap::new() }
    }

    /// Rows below this similarity cannot enter.
    pub(super) fn floor(&self) -> f32 {
        self.floor
    }

    pub(super) fn offer(&mut self, near: Near) {
        if near.similarity < self.floor {
            return;
        }
        self.kept.push(Reverse(Ranked {
            step: similarity_step(near.similarity),
            merit: near.labels.merit(),
            near,
        }));
        if self.kept.len() > self.most {
            self.kept.pop();
        }
        if self.kept.len() == self.most
            && let Some(Reverse(worst)) = self.kept.peek()
        {
            // Rows in the worst row's step may still be better.
            self.floor = self.floor.max(f32::from(worst.step) * STEP);
        }
    }

    pub(super) fn into_sorted(self) -> Vec<Near> {
        self.kept.into_sorted_vec().into_iter().map(|Reverse(ranked)| ranked.near).collect()
    }
}

/// Similarities within a step count as equal.
const STEP: f32 = 0.05;

fn similarity_step(similarity: f32) -> i8 {
    (similarity / STEP).floor() as i8
}

/// Orders by similarity step, merit, similarity and key. Similarities are never NaN.
#[derive(Clone, Copy)]
struct Ranked {
    step: i8,
    merit: (bool, Quality),
    near: Near,
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.step, self.merit)
            .cmp(&(other.step, other.merit))
            .then(self.near.similarity.total_cmp(&other.near.similarity))
            .then(self.near.key.cmp(&other.near.key))
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ranked {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Labels;

    fn near(key: i64, similarity: f32, quality: Option<f64>) -> Near {
        let labels = Labels { quality: Quality::new(quality), ..Labels::default() };
        Near { key, similarity, labels }
    }

    fn check(most: usize, floor: f32, offered: &[(i64, f32)], kept: &[i64]) {
        let mut best = Best::new(most, floor);
        for (key, similarity) in offered {
            best.offer(near(*key, *similarity, None));
        }
        let keys: Vec<i64> = best.into_sorted().iter().map(|near| near.key).collect();
        assert_eq!(keys, kept);
    }

    #[test]
    fn the_nearest_stay_best_first() {
        check(2, 0.0, &[(1, 0.5), (2, 0.9), (3, 0.7), (4, 0.1)], &[2, 3]);
    }

    #[test]
    fn better_rows_win_among_near_equals() {
        let mut best = Best::new(2, 0.0);
        for (key, similarity, merit) in
            [(1, 0.92, 0.9), (2, 0.94, 0.1), (3, 0.91, 0.6), (4, 0.89, 1.0)]
        {
            best.offer(near(key, similarity, Some(merit)));
        }
        let keys: Vec<i64> = best.into_sorted().iter().map(|near| near.key).collect();
        assert_eq!(keys, [1, 3]);
    }

    #[test]
    fn larger_key_wins_a_tie() {
        check(2, 0.0, &[(5, 0.5), (9, 0.5), (7, 0.5), (1, 0.5)], &[9, 7]);
    }

    #[test]
    fn nothing_below_the_floor_and_nothing_when_nothing_is_wanted() {
        check(9, 0.5, &[(1, 0.5), (2, 0.49)], &[1]);
        check(0, -1.0, &[(1, 1.0)], &[]);
        check(usize::MAX, f32::NAN, &[(1, -1.0)], &[1]);
    }
}
