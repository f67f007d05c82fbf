//! Text fingerprints that are identical across releases and machines.

use model::hash::{Fnv64, mix64};

/// 64-bit FNV-1a with a final mix, so that every output bit depends on every input byte. The
/// collision probability among a million texts is 3 in 100 million.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fingerprint(Fnv64);

impl Fingerprint {
    pub(crate) fn new() -> Self {
        Self(Fnv64::default())
    }

    /// Adds a part including its boundary: "ab", "c" differs from "a", "bc".
    pub(crate) fn add_part(self, bytes: &[u8]) -> Self {
        // 0xff never occurs in UTF-8.
        Self(self.0.add_bytes(bytes).add_byte(0xff))
    }

    pub(crate) fn finish(self) -> u64 {
        mix64(self.0.0)
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
