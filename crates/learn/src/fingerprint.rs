//! Text fingerprints that are identical across releases and machines.

/// 64-bit FNV-1a with a final mix, so that every output bit depends on every input byte. The
/// collision probability among a million texts is 3 in 100 million.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fingerprint(u64);

impl Fingerprint {
    pub(crate) fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// Adds a part including its boundary: "ab", "c" differs from "a", "bc".
    pub(crate) fn add_part(mut self, bytes: &[u8]) -> Self {
        for byte in bytes {
            self.add_byte(*byte);
        }
        // 0xff never occurs in UTF-8.
        self.add_byte(0xff);
        self
    }

    pub(crate) fn finish(self) -> u64 {
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn add_byte(&mut self, byte: u8) {
        self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
}

pub(crate) fn fingerprint_text(text: &str) -> u64 {
    Fingerprint::new().add_part(text.as_bytes()).finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprint_depends_on_part_boundaries() {
        let fingerprint_parts = |parts: &[&str]| {
            let taken = parts.iter().fold(Fingerprint::new(), |all, p| all.add_part(p.as_bytes()));
            taken.finish()
        };
        assert_ne!(fingerprint_parts(&["ab", "c"]), fingerprint_parts(&["a", "bc"]));
        assert_ne!(fingerprint_parts(&["a"]), fingerprint_parts(&["a", ""]));
        assert_eq!(fingerprint_parts(&["a"]), fingerprint_text("a"));
    }

    #[test]
    fn fingerprint_is_stable_across_releases() {
        // Train/test splits of exported data depend on this value.
        assert_eq!(fingerprint_text("conversation-1"), 0x2eb2_6864_b8a4_a0ae);
    }
}
