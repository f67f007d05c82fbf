//! Detects the language of a message, by script and by frequent words.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::lexicon::words_in_set;
use crate::text::{FoldedText, WordKind, hash};

pub(crate) const LANGUAGES: [&str; 9] = ["en", "de", "es", "fr", "pt", "it", "nl", "ja", "zh"];

/// The first languages in `LANGUAGES` are detected by word lists, the others by script.
const WORD_LIST_LANGUAGES: usize = 7;

/// Index into `LANGUAGES`; English when no other language matches.
pub(crate) fn detect_language(text: &FoldedText) -> usize {
    static WORDS: LazyLock<FxHashMap<u32, Vec<usize>>> = LazyLock::new(|| {
        let mut words: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
        for (language, name) in LANGUAGES.iter().enumerate().take(WORD_LIST_LANGUAGES) {
            for word in words_in_set(&format!("language {name}")) {
                words.entry(hash(0, word.as_bytes())).or_default().push(language);
            }
        }
        words
    });
    let mut votes = [0usize; WORD_LIST_LANGUAGES];
    for word in text.lexical_words().take(60) {
        if word.kind == WordKind::Sign {
            return detect_cjk_language(text);
        }
        for &language in WORDS.get(&word.hash).into_iter().flatten() {
            votes[language] += 1;
        }
    }
    let most = votes.iter().copied().max().unwrap_or(0);
    votes.iter().position(|v| *v == most).unwrap_or(0)
}

/// Kana mean Japanese; ideographs alone mean Chinese.
fn detect_cjk_language(text: &FoldedText) -> usize {
    let is_kana = |c: char| matches!(u32::from(c), 0x3040..=0x30FF);
    let kana = text.lexical_words().take(200).any(|w| text.folded_word(w).chars().any(is_kana));
    if kana { 7 } else { 8 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_assigned_their_language() {
        let rows = [
            ("what is the capital of France", "en"),
            ("Das ist nicht die Antwort, danke", "de"),
            ("eso no es lo que yo pregunté", "es"),
            ("ce n'est pas ce que je voulais, merci", "fr"),
            ("não foi isso que eu perguntei", "pt"),
            ("non è quello che ho chiesto, grazie", "it"),
            ("dat is niet wat ik bedoelde", "nl"),
            ("それは違います", "ja"),
            ("这不是我要的", "zh"),
            ("xyz", "en"),
            ("", "en"),
        ];
        for (message, expected) in rows {
            assert_eq!(
                LANGUAGES[detect_language(&FoldedText::new(message))],
                expected,
                "{message}"
            );
        }
    }
}
