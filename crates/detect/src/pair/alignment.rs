//! Finds the words that two messages have in common, whatever their spelling or form.

use std::ops::Range;
use std::sync::LazyLock;

use embed::built_in;
use rustc_hash::{FxHashMap, FxHashSet};

use super::distinctions::{Membership, Relation, find_memberships, relate};
use super::spelling::{Spelled, is_same_word};
use crate::lexicon::{lexicon, words_in_set};
use crate::text::{FoldedText, Word, WordKind, hash};
use crate::utterance::Utterance;

/// Words compared per message. Bounds the cost.
const MAX_WORDS: usize = 64;
/// Words without an equal counterpart that are compared by spelling and meaning.
const MAX_COMPARED_WORDS: usize = 12;
const MAX_LOOKED_UP_WORDS: usize = 24;
/// Cosine of two token vectors from which the words mean the same.
const MIN_SYNONYM_COSINE: f32 = 0.6;

/// Weight of a word in place of the vocabulary's, which knows mostly English words.
const UNKNOWN_WORD_WEIGHT: f32 = 1.3;
const NUMBER_WEIGHT: f32 = 1.2;
const IDEOGRAPH_WEIGHT: f32 = 0.6;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Match {
    None,
    /// The same word, in any form or spelling.
    Word,
    /// Another word for the same.
    Synonym,
}

#[derive(Clone, Debug)]
pub(super) struct PairWord<'a> {
    pub text: &'a str,
    pub hash: u32,
    pub kind: WordKind,
    /// Written like a name: a capital within a sentence, or within the word.
    pub is_name: bool,
    /// 0 for words of function or politeness.
    pub weight: f32,
    pub matched: Match,
    /// Index of the first counterpart in the other message.
    pub partner: Option<usize>,
    /// Index of the clause: what commas and full stops separate.
    pub clause: usize,
    /// Highest cosine with a word of the other message that has no counterpart either.
    pub nearest: f32,
    token: Option<u32>,
    is_abbreviation: bool,
    pub memberships: Vec<Membership>,
}

impl PairWord<'_> {
    pub(super) fn is_content(&self) -> bool {
        self.weight > 0.0
    }

    pub(super) fn is_open(&self) -> bool {
        self.matched == Match::None
    }

    fn match_with(&mut self, partner: usize, found: Match) {
        if self.matched != Match::Word {
            self.matched = found;
        }
        self.partner = self.partner.or(Some(partner));
    }

    fn spelled(&self) -> Spelled<'_> {
        Spelled { word: self.text, is_known: self.token.is_some() }
    }

    /// Cosine of two words with content; 0 when the vocabulary lacks one.
    fn cosine(&self, other: &Self) -> f32 {
        match (self.token, other.token) {
            (Some(a), Some(b)) if self.is_content() && other.is_content() => {
                let weights = built_in().token_weight(a) * built_in().token_weight(b);
                built_in().token_dot(a, b) / weights.max(1e-6)
            }
            _ => 0.0,
        }
    }
}

/// The words of both messages with their matches.
#[derive(Debug)]
pub(super) struct Alignment<'a> {
    pub a: Vec<PairWord<'a>>,
    pub b: Vec<PairWord<'a>>,
}

impl<'a> Alignment<'a> {
    pub(super) fn new(a: &'a Utterance, b: &'a Utterance) -> Self {
        let mut both = Self { a: split_words(a), b: split_words(b) };
        both.match_equal_words();
        both.look_up_open_words();
        both.match_similar_words();
        match_compounds(&mut both.a, &mut both.b);
        match_compounds(&mut both.b, &mut both.a);
        both
    }

    fn match_equal_words(&mut self) {
        let hashes = |side: &[PairWord<'_>]| side.iter().map(|word| word.hash).collect();
        let (left, right): (Vec<u32>, Vec<u32>) = (hashes(&self.a), hashes(&self.b));
        for (side, others) in [(&mut self.a, &right), (&mut self.b, &left)] {
            for word in side {
                if let Some(at) = others.iter().position(|other| *other == word.hash) {
                    word.match_with(at, Match::Word);
                }
            }
        }
    }

    fn look_up_open_words(&mut self) {
        for side in [&mut self.a, &mut self.b] {
            for word in side.iter_mut().filter(|w| w.is_open()).take(MAX_LOOKED_UP_WORDS) {
                word.memberships = find_memberships(word.text);
                word.is_abbreviation = ABBREVIATIONS.contains_key(&word.hash);
            }
        }
    }

    fn match_similar_words(&mut self) {
        let (left, right) = (open_words(&self.a), open_words(&self.b));
        for &i in &left {
            for &j in &right {
                let (x, y) = (&mut self.a[i], &mut self.b[j]);
                if is_same(x, y) {
                    x.match_with(j, Match::Word);
                    y.match_with(i, Match::Word);
                    continue;
                }
                let cosine = x.cosine(y);
                x.nearest = x.nearest.max(cosine);
                y.nearest = y.nearest.max(cosine);
                if cosine >= MIN_SYNONYM_COSINE && may_be_synonyms(x, y) {
                    x.match_with(j, Match::Synonym);
                    y.match_with(i, Match::Synonym);
                }
            }
        }
        match_known_words(&mut self.a, &self.b);
        match_known_words(&mut self.b, &self.a);
    }
}

/// Matches forms of words that have an equal counterpart already: "boilers" beside "boiler".
fn match_known_words(side: &mut [PairWord<'_>], other: &[PairWord<'_>]) {
    for at in open_words(side) {
        // Such a word has one meaning, and a form of it is in its class.
        if !side[at].memberships.is_empty() {
            continue;
        }
        let is_same =
            |word: &PairWord<'_>| !word.is_open() && word.is_content() && is_same(&side[at], word);
        if let Some(partner) = other.iter().position(is_same) {
            side[at].match_with(partner, Match::Word);
        }
    }
}

const MIN_COMPOUND_BYTES: usize = 4;

/// Matches "wifi" with "wi fi".
fn match_compounds(side: &mut [PairWord<'_>], other: &mut [PairWord<'_>]) {
    for (i, word) in side.iter_mut().enumerate() {
        if !word.is_open() || word.text.len() < MIN_COMPOUND_BYTES {
            continue;
        }
        for j in 1..other.len() {
            let rest = word.text.strip_prefix(other[j - 1].text);
            if rest == Some(other[j].text) {
                word.match_with(j - 1, Match::Word);
                other[j - 1].match_with(i, Match::Word);
                other[j].match_with(i, Match::Word);
            }
        }
    }
}

fn open_words(words: &[PairWord<'_>]) -> Vec<usize> {
    let open = words.iter().enumerate().filter(|(_, word)| word.is_open());
    open.map(|(at, _)| at).take(MAX_COMPARED_WORDS).collect()
}

/// True for two forms or spellings of one word.
fn is_same(a: &PairWord<'_>, b: &PairWord<'_>) -> bool {
    match relate(&a.memberships, &b.memberships) {
        Relation::Same => return true,
        Relation::Exclusive => return false,
        Relation::Unrelated => {}
    }
    is_abbreviation(a, b)
        || match (a.kind, b.kind) {
            (WordKind::Number, WordKind::Number) => {
                normalize_number(a.text) == normalize_number(b.text)
            }
            (WordKind::Letters, WordKind::Letters) => is_same_word(a.spelled(), b.spelled()),
            _ => false,
        }
}

fn may_be_synonyms(a: &PairWord<'_>, b: &PairWord<'_>) -> bool {
    relate(&a.memberships, &b.memberships) != Relation::Exclusive
        && (!a.is_name || !b.is_name)
        && !is_negated_form(a.text, b.text)
}

/// Prefixes that turn a word into its opposite.
const NEGATING_PREFIXES: [&str; 13] =
    ["un", "dis", "de", "des", "in", "im", "ir", "il", "non", "mis", "ver", "не", "nie"];

/// True for "safe" and "unsafe".
pub(super) fn is_negated_form(a: &str, b: &str) -> bool {
    let negates = |long: &str, short: &str| {
        short.len() > 2 && NEGATING_PREFIXES.iter().any(|p| long.strip_prefix(p) == Some(short))
    };
    negates(a, b) || negates(b, a)
}

/// Short forms with what they stand for.
static ABBREVIATIONS: LazyLock<FxHashMap<u32, Vec<u32>>> = LazyLock::new(|| {
    let mut found: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    let hashed = |word: &str| hash(0, word.as_bytes());
    for (short, long) in words_in_set("abbreviations").filter_map(|pair| pair.split_once('/')) {
        found.entry(hashed(short)).or_default().push(hashed(long));
    }
    found
});

fn is_abbreviation(a: &PairWord<'_>, b: &PairWord<'_>) -> bool {
    let stands_for = |short: &PairWord<'_>, long: &PairWord<'_>| {
        short.is_abbreviation
            && ABBREVIATIONS.get(&short.hash).is_some_and(|all| all.contains(&long.hash))
    };
    stands_for(a, b) || stands_for(b, a)
}

/// Digits without separators of thousands, ordinal endings and units: "1,299" is "1299", "4th" is
/// "4", "30k" is "30000".
fn normalize_number(text: &str) -> String {
    let is_digit = |c: char| c.is_numeric() || c == '.' || c == ',';
    let end = text.find(|c| !is_digit(c)).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    let mut number = String::with_capacity(text.len() + 3);
    for (at, part) in digits.split(['.', ',']).enumerate() {
        if at > 0 && part.len() != 3 {
            number.push('.');
        }
        number.push_str(part);
    }
    match rest {
        "k" => number.push_str("000"),
        "st" | "nd" | "rd" | "th" => {}
        // A code: "60x20", "4k7".
        _ if rest.chars().any(char::is_numeric) => number.push_str(rest),
        _ => {}
    }
    number
}

fn is_function_word(hashed: u32) -> bool {
    static LOADED: LazyLock<FxHashSet<u32>> =
        LazyLock::new(|| words_in_set("request words").map(|w| hash(0, w.as_bytes())).collect());
    lexicon().is_stop_word(hashed) || LOADED.contains(&hashed)
}

fn split_words(message: &Utterance) -> Vec<PairWord<'_>> {
    let text = &message.text;
    let mut words: Vec<PairWord<'_>> = Vec::with_capacity(text.words.len().min(MAX_WORDS));
    let (mut clause, mut starts_clause, mut starts_sentence) = (0, true, true);
    let mut at = 0;
    while at < text.words.len() && words.len() < MAX_WORDS {
        let word = &text.words[at];
        if word.kind == WordKind::Mark {
            let mark = text.folded_word(word);
            starts_sentence |= matches!(mark, "." | "?" | "!" | ";" | ":");
            if starts_sentence || matches!(mark, "," | "(" | ")" | "-" | "…") {
                clause += usize::from(!starts_clause);
                starts_clause = true;
            }
            at += 1;
            continue;
        }
        let range = katakana_run(text, at);
        let folded = text.folded_words(range.clone());
        let is_name = is_written_like_name(message.original(), word, starts_sentence);
        words.push(build_word(strip_elision(folded), word, is_name, clause));
        (starts_sentence, starts_clause) = (false, false);
        at = range.end;
    }
    words
}

/// The noun behind an elided article: "l'impasto" is "impasto".
fn strip_elision(folded: &str) -> &str {
    const MAX_ARTICLE_BYTES: usize = 5;
    const MIN_NOUN_BYTES: usize = 4;
    match folded.split_once('\'') {
        Some((article, noun))
            if article.len() <= MAX_ARTICLE_BYTES && noun.len() >= MIN_NOUN_BYTES =>
        {
            noun
        }
        _ => folded,
    }
}

fn build_word<'a>(folded: &'a str, word: &Word, is_name: bool, clause: usize) -> PairWord<'a> {
    let hash =
        if folded.len() == word.folded_len() { word.hash } else { hash(0, folded.as_bytes()) };
    let token = if word.kind == WordKind::Letters { built_in().whole_token(folded) } else { None };
    let weight = match word.kind {
        _ if is_function_word(hash) => 0.0,
        WordKind::Letters => token.map_or(UNKNOWN_WORD_WEIGHT, |t| built_in().token_weight(t)),
        WordKind::Number => NUMBER_WEIGHT,
        WordKind::Sign if folded.chars().all(is_hiragana) => 0.0,
        WordKind::Sign if folded.chars().count() > 1 => UNKNOWN_WORD_WEIGHT,
        WordKind::Sign => IDEOGRAPH_WEIGHT,
        WordKind::Mark => 0.0,
    };
    PairWord {
        text: folded,
        hash,
        kind: word.kind,
        is_name,
        weight,
        matched: Match::None,
        partner: None,
        clause,
        nearest: 0.0,
        token,
        is_abbreviation: false,
        memberships: Vec::new(),
    }
}

/// The words at `at` that are written together in katakana; one word otherwise.
fn katakana_run(text: &FoldedText, at: usize) -> Range<usize> {
    let is_katakana = |word: &Word| {
        word.kind == WordKind::Sign && text.folded_word(word).chars().all(is_katakana_char)
    };
    let run = text.words[at..].iter().take_while(|word| is_katakana(word)).count();
    at..at + run.max(1)
}

fn is_hiragana(c: char) -> bool {
    matches!(u32::from(c), 0x3040..=0x309F)
}

fn is_katakana_char(c: char) -> bool {
    matches!(u32::from(c), 0x30A0..=0x30FF | 0xFF66..=0xFF9D)
}

/// True for a capital within a sentence ("Berlin") or within a word ("useMemo").
fn is_written_like_name(original: &str, word: &Word, starts_sentence: bool) -> bool {
    let written = &original[word.start..word.end];
    let is_shouted = written.chars().all(|c| !c.is_lowercase());
    let has_inner_capital = written.chars().skip(1).any(char::is_uppercase);
    !is_shouted && (has_inner_capital || word.capital && !starts_sentence)
        || is_shouted && word.capital && !starts_sentence && written.len() > 1
}
