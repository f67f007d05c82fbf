//! Fixed-size hashed bit sets for fast approximate overlap and membership. Collisions cause small
//! errors.

#[derive(Clone, Debug)]
pub(crate) struct HashedSet<const N: usize>([u64; N]);

impl<const N: usize> Default for HashedSet<N> {
    fn default() -> Self {
        Self([0; N])
    }
}

impl<const N: usize> HashedSet<N> {
    pub(crate) fn from_hashes(items: impl Iterator<Item = u32>) -> Self {
        let mut bits = Self::default();
        items.for_each(|item| bits.insert(item));
        bits
    }

    pub(crate) fn insert(&mut self, item: u32) {
        let (word, bit) = Self::bit_position(item);
        self.0[word] |= bit;
    }

    /// True when the item may be in the set; never false for a member.
    #[inline]
    pub(crate) fn may_contain(&self, item: u32) -> bool {
        let (word, bit) = Self::bit_position(item);
        self.0[word] & bit != 0
    }

    #[inline]
    fn bit_position(item: u32) -> (usize, u64) {
        let mixed = item.wrapping_mul(0x9e37_79b9);
        let bit = (mixed >> 8) as usize % (N * 64);
        (bit / 64, 1 << (bit % 64))
    }

    pub(crate) fn count_bits(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    pub(crate) fn count_shared(&self, other: &Self) -> u32 {
        self.0.iter().zip(&other.0).map(|(a, b)| (a & b).count_ones()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashed_sets_count_shared_items() {
        let a = HashedSet::<8>::from_hashes([1, 2, 3].into_iter());
        let b = HashedSet::<8>::from_hashes([2, 3, 4, 4].into_iter());
        assert_eq!((a.count_bits(), b.count_bits(), a.count_shared(&b)), (3, 3, 2));
        assert_eq!(HashedSet::<8>::default().count_shared(&a), 0);
    }

    #[test]
    fn members_pass_and_most_other_items_do_not() {
        let item = |n: u32| crate::text::hash(0, &n.to_le_bytes());
        let filter = HashedSet::<256>::from_hashes((0..700).map(item));
        assert!((0..700).all(|n| filter.may_contain(item(n))));
        assert!((700..10_700).filter(|n| filter.may_contain(item(*n))).count() < 1_000);
    }
}
