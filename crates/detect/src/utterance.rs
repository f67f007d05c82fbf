//! What a user said, read once: words, cues, vector, and what pairs are compared by.
//!
//! Kept beside a turn while it is recent, so that the next message costs one reading, not eleven.

use embed::built_in;
use event::Vector;

use crate::asking::{Ask, ask_of, stem};
use crate::lexicon::lexicon;
use crate::phrases::{Cue, Hit, hits};
use crate::text::{Kind, Text, Word, hash};

/// Tokens whose vectors are compared one by one; the rest of a long text is left out of that.
const MOST_TOKENS: usize = 48;
/// Character trigrams kept; a long text is compared by its beginning.
const MOST_TRIGRAMS: usize = 400;

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
    pub(crate) bigrams: Vec<u32>,
    pub(crate) trigrams: Vec<u32>,
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
}

impl Utterance {
    /// Reads a message. Any text will do.
    pub fn read(original: &str) -> Self {
        let text = Text::read(original);
        let all_tokens = built_in().tokens(original);
        let spoken: Vec<u32> = text.spoken().map(|w| w.hash).collect();
        let words = lexicon();
        let content = spoken.iter().copied().filter(|w| !words.is_common(*w)).collect();
        let bigrams = spoken.windows(2).map(|w| w[0].rotate_left(7) ^ w[1]).collect();
        let is_name = |at: usize, w: &Word| at > 0 && w.capital && w.end - w.start > 1;
        Self {
            original: original.to_owned(),
            hits: hits(&text),
            vector: built_in().embed_tokens(&all_tokens),
            tokens: weighted(&all_tokens),
            content: once(content),
            bigrams: once(bigrams),
            trigrams: trigrams_of(&text),
            numbers: chosen(&text, |_, w| w.kind == Kind::Number),
            names: chosen(&text, is_name),
            negations: spoken.iter().filter(|w| words.negates(**w)).count(),
            asks: spoken.iter().take(4).copied().find(|w| words.asks(*w)),
            ask: ask_of(&text),
            stems: stems_of(&text),
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
        self.spoken == other.spoken
    }
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

/// Hashes of three letters in a row, within words and across their edges.
fn trigrams_of(text: &Text) -> Vec<u32> {
    let mut all = Vec::with_capacity(MOST_TRIGRAMS);
    for word in text.spoken() {
        let (mut one, mut two) = (u32::from(b' '), u32::from(b' '));
        for c in text.folded(word).chars().chain([' ']) {
            if two != u32::from(b' ') || one == u32::from(b' ') {
                all.push((one << 22) ^ (two << 11) ^ u32::from(c));
            }
            (one, two) = (two, u32::from(c));
        }
        if all.len() >= MOST_TRIGRAMS {
            break;
        }
    }
    once(all)
}
