//! What a user said, read once: words, cues, vector, and what pairs are compared by.
//!
//! Kept beside a turn while it is recent, so that the next message costs one reading, not eleven.

use embed::built_in;
use model::Vector;

use crate::asking::{Ask, ask_of, stem};
use crate::bits::Bits;
use crate::lexicon::lexicon;
use crate::phrases::{Cue, Hit, hits};
use crate::text::{Kind, Text, Word, hash};

/// Tokens whose vectors are compared one by one; the rest of a long text is left out of that.
const MOST_TOKENS: usize = 48;
/// Words of a message that pairs are compared by.
const MOST_WORDS: usize = 64;

/// A user's message as the detectors see it.
#[derive(Clone, Debug)]
pub struct Utterance {
    original: String,
    pub(crate) text: Text,
    pub(crate) hits: Vec<Hit>,
    pub(crate) vector: Vector,
    /// Tokens of the built-in vocabulary with their weights, sorted, each once.
    pub(crate) tokens: Vec<(u32, f32)>,
    /// Hashes of the spoken words in order.
    pub(crate) spoken: Vec<u32>,
    /// The sets below are sorted, each entry once. Words that carry meaning:
    pub(crate) content: Vec<u32>,
    /// Two words in a row, and three letters in a row, as hashed bits.
    pub(crate) bigrams: Bits<8>,
    pub(crate) trigrams: Bits<32>,
    pub(crate) numbers: Vec<u32>,
    pub(crate) names: Vec<u32>,
    /// Negating words, counted.
    pub(crate) negations: usize,
    /// The question word it opens with, if any.
    pub(crate) asks: Option<u32>,
    /// The sort of answer it wants.
    pub(crate) ask: Ask,
    /// Content words without their endings.
    pub(crate) stems: Vec<u32>,
    /// Operators and other signs that change what is asked: `<`, `!=`, `#`.
    pub(crate) operators: Vec<u32>,
    /// Words that have an opposite.
    pub(crate) poles: Vec<u32>,
    /// Words that may undo something, and what: ("install", "uninstall").
    pub(crate) undone: Vec<(u32, u32)>,
}

impl Utterance {
    /// Reads a message. Any text will do.
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

    /// The message itself.
    pub fn original(&self) -> &str {
        &self.original
    }

    /// Its direction under the built-in model.
    pub fn vector(&self) -> &Vector {
        &self.vector
    }

    pub(crate) fn has(&self, cue: Cue) -> bool {
        self.hits.iter().any(|hit| hit.cue == cue)
    }

    pub(crate) fn opens_with(&self, cue: Cue) -> bool {
        self.hits.iter().any(|hit| hit.cue == cue && hit.opens)
    }

    /// The bytes that a phrase covers.
    pub(crate) fn bytes_of(&self, hit: &Hit) -> (usize, usize) {
        let place = |at| self.text.spoken().nth(at).map_or((0, 0), |w| (w.start, w.end));
        (place(hit.first).0, place(hit.last).1)
    }

    /// Whether two messages are the same but for case, accents and marks.
    pub(crate) fn is_resend_of(&self, other: &Self) -> bool {
        if self.spoken.is_empty() && other.spoken.is_empty() {
            return self.original.trim() == other.original.trim();
        }
        self.spoken == other.spoken && self.operators == other.operators
    }
}

/// A remark with hardly any content of its own ("no, wrong", "thanks!") is about the last turn.
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

fn once(mut all: Vec<u32>) -> Vec<u32> {
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
    // Not those that prose uses for "and", "or" and "per": / & %.
    const OPERATORS: &str = "<>=#+*|^~";
    let is_operator = |w: &Word| w.kind == Kind::Mark && OPERATORS.contains(text.folded(w));
    // An exclamation mark counts only in front of another operator: `!=`.
    let negates = |at: usize| {
        let next = text.words.get(at + 1);
        text.folded(&text.words[at]) == "!"
            && next.is_some_and(|n| is_operator(n) && n.start == text.words[at].end)
    };
    let words = text.words.iter().enumerate();
    once(words.filter(|(at, w)| is_operator(w) || negates(*at)).map(|(_, w)| w.hash).collect())
}

/// What words with an undoing prefix would be without it.
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

/// Three letters in a row, within words and across their edges.
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
