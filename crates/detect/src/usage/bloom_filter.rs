//! A Bloom filter with one hash function.

/// Filter size in bits. The runs of an ordinary answer leave most bits empty.
const FILTER_BITS: u64 = 1 << 14;

/// Rejects most absent keys from a table that fits into the CPU cache.
#[derive(Clone, Debug)]
pub(super) struct BloomFilter(Vec<u64>);

impl BloomFilter {
    pub(super) fn from_keys(keys: impl Iterator<Item = u64>) -> Self {
        let mut words = vec![0; (FILTER_BITS / 64) as usize];
        for key in keys {
            let (word, bit) = bit_position(key);
            words[word] |= bit;
        }
        Self(words)
    }

    /// True when the key may be in the set; never false for a member.
    #[inline]
    pub(super) fn may_contain(&self, key: u64) -> bool {
        let (word, bit) = bit_position(key);
        self.0[word] & bit != 0
    }
}

#[inline]
fn bit_position(key: u64) -> (usize, u64) {
    let at = (key ^ key >> 32) % FILTER_BITS;
    ((at / 64) as usize, 1 << (at % 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_pass_and_most_other_keys_do_not() {
        let key = |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let filter = BloomFilter::from_keys((0..700).map(key));
        assert!((0..700).all(|n| filter.may_contain(key(n))));
        assert!((700..10_700).filter(|n| filter.may_contain(key(*n))).count() < 1_000);
    }
}
