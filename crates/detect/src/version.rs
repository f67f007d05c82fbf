//! The version of the detectors, recorded with every finding.

use std::sync::LazyLock;

use model::hash::Fnv32;

/// Data that changes findings without a new package version.
const VERSIONED_DATA: [&[u8]; 6] = [
    include_bytes!("../model/pair.bin"),
    include_bytes!("../model/refusal.bin"),
    include_bytes!("../model/rejected.bin"),
    include_bytes!("../model/accepted.bin"),
    include_bytes!("usage/formulas.txt"),
    include_bytes!("usage/sets.txt"),
];

/// Package version plus an FNV-1a hash of the models and the use detection lists.
pub fn version() -> &'static str {
    static VERSION: LazyLock<String> = LazyLock::new(|| {
        let hash =
            VERSIONED_DATA.iter().fold(Fnv32::default(), |hash, part| hash.add_bytes(part)).0;
        format!("{}-{hash:08x}", env!("CARGO_PKG_VERSION"))
    });
    &VERSION
}

#[cfg(test)]
mod tests {
    #[test]
    fn version_is_short_and_stable() {
        let version = super::version();
        assert_eq!(version, super::version());
        assert!(version.len() < 24 && version.contains('-'), "{version}");
    }
}
