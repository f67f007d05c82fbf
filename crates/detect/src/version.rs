//! The version of the detectors, recorded with every finding.

use std::sync::LazyLock;

use model::hash::Fnv32;

/// Data that changes findings without a new package version.
const VERSIONED_DATA: [&[u8]; 27] = [
    include_bytes!("../model/blend.txt"),
    include_bytes!("../model/pair.bin"),
    include_bytes!("../model/pair-blend.txt"),
    include_bytes!("../model/restatement.bin"),
    include_bytes!("../model/refusal.bin"),
    include_bytes!("../model/rejected.bin"),
    include_bytes!("../model/accepted.bin"),
    include_bytes!("phrases/answer_types.txt"),
    include_bytes!("phrases/contrast.txt"),
    include_bytes!("phrases/declines.txt"),
    include_bytes!("phrases/distinctions.txt"),
    include_bytes!("phrases/failures.txt"),
    include_bytes!("phrases/languages.txt"),
    include_bytes!("phrases/references.txt"),
    include_bytes!("phrases/refusal.txt"),
    include_bytes!("phrases/words.txt"),
    include_bytes!("phrases/en.txt"),
    include_bytes!("phrases/de.txt"),
    include_bytes!("phrases/es.txt"),
    include_bytes!("phrases/fr.txt"),
    include_bytes!("phrases/pt.txt"),
    include_bytes!("phrases/it.txt"),
    include_bytes!("phrases/nl.txt"),
    include_bytes!("phrases/ja.txt"),
    include_bytes!("phrases/zh.txt"),
    include_bytes!("usage/formulas.txt"),
    include_bytes!("usage/sets.txt"),
];

/// Package version plus an FNV-1a hash of the models, the phrase lists and the use detection lists.
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
    #[test]
    fn version_covers_every_data_file() {
        let count = |folder: &str| {
            let folder = format!("{}/{folder}", env!("CARGO_MANIFEST_DIR"));
            let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
            files.filter(|path| path.extension().is_some_and(|end| end != "rs")).count()
        };
        let files = count("model") + count("src/phrases") + count("src/usage");
        assert_eq!(super::VERSIONED_DATA.len(), files);
    }
}
