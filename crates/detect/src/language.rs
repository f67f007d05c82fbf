//! Detects the language of a message, by script and by frequent words.

mod profile;

use std::sync::LazyLock;

use model::Language;
use rustc_hash::FxHashMap;

use crate::lexicon::words_in_set;
use crate::text::{FoldedText, WordKind, hash, is_ideograph};

pub(crate) use profile::{
    LanguageProfile, has_chinese_words, is_frequent_word, profile_language, score_of_language,
};

pub(crate) const LANGUAGES: [&str; 9] = ["en", "de", "es", "fr", "pt", "it", "nl", "ja", "zh"];

/// The first languages in `LANGUAGES` are detected by word lists, the others by script.
const WORD_LIST_LANGUAGES: usize = 7;

/// Languages that the verdict models distinguish: also some that questions are not classified as.
pub(crate) const MODEL_LANGUAGES: [&str; 12] =
    ["en", "de", "es", "fr", "pt", "it", "nl", "ja", "zh", "pl", "tr", "ru"];
const JAPANESE: usize = 7;
const CHINESE: usize = 8;
const RUSSIAN: usize = 11;

/// Frequent words besides those of the word lists. The verdict model was trained without them.
const MORE_WORDS: [&str; WORD_LIST_LANGUAGES] = [
    "a an as at be been by did does from give has have if me more please show there they was we \
     were when where which who why will your",
    "aus bei hat haben im in kann mit nach oder sind von wann warum welche wer wo zu zum zur",
    "al cual cuando cuanto del donde e hay o quien se ser son su sus y",
    "a au aux avec cette comment du ou qui quand quel quelle quoi son sont sur",
    "com das dos e na no onde ou qual quais quando quanto ser seu sua sao",
    "al con dei del della dove e gli i in le nel o qual quale quali quando quanto se sono un",
    "aan bij heeft hebben in kan naar over uit waar waarom wanneer welke was worden wordt zijn",
];
/// Words that are read.
const MAX_WORDS: usize = 60;

/// The language of a text: English for Latin letters without words of another language, `None` for
/// other scripts than Latin, Japanese and Chinese and for texts without words.
pub fn classify_language(text: &str) -> Option<Language> {
    static WORDS: LazyLock<FxHashMap<u32, Vec<usize>>> = LazyLock::new(|| {
        let mut words = index_words();
        for (language, more) in MORE_WORDS.iter().enumerate() {
            for word in more.split_whitespace() {
                let known = words.entry(hash(0, word.as_bytes())).or_default();
                if !known.contains(&language) {
                    known.push(language);
                }
            }
        }
        words
    });
    let text = FoldedText::new(text);
    let (mut latin, mut cjk, mut other) = (0, 0, 0);
    for word in text.lexical_words().take(MAX_WORDS) {
        let Some(first) = text.folded_word(word).chars().next() else { continue };
        match word.kind {
            WordKind::Sign if is_ideograph(first) => cjk += 1,
            WordKind::Letters if is_latin(first) => latin += 1,
            WordKind::Letters => other += 1,
            WordKind::Sign | WordKind::Number | WordKind::Mark => {}
        }
    }
    let most = latin.max(cjk).max(other);
    let found = match most {
        0 => return None,
        _ if most == cjk => detect_cjk_language(&text),
        _ if most == latin => most_votes(&text, &WORDS, WORD_LIST_LANGUAGES),
        _ => return None,
    };
    Language::from_word(LANGUAGES[found])
}

fn is_latin(c: char) -> bool {
    matches!(u32::from(c), 0..=0x24F | 0x1E00..=0x1EFF)
}

/// The words of the word lists with their languages.
fn index_words() -> FxHashMap<u32, Vec<usize>> {
    let mut words: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
    for (language, name) in MODEL_LANGUAGES.iter().enumerate() {
        for word in words_in_set(&format!("language {name}")) {
            words.entry(hash(0, word.as_bytes())).or_default().push(language);
        }
    }
    words
}

/// The language with the most words among the first `languages`, the first of several.
fn most_votes(text: &FoldedText, words: &FxHashMap<u32, Vec<usize>>, languages: usize) -> usize {
    let mut votes = [0usize; MODEL_LANGUAGES.len()];
    for word in text.lexical_words().take(MAX_WORDS) {
        for &language in words.get(&word.hash).into_iter().flatten() {
            votes[language] += 1;
        }
    }
    let votes = &votes[..languages];
    let most = votes.iter().copied().max().unwrap_or(0);
    votes.iter().position(|v| *v == most).unwrap_or(0)
}

/// Index into `MODEL_LANGUAGES`; English when no other language matches.
pub(crate) fn detect_language(text: &FoldedText) -> usize {
    static WORDS: LazyLock<FxHashMap<u32, Vec<usize>>> = LazyLock::new(index_words);
    let is_cyrillic = |c: char| matches!(u32::from(c), 0x400..=0x4FF);
    let mut cyrillic = 0;
    for word in text.lexical_words().take(MAX_WORDS) {
        if word.kind == WordKind::Sign {
            return detect_cjk_language(text);
        }
        cyrillic += usize::from(text.folded_word(word).chars().any(is_cyrillic));
    }
    if cyrillic * 2 > text.lexical_words().take(MAX_WORDS).count() {
        return RUSSIAN;
    }
    most_votes(text, &WORDS, MODEL_LANGUAGES.len())
}

/// Kana mean Japanese; ideographs alone mean Chinese.
fn detect_cjk_language(text: &FoldedText) -> usize {
    let is_kana = |c: char| matches!(u32::from(c), 0x3040..=0x30FF);
    let kana = text.lexical_words().take(200).any(|w| text.folded_word(w).chars().any(is_kana));
    if kana { JAPANESE } else { CHINESE }
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
            ("nie o to mi chodziło, dzięki", "pl"),
            ("hayır, bunu istemedim, teşekkürler", "tr"),
            ("нет, не то", "ru"),
            ("xyz", "en"),
            ("", "en"),
        ];
        for (message, expected) in rows {
            assert_eq!(
                MODEL_LANGUAGES[detect_language(&FoldedText::new(message))],
                expected,
                "{message}"
            );
        }
    }

    #[test]
    fn language_of_terse_and_mixed_texts_is_classified() {
        let rows = [
            ("Rotate a PDF", Some("en")),
            ("Revenue of June?", Some("en")),
            ("Show me all orders", Some("en")),
            ("Perfect, thanks 👍", Some("en")),
            ("What does 你好 mean in Chinese?", Some("en")),
            ("Umsatz im Juli", Some("de")),
            ("Wie hoch war der Umsatz?", Some("de")),
            ("¿Cuánto vendimos en julio?", Some("es")),
            ("Quel est le chiffre d'affaires ?", Some("fr")),
            ("Qual foi a receita de julho?", Some("pt")),
            ("Qual è il fatturato di luglio?", Some("it")),
            ("Wat was de omzet in juli?", Some("nl")),
            ("用 Python 写一个函数", Some("zh")),
            ("7月の売上は？", Some("ja")),
            ("Какая выручка за июль?", None),
            ("7월 매출은?", None),
            ("1234", None),
            ("👍", None),
            ("", None),
        ];
        for (text, expected) in rows {
            assert_eq!(classify_language(text).map(Language::as_word), expected, "{text}");
        }
        assert_eq!(LANGUAGES, Language::WORDS);
        assert!(MODEL_LANGUAGES.starts_with(&LANGUAGES));
    }
}
