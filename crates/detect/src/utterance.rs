//! A user message, parsed once: words, cues, vector and the features that pairs are compared by.
//!
//! Cached beside a recent turn, so that a new message costs one parse instead of eleven.

use embed::built_in;
use model::Vector;

use crate::answer_type::{AnswerType, expected_answer_type};
use crate::hashed_set::HashedSet;
use crate::lexicon::lexicon;
use crate::phrases::{Cue, CueHit, find_message_cues};
use crate::text::{FoldedText, Word, WordKind, hash, stem_word};

const MAX_TOKENS: usize = 48;
const MAX_WORDS: usize = 64;

#[derive(Clone, Debug)]
pub struct Utterance {
    original: String,
    pub(crate) text: FoldedText,
    pub(crate) hits: Vec<CueHit>,
    pub(crate) vector: Vector,
    /// Tokens of the built-in vocabulary with their weights, sorted and unique.
    pub(crate) tokens: Vec<(u32, f32)>,
    /// Word hashes in order, without punctuation.
    pub(crate) word_hashes: Vec<u32>,
    /// Hashes without stop words. This set and those below are sorted and unique.
    pub(crate) content: Vec<u32>,
    /// Word bigrams and letter trigrams, as hashed bits.
    pub(crate) bigrams: HashedSet<8>,
    pub(crate) trigrams: HashedSet<32>,
    pub(crate) numbers: Vec<u32>,
    pub(crate) names: Vec<u32>,
    pub(crate) negations: usize,
    pub(crate) question_word: Option<u32>,
    pub(crate) answer_type: AnswerType,
    pub(crate) stems: Vec<u32>,
    /// Operators and symbols that change the question: `<`, `!=`, `#`.
    pub(crate) operators: Vec<u32>,
    pub(crate) words_with_opposites: Vec<u32>,
    /// Pairs of a word and its prefixed negation: ("install", "uninstall").
    pub(crate) prefix_negations: Vec<(u32, u32)>,
}

impl Utterance {
    /// Parses a message. Accepts any text.
    pub fn read(original: &str) -> Self {
        let text = FoldedText::new(original);
        let all_tokens = built_in().tokenize(original);
        let word_hashes: Vec<u32> = text.word_hashes().collect();
        let words = lexicon();
        let content = word_hashes.iter().copied().filter(|w| !words.is_stop_word(*w)).collect();
        let bigrams = word_hashes.windows(2).map(|w| w[0].rotate_left(7) ^ w[1]);
        let opposed =
            word_hashes.iter().copied().take(MAX_WORDS).filter(|w| words.opposites.contains_key(w));
        let is_name = |at: usize, w: &Word| at > 0 && w.capital && w.end - w.start > 1;
        Self {
            original: original.to_owned(),
            hits: find_message_cues(&text),
            vector: built_in().embed_tokens(&all_tokens),
            tokens: weigh_tokens(&all_tokens),
            content: sort_and_dedup(content),
            bigrams: HashedSet::from_hashes(bigrams.take(MAX_WORDS)),
            trigrams: hash_trigrams(&text),
            numbers: select_hashes(&text, |_, w| w.kind == WordKind::Number),
            names: select_hashes(&text, is_name),
            negations: word_hashes.iter().filter(|w| words.negations.contains(w)).count(),
            question_word: word_hashes
                .iter()
                .take(4)
                .copied()
                .find(|w| words.question_words.contains(w)),
            answer_type: expected_answer_type(&text),
            stems: content_stems(&text),
            operators: extract_operators(&text),
            words_with_opposites: opposed.collect(),
            prefix_negations: extract_prefix_negations(&text),
            word_hashes,
            text,
        }
    }

    pub fn original(&self) -> &str {
        &self.original
    }

    pub fn vector(&self) -> &Vector {
        &self.vector
    }

    pub(crate) fn has_cue(&self, cue: Cue) -> bool {
        self.hits.iter().any(|hit| hit.cue == cue)
    }

    pub(crate) fn has_any_cue(&self, cues: &[Cue]) -> bool {
        self.hits.iter().any(|hit| cues.contains(&hit.cue))
    }

    pub(crate) fn ends_with_question(&self) -> bool {
        ends_with_question(&self.original)
    }

    pub(crate) fn opens_with(&self, cue: Cue) -> bool {
        self.hits.iter().any(|hit| hit.cue == cue && hit.is_opening)
    }

    pub(crate) fn cue_span(&self, hit: &CueHit) -> (usize, usize) {
        let place = |at| self.text.lexical_words().nth(at).map_or((0, 0), |w| (w.start, w.end));
        (place(hit.first).0, place(hit.last).1)
    }

    /// True when two messages differ only in case, accents and punctuation.
    pub(crate) fn is_resend_of(&self, other: &Self) -> bool {
        if self.word_hashes.is_empty() && other.word_hashes.is_empty() {
            return self.original.trim() == other.original.trim();
        }
        self.word_hashes == other.word_hashes && self.operators == other.operators
    }
}

/// True for a remark with hardly any content of its own: "no, wrong", "thanks!".
pub fn is_bare_remark(remark: &Utterance) -> bool {
    const MIN_CONTENT_WORDS: usize = 2;
    let mut covered = vec![false; remark.word_hashes.len()];
    for hit in &remark.hits {
        covered[hit.first..=hit.last].fill(true);
    }
    let words = remark.word_hashes.iter().zip(covered);
    let content = words.filter(|(word, covered)| !covered && !lexicon().is_stop_word(**word));
    content.count() < MIN_CONTENT_WORDS
}

/// True for thanks or praise with little else. A user who leaves after such a message has not
/// abandoned the task.
pub fn is_farewell(message: &Utterance) -> bool {
    let pleased = message.has_any_cue(&[Cue::Thanks, Cue::Praise]);
    pleased && !message.ends_with_question() && is_bare_remark(message)
}

pub(crate) fn ends_with_question(text: &str) -> bool {
    text.trim_end().ends_with(['?', '？'])
}

pub(crate) fn sort_and_dedup(mut all: Vec<u32>) -> Vec<u32> {
    all.sort_unstable();
    all.dedup();
    all
}

fn weigh_tokens(tokens: &[u32]) -> Vec<(u32, f32)> {
    let kept = sort_and_dedup(tokens.iter().take(MAX_TOKENS).copied().collect());
    kept.into_iter().map(|token| (token, built_in().token_weight(token))).collect()
}

fn select_hashes(text: &FoldedText, choose: impl Fn(usize, &Word) -> bool) -> Vec<u32> {
    let words = text.lexical_words().enumerate();
    sort_and_dedup(words.filter(|(at, w)| choose(*at, w)).map(|(_, w)| w.hash).collect())
}

fn content_stems(text: &FoldedText) -> Vec<u32> {
    let words = lexicon();
    let content = text.lexical_words().filter(|w| !words.is_stop_word(w.hash));
    sort_and_dedup(content.map(|w| hash(0, stem_word(text.folded_word(w)).as_bytes())).collect())
}

fn extract_operators(text: &FoldedText) -> Vec<u32> {
    // Excludes `/`, `&` and `%`, which prose uses for "or", "and" and "per".
    const OPERATORS: &str = "<>=#+*|^~";
    let is_operator =
        |w: &Word| w.kind == WordKind::Mark && OPERATORS.contains(text.folded_word(w));
    // `!` counts only before another operator: `!=`.
    let negates = |at: usize| {
        let next = text.words.get(at + 1);
        text.folded_word(&text.words[at]) == "!"
            && next.is_some_and(|n| is_operator(n) && n.start == text.words[at].end)
    };
    let words = text.words.iter().enumerate();
    sort_and_dedup(
        words.filter(|(at, w)| is_operator(w) || negates(*at)).map(|(_, w)| w.hash).collect(),
    )
}

/// Pairs of a word's rest behind a negating prefix and the word itself.
fn extract_prefix_negations(text: &FoldedText) -> Vec<(u32, u32)> {
    const NEGATING_PREFIXES: [&str; 6] = ["un", "dis", "de", "in", "non", "im"];
    let mut all = Vec::new();
    for word in text.lexical_words().take(MAX_WORDS) {
        let strip = |prefix: &&str| text.folded_word(word).strip_prefix(prefix);
        let long = NEGATING_PREFIXES.iter().filter_map(strip).filter(|rest| rest.len() >= 3);
        all.extend(long.map(|rest| (hash(0, rest.as_bytes()), word.hash)));
    }
    all
}

/// Letter trigrams, within words and across their edges.
fn hash_trigrams(text: &FoldedText) -> HashedSet<32> {
    let mut trigrams = HashedSet::default();
    let space = u32::from(b' ');
    for word in text.lexical_words().take(MAX_WORDS) {
        let (mut one, mut two) = (space, space);
        for c in text.folded_word(word).chars().chain([' ']) {
            trigrams.insert((one << 22) ^ (two << 11) ^ u32::from(c));
            (one, two) = (two, u32::from(c));
        }
    }
    trigrams
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bare_remarks_have_no_content_words() {
        for bare in ["no, wrong", "thanks!", "that's not what I asked", "", "try again please"] {
            assert!(is_bare_remark(&Utterance::read(bare)), "{bare}");
        }
        assert!(!is_bare_remark(&Utterance::read("the first sequence diagram was fine")));
    }

    #[test]
    fn thanks_are_a_farewell_and_questions_are_not() {
        for kind in ["Thanks!", "thank you so much", "perfect, thanks", "Danke!"] {
            assert!(is_farewell(&Utterance::read(kind)), "{kind}");
        }
        for other in ["thanks?", "no", "What is the capital of Peru?", "", "try again"] {
            assert!(!is_farewell(&Utterance::read(other)), "{other}");
        }
    }
}
