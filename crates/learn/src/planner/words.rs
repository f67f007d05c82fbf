//! Words of a text with their byte ranges, comparison of words, and word lists in the languages
//! supported for corrections.

use crate::text::list_contains;

/// Articles, pronouns and "one", which name nothing by themselves.
const FUNCTION_WORDS: &str = "a an the this that these those one ones some any my our your me it its them der die das den \
    dem ein eine einen le la les un une des el los las una unos il lo gli het een os um uma mein \
    meine mon mes mi meu minha mio mia mijn";

/// Prepositions and conjunctions that only link a phrase to the words before it.
const LINKING_PREPOSITIONS: &str = "to for from in on at of by about as per and or nach für von zu aus im pour dans à de du para \
    por en di da do em voor naar van op und et y e ou o";

/// Prepositions with a meaning of their own.
const MEANINGFUL_PREPOSITIONS: &str = "with without under over above below before after between since until near like mit ohne \
    unter über vor avec sans sous con sin com sem senza met zonder onder";

/// Words of a clause: subjects, auxiliary verbs, and verbs that describe answers.
pub(super) const CLAUSE_WORDS: &str = "i i'm i'd i've i'll im you you're he she we we're they they're it's that's thats there's \
    what's who which is are was were am be does did doesn't don't didn't isn't can can't will \
    would should could must has had said says asked wait but so because not never talks tells \
    mentions explains gives shows returns describes defines answers lists uses ich du wir ist \
    sind war habe hat nicht aber je j'ai tu nous est n'ai faut pas non mais yo es está pero eu é \
    não nao mas sono è ma ik niet maar vind que qu'il diz dit";

pub(super) const WISH_WORDS: &str = "meant mean want wanted need needed said asked asking prefer instead rather please looking \
    meinte meine wollte will möchte brauche statt anstatt bitte voulais veux lieu plutôt quería \
    quiero refería vez lugar queria quero quis intendevo volevo voglio invece bedoelde wil wilde \
    plaats graag";

pub(super) const NEGATIVE_OPENINGS: &str = "no nope nah nein non nee não nao wrong sorry";

#[derive(Clone, Debug)]
pub(super) struct Word<'a> {
    source: &'a str,
    /// Byte offset of the first byte.
    pub start: usize,
    pub end: usize,
    key: String,
}

impl Word<'_> {
    /// Compares ignoring case and English plural.
    pub(super) fn matches(&self, other: &Word<'_>) -> bool {
        self.key == other.key
            || is_plural(&self.key, &other.key)
            || is_plural(&other.key, &self.key)
    }

    /// Lower-case form without a possessive ending.
    pub(super) fn key(&self) -> &str {
        &self.key
    }

    pub(super) fn text(&self) -> &str {
        self.source.get(self.start..self.end).unwrap_or_default()
    }

    pub(super) fn is_function_word(&self) -> bool {
        list_contains(FUNCTION_WORDS, &self.key)
    }

    pub(super) fn is_linking_preposition(&self) -> bool {
        list_contains(LINKING_PREPOSITIONS, &self.key)
    }

    pub(super) fn is_preposition(&self) -> bool {
        self.is_linking_preposition() || list_contains(MEANINGFUL_PREPOSITIONS, &self.key)
    }

    /// True for a word that names or describes something.
    pub(super) fn is_content(&self) -> bool {
        !self.is_function_word() && !self.is_preposition()
    }

    /// True for numbers, prices and years.
    pub(super) fn is_number(&self) -> bool {
        let digits = self.key.chars().filter(char::is_ascii_digit).count();
        digits > 0 && digits * 2 >= self.key.chars().count()
    }
}

pub(super) fn split_words(text: &str) -> Vec<Word<'_>> {
    let mut found = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match (is_word_char(c), start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                found.extend(make_word(text, from, at));
                start = None;
            }
            (true, Some(_)) | (false, None) => {}
        }
    }
    found
}

fn is_word_char(c: char) -> bool {
    let combining = ('\u{300}'..='\u{36f}').contains(&c);
    c.is_alphanumeric() || combining || "$€£¥#@%+_^'’-.&".contains(c)
}

/// Builds the word of a byte range, without punctuation at its ends.
fn make_word(source: &str, from: usize, to: usize) -> Option<Word<'_>> {
    let raw = source.get(from..to)?;
    let tail = raw.trim_start_matches(|c| "'’-.&%+".contains(c));
    let start = to - tail.len();
    let text = tail.trim_end_matches(|c| "'’-.&".contains(c));
    let named = text.chars().any(char::is_alphanumeric);
    let lower = text.to_lowercase();
    let key = lower.strip_suffix("'s").or(lower.strip_suffix("’s")).unwrap_or(&lower).to_owned();
    named.then_some(Word { source, start, end: start + text.len(), key })
}

/// English plurals: laptop → laptops, box → boxes, query → queries.
fn is_plural(many: &str, one: &str) -> bool {
    if one.len() < 3 {
        return false;
    }
    let hisses = ["s", "x", "z", "ch", "sh"].iter().any(|end| one.ends_with(end));
    match many.strip_prefix(one) {
        Some("s") => !hisses,
        Some("es") => hisses,
        Some(_) => false,
        None => one
            .strip_suffix('y')
            .is_some_and(|stem| many.strip_prefix(stem).is_some_and(|ending| ending == "ies")),
    }
}

/// Source text from the first word to the last.
pub(super) fn phrase_text<'a>(words: &[Word<'a>]) -> &'a str {
    let ends = words.first().zip(words.last());
    ends.and_then(|(first, last)| first.source.get(first.start..last.end)).unwrap_or_default()
}

pub(super) fn is_same_phrase(a: &[Word<'_>], b: &[Word<'_>]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.matches(b))
}

pub(super) fn contains_word(words: &[Word<'_>], word: &Word<'_>) -> bool {
    words.iter().any(|other| other.matches(word))
}

/// Index of the first occurrence of a phrase, searched from word `from` on.
pub(super) fn find_phrase(words: &[Word<'_>], wanted: &[Word<'_>], from: usize) -> Option<usize> {
    let windows = words.get(from..)?.windows(wanted.len().max(1));
    windows.enumerate().find(|(_, window)| is_same_phrase(window, wanted)).map(|(at, _)| from + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn word_split_strips_sentence_punctuation() {
        let rows = [
            ("No, I'm (really) sure...", "No|I'm|really|sure"),
            ("C++ or C#, under $1,000 at 5%.", "C++|or|C#|under|$1|000|at|5%"),
            ("e-mail 'quoted' -- v1.5", "e-mail|quoted|v1.5"),
            ("… ¿qué? 你好", "qué|你好"),
            ("'- . &", ""),
        ];
        for (text, expected) in rows {
            let found: Vec<&str> =
                split_words(text).iter().map(|w| &text[w.start..w.end]).collect();
            assert_eq!(found.join("|"), expected, "{text}");
        }
    }

    #[test]
    fn singular_and_plural_match_as_one_word() {
        let rows = [
            ("laptop", "Laptops", true),
            ("boxes", "box", true),
            ("query", "queries", true),
            ("company's", "company", true),
            ("plan", "plane", false),
            ("car", "care", false),
            ("as", "a", false),
            ("mass", "mas", false),
            ("month", "monthly", false),
        ];
        for (a, b, expected) in rows {
            assert_eq!(split_words(a)[0].matches(&split_words(b)[0]), expected, "{a} {b}");
            assert_eq!(split_words(b)[0].matches(&split_words(a)[0]), expected, "{b} {a}");
        }
    }
}
