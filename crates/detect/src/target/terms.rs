//! Content terms of a text, and how well two of them match.

use std::sync::LazyLock;

use embed::built_in;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::lexicon::{lexicon, words_in_set};
use crate::references::SYNONYM_GROUPS;
use crate::text::{FoldedText, Word, WordKind, hash, is_ideograph, stem_word};

/// Terms read from a text. Bounds the work.
const MAX_TERMS: usize = 120;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TermKind {
    Word,
    Number,
    /// Two neighbouring ideographs or kana.
    Signs,
}

/// A word, a number or a pair of signs that carries meaning.
#[derive(Clone, Debug)]
pub(super) struct Term<'a> {
    kind: TermKind,
    /// Hash of the stem, of the digits or of both signs.
    key: u32,
    stem: &'a str,
    /// The whole token of the embedding table.
    token: Option<u32>,
    synonyms: Option<usize>,
    /// Index of the word, without punctuation.
    pub at: usize,
    pub capital: bool,
    pub weight: f64,
}

struct WordSets {
    /// Words without meaning of their own, beside the stop words.
    empty: FxHashSet<u32>,
    judging: FxHashSet<u32>,
    your: FxHashSet<u32>,
    contrast: FxHashSet<u32>,
    /// Synonym group by the hash of a stem.
    synonyms: FxHashMap<u32, usize>,
    /// Digits by the hash of a number word.
    numbers: FxHashMap<u32, u32>,
}

static SETS: LazyLock<WordSets> = LazyLock::new(|| {
    let set = |name| words_in_set(name).map(|word| hash(0, word.as_bytes())).collect();
    let mut synonyms = FxHashMap::default();
    let mut numbers = FxHashMap::default();
    for (at, group) in SYNONYM_GROUPS.iter().enumerate() {
        let digits = group.first().filter(|first| first.starts_with(|c: char| c.is_ascii_digit()));
        for stem in group {
            match digits {
                Some(digits) => drop(numbers.insert(key_of(stem), key_of(digits))),
                None => drop(synonyms.entry(key_of(stem)).or_insert(at)),
            }
        }
    }
    WordSets {
        empty: set("empty words"),
        judging: set("judging words"),
        your: set("your"),
        contrast: set("contrast"),
        synonyms,
        numbers,
    }
});

fn key_of(text: &str) -> u32 {
    hash(0, text.as_bytes())
}

pub(super) fn is_judging(word: u32) -> bool {
    SETS.judging.contains(&word)
}

/// True for "your".
pub(super) fn is_your(word: u32) -> bool {
    SETS.your.contains(&word)
}

/// True for "but".
pub(super) fn is_contrast(word: u32) -> bool {
    SETS.contrast.contains(&word)
}

pub(super) fn content_terms(text: &FoldedText) -> Vec<Term<'_>> {
    let words: Vec<&Word> = text.lexical_words().collect();
    let mut terms = Vec::with_capacity(words.len().min(MAX_TERMS));
    for (at, word) in words.iter().enumerate() {
        let next = words.get(at + 1).copied();
        terms.extend(read_term(text, word, next).map(|term| Term { at, ..term }));
        if terms.len() == MAX_TERMS {
            break;
        }
    }
    terms
}

fn read_term<'a>(text: &'a FoldedText, word: &Word, next: Option<&Word>) -> Option<Term<'a>> {
    const NUMBER_WEIGHT: f64 = 2.2;
    const SHORT_NUMBER_WEIGHT: f64 = 1.2;
    const SIGNS_WEIGHT: f64 = 2.0;
    let folded = text.folded_word(word);
    let term = |kind, key, weight| Term {
        kind,
        key,
        stem: "",
        token: None,
        synonyms: None,
        at: 0,
        capital: false,
        weight,
    };
    match word.kind {
        WordKind::Mark => None,
        WordKind::Number => {
            let digits = normalize_number(folded);
            let weight = if digits.len() > 1 { NUMBER_WEIGHT } else { SHORT_NUMBER_WEIGHT };
            Some(term(TermKind::Number, key_of(&digits), weight))
        }
        WordKind::Sign => {
            let next = next.filter(|next| next.kind == WordKind::Sign && next.start == word.end)?;
            let other = text.folded_word(next);
            let carries = |sign: &str| sign.chars().all(carries_meaning);
            let key = key_of(folded).rotate_left(7) ^ key_of(other);
            (carries(folded) && carries(other)).then(|| term(TermKind::Signs, key, SIGNS_WEIGHT))
        }
        WordKind::Letters => {
            if let Some(digits) = SETS.numbers.get(&word.hash).filter(|_| folded.len() > 2) {
                return Some(term(TermKind::Number, *digits, 1.0));
            }
            let is_empty = lexicon().is_stop_word(word.hash) || SETS.empty.contains(&word.hash);
            if is_empty || (folded.len() == 1 && !word.capital) {
                return None;
            }
            let stem = stem_word(folded);
            let key = key_of(stem);
            let is_long = folded.is_ascii() && folded.len() > 2;
            Some(Term {
                stem,
                token: if is_long { built_in().whole_token(folded) } else { None },
                synonyms: SETS.synonyms.get(&key).copied(),
                capital: word.capital,
                ..term(TermKind::Word, key, 1.0)
            })
        }
    }
}

/// "1,240.00" and "1240" have the same form.
fn normalize_number(folded: &str) -> String {
    let digits: String = folded.chars().filter(|c| *c != ',').collect();
    let whole = match digits.split_once('.') {
        Some((whole, rest)) if rest.chars().all(|c| c == '0') => whole,
        _ => digits.as_str(),
    };
    let bare = whole.trim_start_matches('0');
    if bare.is_empty() { "0".to_owned() } else { bare.to_owned() }
}

/// False for hiragana and for the commonest Chinese function words.
fn carries_meaning(sign: char) -> bool {
    const FUNCTION_SIGNS: &str =
        "的了是我你他她它不这那个有在和就都也很吗呢吧啊们么什怎没还要给把被让会能可以上下一";
    let is_hiragana = matches!(u32::from(sign), 0x3040..=0x309F);
    is_ideograph(sign) && !is_hiragana && !FUNCTION_SIGNS.contains(sign)
}

/// Weight of a word; rare words weigh more.
pub(super) fn rarity(folded: &str) -> f64 {
    const UNKNOWN_TOKEN: u32 = 100;
    const UNKNOWN_WEIGHT: f64 = 2.0;
    let tokens = built_in().tokenize(folded);
    if tokens.is_empty() || tokens.contains(&UNKNOWN_TOKEN) {
        return UNKNOWN_WEIGHT;
    }
    tokens.iter().map(|token| f64::from(built_in().token_weight(*token))).fold(0.0, f64::max)
}

impl Term<'_> {
    pub(super) fn is_word(&self) -> bool {
        self.kind == TermKind::Word
    }

    pub(super) fn is_embeddable(&self) -> bool {
        self.token.is_some()
    }

    /// Equal for terms that match with strength 1.
    pub(super) fn identity(&self) -> (bool, u32) {
        (self.is_word(), self.key)
    }

    /// 1 for the same word, less for inflections, compounds and names of the same sort of thing,
    /// 0 for different terms.
    pub(super) fn match_strength(&self, other: &Self) -> f64 {
        const INFLECTED: f64 = 0.8;
        const RELATED: f64 = 0.7;
        if self.kind != other.kind {
            return 0.0;
        }
        if self.key == other.key {
            return 1.0;
        }
        if self.kind != TermKind::Word {
            return 0.0;
        }
        if is_inflection(self.stem, other.stem) {
            INFLECTED
        } else if is_compound(self.stem, other.stem)
            || (self.synonyms.is_some() && self.synonyms == other.synonyms)
        {
            RELATED
        } else {
            0.0
        }
    }

    /// Cosine of two English words; 0 for words that the embedding table does not hold.
    pub(super) fn cosine(&self, other: &Self) -> f64 {
        let Some((a, b)) = self.token.zip(other.token) else { return 0.0 };
        let norm = built_in().token_dot(a, a) * built_in().token_dot(b, b);
        if norm > 0.0 { f64::from(built_in().token_dot(a, b) / norm.sqrt()) } else { 0.0 }
    }
}

/// True for words that share most of their letters from the beginning: "faturamı" and "fatura".
fn is_inflection(a: &str, b: &str) -> bool {
    const MIN_SHARED_LETTERS: usize = 4;
    if a.chars().next() != b.chars().next() {
        return false;
    }
    let shared = a.chars().zip(b.chars()).take_while(|(x, y)| x == y).count();
    let longest = a.chars().count().max(b.chars().count());
    shared >= MIN_SHARED_LETTERS && shared * 10 >= longest * 7
}

/// True when one word begins or ends with the other: "Testabfrage" and "Abfrage".
fn is_compound(a: &str, b: &str) -> bool {
    const MIN_PART_LETTERS: usize = 5;
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    (long.starts_with(short) || long.ends_with(short)) && short.chars().count() >= MIN_PART_LETTERS
}
