//! Fast hashes and seeded randomness that never change: stored values and seeds depend on them.
//!
//! None of these functions resists an attacker. Use `blake3` where a client chooses the input.

/// 64-bit FNV-1a, fed in parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fnv64(pub u64);

impl Default for Fnv64 {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv64 {
    #[must_use]
    #[inline]
    pub fn add_byte(self, byte: u8) -> Self {
        Self((self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
    }

    #[must_use]
    pub fn add_bytes(self, bytes: &[u8]) -> Self {
        bytes.iter().fold(self, |hash, byte| hash.add_byte(*byte))
    }
}

/// 32-bit FNV-1a, fed in parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fnv32(pub u32);

impl Default for Fnv32 {
    fn default() -> Self {
        Self(0x811c_9dc5)
    }
}

impl Fnv32 {
    #[must_use]
    #[inline]
    pub fn add_byte(self, byte: u8) -> Self {
        Self((self.0 ^ u32::from(byte)).wrapping_mul(0x0100_0193))
    }

    #[must_use]
    pub fn add_bytes(self, bytes: &[u8]) -> Self {
        bytes.iter().fold(self, |hash, byte| hash.add_byte(*byte))
    }
}

pub fn fnv1a_64(bytes: &[u8]) -> u64 {
    Fnv64::default().add_bytes(bytes).0
}

/// The finalizer of SplitMix64: every output bit depends on every input bit.
#[inline]
pub fn mix64(bits: u64) -> u64 {
    let mixed = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// The increment of SplitMix64: 2^64 divided by the golden ratio, odd.
pub const GOLDEN_GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// A SplitMix64 stream. The same seed gives the same numbers on every machine.
#[derive(Clone, Debug)]
pub struct SplitMix64(pub u64);

impl SplitMix64 {
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN_GAMMA);
        mix64(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_equal_their_published_test_vectors() {
        assert_eq!(fnv1a_64(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a_64(b"foobar"), 0x8594_4171_f739_67e8);
        assert_eq!(Fnv32::default().add_bytes(b"foobar").0, 0xbf9c_f968);
        let mut random = SplitMix64(1_234_567);
        let first = [random.next_u64(), random.next_u64(), random.next_u64()];
        let expected =
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!(first, expected);
    }
}
