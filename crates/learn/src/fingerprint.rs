//! A text as a number that is the same in every version of the program and on every machine.

/// FNV-1a of 64 bits, mixed at the end so that every bit of the number depends on every byte.
/// Among a million different texts two share a number with a chance of 3 in 100 million.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fingerprint(u64);

impl Fingerprint {
    pub(crate) fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// Takes a part in, so that where it ends counts too: "ab", "c" is not "a", "bc".
    pub(crate) fn part(mut self, bytes: &[u8]) -> Self {
        for byte in bytes {
            self.take(*byte);
        }
        // No byte of a text in UTF-8.
        self.take(0xff);
        self
    }

    pub(crate) fn finish(self) -> u64 {
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn take(&mut self, byte: u8) {
        self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
}

/// The number of one text.
pub(crate) fn fingerprint(text: &str) -> u64 {
    Fingerprint::new().part(text.as_bytes()).finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_part_ends_counts() {
        let of = |parts: &[&str]| {
            let taken = parts.iter().fold(Fingerprint::new(), |all, p| all.part(p.as_bytes()));
            taken.finish()
        };
        assert_ne!(of(&["ab", "c"]), of(&["a", "bc"]));
        assert_ne!(of(&["a"]), of(&["a", ""]));
        assert_eq!(of(&["a"]), fingerprint("a"));
    }

    #[test]
    fn a_number_never_changes() {
        // Splits of exported data hang on it: another number moves conversations between them.
        assert_eq!(fingerprint("conversation-1"), 0x2eb2_6864_b8a4_a0ae);
    }
}
