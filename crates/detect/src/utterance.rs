//! A user message, parsed once: words, cues, vector and the features that pairs are compared by.
//!
//! Cached beside a recent turn, so that a new message costs one parse instead of eleven.

use embed::built_in;
use model::Vector;

use crate::answer_type::{Ask, ask_of};
use crate::hashed_set::Bits;
use crate::lexicon::lexicon;
use crate::phrases::{Cue, Hit, hits};
use crate::text::{Kind, Text, Word, hash, stem};

/// Maximum tokens whose vectors are compared one by one.
const MOST_TOKENS: usize = 48;
/// Maximum words that pair features use.
const MOST_WORDS: usize = 64;

/// A parsed user message.
#[derive(Clone, Debug)]
pub struct Utterance {
    original: String,
    pub(crate) text: Text,
    pub(crate) hits: Vec<Hit>,
    pub(crate) vector: Vector,
    /// Tokens of the built-in vocabulary with their weights, sorted and unique.
    pub(crate) tokens: Vec<(u32, f32)>,
    /// Word hashes in order, without punctuation.
    pub(crate) spoken: Vec<u32>,
    /// Hashes without stop words. This set and those below are sorted and unique.
    pub(crate) content: Vec<u32>,
    /// Word bigrams and letter trigrams, as hashed bits.
    pub(crate) bigrams: Bits<8>,
    pub(crate) trigrams: Bits<32>,
    pub(crate) numbers: Vec<u32>,
    pub(crate) names: Vec<u32>,
    /// Number of negations.
    pub(crate) negations: usize,
    /// Question word among the first words.
    pub(crate) asks: Option<u32>,
    pub(crate) ask: Ask,
    pub(crate) stems: Vec<u32>,
    /// Operators and symbols that change the question: `<`, `!=`, `#`.
    pub(crate) operators: Vec<u32>,
    pub(crate) poles: Vec<u32>,
    /// Pairs of a word and its prefixed negation: ("install", "uninstall").
    pub(crate) undone: Vec<(u32, u32)>,
}

impl Utterance {
    /// Parses a message. Accepts any text.
    pub fn read(original: &str) -> Self {
        let text = Text::read(original);
        let all_tokens = built_in().tokens(original);
        let spoken: Vec<u32> = text.spoken().map(|w| w.hash).collect();
        let words = lexicon();
        let content = spoken.iter().copied().filter(|w| !words.is_common(*w)).collect();
        let bigrams = spoken.windows(2).map(|w| w[0].rotate_left(7) ^ w[1]);
        let is_name = |at: usize, w: &Word| at > 0 && w.capital && w.end - w.start > 1;
        Self {
            original: original.to_owned(),
            hits: hits(&text),
            vector: built_in().embed_tokens(&all_tokens),
            tokens: weighted(&all_tokens),
            content: once(content),
            bigrams: Bits::of(bigrams.take(MOST_WORDS)),
            trigrams: trigrams_of(&text),
            numbers: chosen(&text, |_, w| w.kind == Kind::Number),
            names: chosen(&text, is_name),
            negations: spoken.iter().filter(|w| words.negates(**w)).count(),
            asks: spoken.iter().take(4).copied().find(|w| words.asks(*w)),
            ask: ask_of(&text),
            stems: stems_of(&text),
            operators: operators_in(&text),
            poles: spoken
                .iter()
                .take(MOST_WORDS)
                .copied()
                .filter(|w| words.has_opposite(*w))
                .collect(),
            undone: undone_in(&text),
            spoken,
            text,
        }
    }

    pub fn original(&self) -> &str {
        &self.original
    }

    /// Embedding by the built-in model.
    pub fn vector(&self) -> &Vector {
        &self.vector
    }

    pub(crate) fn has(&self, cue: Cue) -> bool {
        self.hits.iter().any(|hit| hit.cue == cue)
    }

    pub(crate) fn opens_with(&self, cue: Cue) -> bool {
        self.hits.iter().any(|hit| hit.cue == cue && hit.opens)
    }

    /// Byte range of a phrase in the message.
    pub(crate) fn bytes_of(&self, hit: &Hit) -> (usize, usize) {
        let place = |at| self.text.spoken().nth(at).map_or((0, 0), |w| (w.start, w.end));
        (place(hit.first).0, place(hit.last).1)
    }

    /// True when two messages differ only in case, accents and punctuation.
    pub(crate) fn is_resend_of(&self, other: &Self) -> bool {
        if self.spoken.is_empty() && other.spoken.is_empty() {
            return self.original.trim() == other.original.trim();
        }
        self.spoken == other.spoken && self.operators == other.operators
    }
}

/// True for a remark with hardly any content of its own: "no, wrong", "thanks!".
pub fn is_bare(remark: &Utterance) -> bool {
    const FEW: usize = 2;
    let words = lexicon();
    let said: Vec<bool> = {
        let mut covered = vec![false; remark.spoken.len()];
        for hit in &remark.hits {
            covered[hit.first..=hit.last].fill(true);
        }
        covered
    };
    let own = remark.spoken.iter().zip(said).filter(|(word, cue)| !cue && !words.is_common(**word));
    own.count() < FEW
}

pub(crate) fn once(mut all: Vec<u32>) -> Vec<u32> {
    all.sort_unstable();
    all.dedup();
    all
}

fn weighted(tokens: &[u32]) -> Vec<(u32, f32)> {
    let kept = once(tokens.iter().take(MOST_TOKENS).copied().collect());
    kept.into_iter().map(|token| (token, built_in().token_weight(token))).collect()
}

fn chosen(text: &Text, choose: impl Fn(usize, &Word) -> bool) -> Vec<u32> {
    let spoken = text.spoken().enumerate();
    once(spoken.filter(|(at, w)| choose(*at, w)).map(|(_, w)| w.hash).collect())
}

fn stems_of(text: &Text) -> Vec<u32> {
    let words = lexicon();
    let meaning = text.spoken().filter(|w| !words.is_common(w.hash));
    once(meaning.map(|w| hash(0, stem(text.folded(w)).as_bytes())).collect())
}

fn operators_in(text: &Text) -> Vec<u32> {
    // Excludes `/`, `&` and `%`, which prose uses for "or", "and" and "per".
    const OPERATORS: &str = "<>=#+*|^~";
    let is_operator = |w: &Word| w.kind == Kind::Mark && OPERATORS.contains(text.folded(w));
    // `!` counts only before another operator: `!=`.
    let negates = |at: usize| {
        let next = text.words.get(at + 1);
        text.folded(&text.words[at]) == "!"
            && next.is_some_and(|n| is_operator(n) && n.start == text.words[at].end)
    };
    let words = text.words.iter().enumerate();
    once(words.filter(|(at, w)| is_operator(w) || negates(*at)).map(|(_, w)| w.hash).collect())
}

/// Pairs of a word's rest behind a negating prefix and the word itself.
fn undone_in(text: &Text) -> Vec<(u32, u32)> {
    const PREFIXES: [&str; 6] = ["un", "dis", "de", "in", "non", "im"];
    let mut all = Vec::new();
    for word in text.spoken().take(MOST_WORDS) {
        let rests = PREFIXES.iter().filter_map(|prefix| text.folded(word).strip_prefix(prefix));
        let long = rests.filter(|rest| rest.len() >= 3);
        all.extend(long.map(|rest| (hash(0, rest.as_bytes()), word.hash)));
    }
    all
}

/// Letter trigrams, within words and across their edges.
fn trigrams_of(text: &Text) -> Bits<32> {
    let mut bits = Bits::default();
    let space = u32::from(b' ');
    for word in text.spoken().take(MOST_WORDS) {
        let (mut one, mut two) = (space, space);
        for c in text.folded(word).chars().chain([' ']) {
            bits.set((one << 22) ^ (two << 11) ^ u32::from(c));
            (one, two) = (two, u32::from(c));
        }
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_remark_has_no_content() {
        for bare in ["no, wrong", "thanks!", "that's not what I asked", "", "try again please"] {
            assert!(is_bare(&Utterance::read(bare)), "{bare}");
        }
        assert!(!is_bare(&Utterance::read("the first sequence diagram was fine")));
    }
}
