//! Numbers that look like chance and are the same every time.

/// A sequence that follows from its seed (SplitMix64).
#[derive(Clone, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    /// The sequence of this seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Another sequence, of this one's seed and a number.
    pub(crate) fn apart(&self, number: u64) -> Self {
        let mut other = Self(self.0 ^ number.wrapping_mul(0xd6e8_feb8_6659_fd93));
        other.roll();
        other
    }

    /// The next 64 bits.
    pub(crate) fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 to just below 1.
    pub(crate) fn share(&mut self) -> f64 {
        (self.roll() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Whether something this likely happens.
    pub(crate) fn chance(&mut self, likely: f64) -> bool {
        self.share() < likely
    }

    /// From one number to below another.
    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.share()
    }

    /// A place below `count`; 0 when there is none.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        ((self.share() * count as f64) as usize).min(count.saturating_sub(1))
    }

    /// One of them. There must be one.
    pub(crate) fn pick<T: Copy>(&mut self, some: &[T]) -> T {
        some[self.below(some.len())]
    }

    /// A place, as likely as its weight says.
    pub(crate) fn weighted(&mut self, weights: &[f64]) -> usize {
        let mut left = self.share() * weights.iter().sum::<f64>();
        for (place, weight) in weights.iter().enumerate() {
            if left < *weight {
                return place;
            }
            left -= weight;
        }
        weights.len().saturating_sub(1)
    }

    /// A time that is mostly near the middle and sometimes much longer.
    pub(crate) fn around(&mut self, middle: f64) -> f64 {
        let wide = self.share() + self.share() + self.share() - 1.5;
        middle * (wide * 0.9).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_rolls_the_same_and_another_one_does_not() {
        let rolls = |seed| [(); 4].map(|()| Dice::new(seed).roll());
        assert_eq!(rolls(1), rolls(1));
        assert_ne!(Dice::new(1).roll(), Dice::new(2).roll());
        assert_ne!(Dice::new(1).apart(1).roll(), Dice::new(1).apart(2).roll());
    }

    #[test]
    fn weights_are_followed() {
        let mut dice = Dice::new(5);
        let mut seen = [0_u32; 3];
        for _ in 0..3000 {
            seen[dice.weighted(&[1.0, 0.0, 2.0])] += 1;
        }
        assert_eq!(seen[1], 0);
        assert!(seen[2] > seen[0] * 3 / 2 && seen[0] > 800, "{seen:?}");
        assert!((0..1000).all(|_| (4.0..8.0).contains(&dice.between(4.0, 8.0))));
    }
}
