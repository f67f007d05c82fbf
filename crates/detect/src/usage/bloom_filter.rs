//! A Bloom filter with one hash function.

/// Filter size in bits. The runs of an ordinary answer leave most bits empty.
const BITS: u64 = 1 << 14;

/// Rejects most absent keys from a table that fits into the CPU cache.
#[derive(Clone, Debug)]
pub(super) struct Sieve(Vec<u64>);

impl Sieve {
    pub(super) fn of(keys: impl Iterator<Item = u64>) -> Self {
        let mut words = vec![0; (BITS / 64) as usize];
        for key in keys {
            let (word, bit) = place(key);
            words[word] |= bit;
        }
        Self(words)
    }

    /// True when the key may be in the set; never false for a member.
    #[inline]
    pub(super) fn may_hold(&self, key: u64) -> bool {
        let (word, bit) = place(key);
        self.0[word] & bit != 0
    }
}

#[inline]
fn place(key: u64) -> (usize, u64) {
    let at = (key ^ key >> 32) % BITS;
    ((at / 64) as usize, 1 << (at % 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_passes_and_most_else_does_not() {
        let key = |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let sieve = Sieve::of((0..700).map(key));
        assert!((0..700).all(|n| sieve.may_hold(key(n))));
        assert!((700..10_700).filter(|n| sieve.may_hold(key(*n))).count() < 1_000);
    }
}
