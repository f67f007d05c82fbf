//! Deterministic random numbers (SplitMix64).

use model::hash::SplitMix64;

#[derive(Clone, Debug)]
pub(crate) struct DemoRng(SplitMix64);

impl DemoRng {
    pub(crate) fn new(seed: u64) -> Self {
        Self(SplitMix64(seed))
    }

    /// An independent generator, derived from the state and a number.
    pub(crate) fn fork(&self, number: u64) -> Self {
        let mut other = Self::new(self.0.0 ^ number.wrapping_mul(0xd6e8_feb8_6659_fd93));
        other.next_bits();
        other
    }

    pub(crate) fn next_bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number in `0.0..1.0`.
    pub(crate) fn next_fraction(&mut self) -> f64 {
        (self.next_bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// True with the given probability.
    pub(crate) fn flip_biased(&mut self, likely: f64) -> bool {
        self.next_fraction() < likely
    }

    /// A number in `low..high`.
    pub(crate) fn next_between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.next_fraction()
    }

    /// An index below `count`, or 0 when `count` is 0.
    pub(crate) fn next_index(&mut self, count: usize) -> usize {
        ((self.next_fraction() * count as f64) as usize).min(count.saturating_sub(1))
    }

    /// Picks an element of a non-empty slice.
    pub(crate) fn pick_one<'a, T>(&mut self, some: &'a [T]) -> &'a T {
        &some[self.next_index(some.len())]
    }

    /// Picks an index with probability proportional to its weight.
    pub(crate) fn pick_weighted(&mut self, weights: &[f64]) -> usize {
        let mut left = self.next_fraction() * weights.iter().sum::<f64>();
        for (place, weight) in weights.iter().enumerate() {
            if left < *weight {
                return place;
            }
            left -= weight;
        }
        weights.len().saturating_sub(1)
    }

    /// A positive number around `middle`, skewed towards large values.
    pub(crate) fn next_skewed(&mut self, middle: f64) -> f64 {
        let wide = self.next_fraction() + self.next_fraction() + self.next_fraction() - 1.5;
        middle * (wide * 0.9).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequence_depends_only_on_the_seed() {
        let rolls = |seed| [(); 4].map(|()| DemoRng::new(seed).next_bits());
        assert_eq!(rolls(1), rolls(1));
        assert_ne!(DemoRng::new(1).next_bits(), DemoRng::new(2).next_bits());
        assert_ne!(DemoRng::new(1).fork(1).next_bits(), DemoRng::new(1).fork(2).next_bits());
    }

    #[test]
    fn weighted_picks_follow_the_weights() {
        let mut rng = DemoRng::new(5);
        let mut seen = [0_u32; 3];
        for _ in 0..3000 {
            seen[rng.pick_weighted(&[1.0, 0.0, 2.0])] += 1;
        }
        assert_eq!(seen[1], 0);
        assert!(seen[2] > seen[0] * 3 / 2 && seen[0] > 800, "{seen:?}");
        assert!((0..1000).all(|_| (4.0..8.0).contains(&rng.next_between(4.0, 8.0))));
    }
}
