//! Fixed-size hashed bit sets for fast approximate overlap. Collisions cause small errors.

#[derive(Clone, Debug)]
pub(crate) struct Bits<const N: usize>([u64; N]);

impl<const N: usize> Default for Bits<N> {
    fn default() -> Self {
        Self([0; N])
    }
}

impl<const N: usize> Bits<N> {
    pub(crate) fn of(items: impl Iterator<Item = u32>) -> Self {
        let mut bits = Self::default();
        items.for_each(|item| bits.set(item));
        bits
    }

    pub(crate) fn set(&mut self, item: u32) {
        let stirred = item.wrapping_mul(0x9e37_79b9);
        let place = (stirred >> 8) as usize % (N * 64);
        self.0[place / 64] |= 1 << (place % 64);
    }

    pub(crate) fn count(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    pub(crate) fn shared(&self, other: &Self) -> u32 {
        self.0.iter().zip(&other.0).map(|(a, b)| (a & b).count_ones()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_items_are_counted() {
        let a = Bits::<8>::of([1, 2, 3].into_iter());
        let b = Bits::<8>::of([2, 3, 4, 4].into_iter());
        assert_eq!((a.count(), b.count(), a.shared(&b)), (3, 3, 2));
        assert_eq!(Bits::<8>::default().shared(&a), 0);
    }
}
