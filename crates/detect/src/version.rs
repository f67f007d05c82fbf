//! Which detectors these are: findings name the version that made them.

use std::sync::OnceLock;

/// What decides: rules change with the package's version, models and lists with their bytes.
const PARTS: [&[u8]; 6] = [
    include_bytes!("../model/pair.bin"),
    include_bytes!("../model/refusal.bin"),
    include_bytes!("../model/rejected.bin"),
    include_bytes!("../model/accepted.bin"),
    include_bytes!("usage/formulas.txt"),
    include_bytes!("usage/sets.txt"),
];

/// The version: the package's, and eight digits that differ when a model or a list of use detection does.
pub fn version() -> &'static str {
    static VERSION: OnceLock<String> = OnceLock::new();
    VERSION.get_or_init(|| {
        let mut hash: u32 = 0x811c_9dc5;
        for byte in PARTS.iter().flat_map(|part| part.iter()) {
            hash = (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
        }
        format!("{}-{hash:08x}", env!("CARGO_PKG_VERSION"))
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_version_is_short_and_stays() {
        let version = super::version();
        assert_eq!(version, super::version());
        assert!(version.len() < 24 && version.contains('-'), "{version}");
    }
}
