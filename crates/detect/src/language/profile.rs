//! Identifies the language of a longer text by its script, frequent words, letters and word ends.
//!
//! Separate from `detect_language`, whose result is an input of the committed models.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::text::{FoldedText, WordKind, hash};

const PROFILES: &str = include_str!("../phrases/languages.txt");
const MAX_WORDS: usize = 200;

/// Evidence for a language and for the best other one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LanguageProfile {
    pub language: &'static str,
    pub score: f32,
    pub second: f32,
    /// Different words that are evidence for the language.
    pub distinct: usize,
    /// Words that were read; for scripts without spaces, letters.
    pub words: usize,
}

struct WordProfiles {
    languages: Vec<&'static str>,
    /// Languages of a word and its weight, which is lower for words of several languages.
    words: FxHashMap<u32, (Vec<usize>, f32)>,
}

static WORD_PROFILES: LazyLock<WordProfiles> = LazyLock::new(|| {
    let (mut languages, mut words) = (Vec::new(), FxHashMap::default());
    let lines = PROFILES.lines().filter(|line| !line.starts_with('#'));
    for (language, list) in lines.filter_map(|line| line.split_once(": ")) {
        for word in list.split_whitespace() {
            let known: &mut (Vec<usize>, f32) =
                words.entry(hash(0, word.as_bytes())).or_insert_with(|| (Vec::new(), 0.0));
            known.0.push(languages.len());
        }
        languages.push(language);
    }
    for (known, weight) in words.values_mut() {
        *weight = 1.0 / known.len() as f32;
    }
    WordProfiles { languages, words }
});

/// The language with the most evidence, `None` without any.
pub(crate) fn profile_language(original: &str) -> Option<LanguageProfile> {
    profile_script(original).or_else(|| profile_words(original))
}

/// Evidence for `language` in a text, also in one of another script.
pub(crate) fn score_of_language(original: &str, language: &str) -> f32 {
    if let Some(script) = SCRIPTS.iter().position(|one| *one == language) {
        return count_scripts(original).0[script] as f32 / 2.0;
    }
    let (scores, _, _) = score_words(original);
    let profiles = &*WORD_PROFILES;
    let place = profiles.languages.iter().position(|one| *one == language);
    place.map_or(0.0, |place| scores[place])
}

/// True for Chinese with its own function words, which ideographs of Japanese texts do not have.
pub(crate) fn has_chinese_words(original: &str) -> bool {
    const ONLY_CHINESE: &str =
        "的了吗么怎这们个没说时对为过还很就也什您请啊呢吧给让把被它她哪谁样着些";
    let found = original.chars().filter(|c| ONLY_CHINESE.contains(*c));
    found.take(2).count() == 2
}

/// True for the words of the language's list, folded.
pub(crate) fn is_frequent_word(word: &str, language: &str) -> bool {
    let profiles = &*WORD_PROFILES;
    let known = profiles.words.get(&hash(0, word.as_bytes()));
    known.is_some_and(|(places, _)| places.iter().any(|at| profiles.languages[*at] == language))
}

/// Languages that are known by their script.
const SCRIPTS: [&str; 9] = ["ja", "zh", "ko", "ru", "uk", "ar", "he", "el", "hi"];

/// Letters of each script, and the number of Latin words.
fn count_scripts(original: &str) -> ([usize; SCRIPTS.len()], usize) {
    let mut counts = [0usize; SCRIPTS.len()];
    let mut latin_words = 0;
    let mut previous_latin = false;
    for c in original.chars().take(MAX_WORDS * 8) {
        let script = match u32::from(c) {
            0x3040..=0x30FF | 0xFF66..=0xFF9D => Some(0),
            0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF => Some(1),
            0xAC00..=0xD7AF | 0x1100..=0x11FF => Some(2),
            0x404 | 0x406 | 0x407 | 0x454 | 0x456 | 0x457 | 0x490 | 0x491 => Some(4),
            0x400..=0x4FF => Some(3),
            0x600..=0x6FF | 0x750..=0x77F => Some(5),
            0x590..=0x5FF => Some(6),
            0x370..=0x3FF | 0x1F00..=0x1FFF => Some(7),
            0x900..=0x97F => Some(8),
            _ => None,
        };
        let latin = script.is_none() && c.is_alphabetic();
        latin_words += usize::from(latin && !previous_latin);
        previous_latin = latin;
        if let Some(script) = script {
            counts[script] += 1;
        }
    }
    if counts[0] * 8 > counts[1] && counts[0] > 0 {
        counts[0] += std::mem::take(&mut counts[1]);
    }
    if counts[4] > 0 {
        counts[4] += std::mem::take(&mut counts[3]);
    }
    (counts, latin_words)
}

fn profile_script(original: &str) -> Option<LanguageProfile> {
    let (counts, latin_words) = count_scripts(original);
    let best = (0..counts.len()).max_by_key(|script| counts[*script])?;
    let letters = counts[best];
    let others: usize = counts.iter().sum::<usize>() - letters;
    // A Latin word weighs as much as two letters of another script.
    (letters >= 2 && letters > 2 * latin_words && letters > 3 * others).then(|| LanguageProfile {
        language: SCRIPTS[best],
        score: letters as f32 / 2.0,
        second: others as f32 / 2.0,
        distinct: letters / 2,
        words: letters,
    })
}

fn profile_words(original: &str) -> Option<LanguageProfile> {
    let (scores, distinct, words) = score_words(original);
    let best = (0..scores.len()).max_by(|a, b| scores[*a].total_cmp(&scores[*b]))?;
    if scores[best] <= 0.0 {
        return None;
    }
    let others = scores.iter().enumerate().filter(|(place, _)| *place != best);
    let second = others.map(|(_, score)| *score).fold(0.0, f32::max);
    let language = WORD_PROFILES.languages[best];
    Some(LanguageProfile { language, score: scores[best], second, distinct: distinct[best], words })
}

/// Scores and numbers of different words by language, and the number of words read.
fn score_words(original: &str) -> (Vec<f32>, Vec<usize>, usize) {
    let profiles = &*WORD_PROFILES;
    let count = profiles.languages.len();
    let (mut scores, mut distinct) = (vec![0.0; count], vec![0; count]);
    let mut seen: Vec<u32> = Vec::new();
    let text = FoldedText::new(original);
    let mut words = 0;
    for word in text.lexical_words().filter(|w| w.kind == WordKind::Letters).take(MAX_WORDS) {
        let Some(raw) = original.get(word.start..word.end) else { continue };
        if raw.chars().nth(1).is_some() && raw.chars().all(|c| !c.is_lowercase()) {
            continue;
        }
        words += 1;
        let is_new = !seen.contains(&word.hash);
        if is_new {
            seen.push(word.hash);
        }
        // A word that is repeated adds little.
        let share = if is_new { 1.0 } else { 0.3 };
        let (known, weight) = profiles
            .words
            .get(&word.hash)
            .map_or((&[][..], 0.0), |found| (found.0.as_slice(), found.1));
        for language in known {
            scores[*language] += weight * share;
            distinct[*language] += usize::from(is_new);
        }
        if let Some((language, weight)) = score_spelling(raw, text.folded_word(word)) {
            let place = profiles.languages.iter().position(|one| *one == language);
            let Some(place) = place else { continue };
            scores[place] += weight * share;
            distinct[place] += usize::from(is_new && known.is_empty());
        }
    }
    (scores, distinct, words)
}

const ELISIONS: [(&str, &str); 10] = [
    ("qu'", "fr"),
    ("c'", "fr"),
    ("j'", "fr"),
    ("n'", "fr"),
    ("s'", "fr"),
    ("dell'", "it"),
    ("nell'", "it"),
    ("all'", "it"),
    ("un'", "it"),
    ("sull'", "it"),
];
const CONTRACTIONS: [&str; 6] = ["n't", "'re", "'ll", "'ve", "'m", "'d"];
/// Word ends with their language and the least length of such a word.
const ENDS: [(&str, &str, usize); 30] = [
    ("iyor", "tr", 5),
    ("ıyor", "tr", 5),
    ("uyor", "tr", 5),
    ("lar", "tr", 5),
    ("ler", "tr", 6),
    ("ları", "tr", 6),
    ("leri", "tr", 6),
    ("dır", "tr", 5),
    ("dir", "tr", 6),
    ("ması", "tr", 6),
    ("mesi", "tr", 6),
    ("abilir", "tr", 7),
    ("ebilir", "tr", 7),
    ("arak", "tr", 6),
    ("erek", "tr", 6),
    ("ının", "tr", 6),
    ("ımız", "tr", 6),
    ("iniz", "tr", 6),
    ("ość", "pl", 5),
    ("ować", "pl", 6),
    ("ych", "pl", 5),
    ("ego", "pl", 5),
    ("ami", "pl", 6),
    ("ung", "de", 6),
    ("keit", "de", 6),
    ("lich", "de", 6),
    ("ción", "es", 6),
    ("ção", "pt", 5),
    ("zione", "it", 6),
    ("tion", "en", 7),
];

/// Letters, elisions and word ends that are typical of one language.
fn score_spelling(raw: &str, folded: &str) -> Option<(&'static str, f32)> {
    for c in raw.chars().flat_map(char::to_lowercase) {
        match c {
            'ą' | 'ę' | 'ł' | 'ś' | 'ć' | 'ź' | 'ż' | 'ń' => return Some(("pl", 1.0)),
            'ğ' | 'ı' | 'ş' => return Some(("tr", 1.0)),
            'ß' => return Some(("de", 1.0)),
            'ñ' => return Some(("es", 1.0)),
            'ã' | 'õ' => return Some(("pt", 1.0)),
            'œ' => return Some(("fr", 1.0)),
            'ř' | 'ě' | 'ů' => return Some(("cs", 1.0)),
            'ő' | 'ű' => return Some(("hu", 1.0)),
            'ț' | 'ă' => return Some(("ro", 1.0)),
            'å' => return Some(("sv", 0.5)),
            _ => {}
        }
    }
    if let Some((_, language)) = ELISIONS.iter().find(|(start, _)| folded.starts_with(start)) {
        return Some((language, 1.0));
    }
    if CONTRACTIONS.iter().any(|end| folded.ends_with(end)) {
        return Some(("en", 1.0));
    }
    let lower = raw.to_lowercase();
    let has_end = |(end, _, least): &&(&str, &str, usize)| {
        lower.ends_with(end) && lower.chars().count() >= *least
    };
    ENDS.iter().find(has_end).map(|(_, language, _)| (*language, 0.5))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_told_apart_also_without_their_letters() {
        let rows = [
            ("Where do I find the settings for this printer?", "en"),
            ("Wo finde ich die Einstellungen dieses Druckers?", "de"),
            ("Où sont les réglages de cette imprimante ?", "fr"),
            ("¿Dónde están los ajustes de esta impresora?", "es"),
            ("Dove sono le impostazioni della stampante?", "it"),
            ("Onde ficam as configurações da impressora?", "pt"),
            ("Waar vind ik de instellingen van deze printer?", "nl"),
            ("Gdzie są ustawienia drukarki i jak je zmienić?", "pl"),
            ("gdzie sa ustawienia drukarki i jak je zmienic", "pl"),
            ("Yazıcının ayarlarını nerede bulabilirim?", "tr"),
            ("yazicinin ayarlari nerede ve nasil degistirilir", "tr"),
            ("Где находятся настройки принтера?", "ru"),
            ("プリンターの設定はどこですか？", "ja"),
            ("打印机的设置在哪里？", "zh"),
            ("프린터 설정은 어디에 있나요?", "ko"),
        ];
        for (text, expected) in rows {
            let found = profile_language(text);
            assert_eq!(found.map(|found| found.language), Some(expected), "{text} {found:?}");
        }
        assert_eq!(profile_language("1234 :)"), None);
    }
}
