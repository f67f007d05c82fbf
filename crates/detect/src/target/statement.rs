//! Separates what a message states from what it asks for: only statements judge an earlier answer.

use std::sync::LazyLock;

use rustc_hash::FxHashSet;

use crate::lexicon::{lexicon, words_in_set};
use crate::phrases::Cue;
use crate::text::{Word, WordKind, hash};
use crate::utterance::Utterance;

/// Words that may stand before a request: "great, now", "ok and".
const MAX_OPENING_WORDS: usize = 3;
/// Minimum words of a statement without a phrase that judges.
const MIN_STATEMENT_WORDS: usize = 3;

/// Words of a message that is longer than most follow-up fragments ("and for the car?").
const MIN_REMARK_WORDS: usize = 6;

struct WordSets {
    requests: FxHashSet<u32>,
    statements: FxHashSet<u32>,
    persons: FxHashSet<u32>,
    persistence: FxHashSet<u32>,
}

static SETS: LazyLock<WordSets> = LazyLock::new(|| {
    let set = |name| words_in_set(name).map(|word| hash(0, word.as_bytes())).collect();
    WordSets {
        requests: set("request openings"),
        statements: set("statement words"),
        persons: set("persons"),
        persistence: set("persistence"),
    }
});

/// A sentence: its words, without punctuation.
struct Sentence {
    first: usize,
    end: usize,
    asks: bool,
}

/// For each word, without punctuation, whether it belongs to a statement. A message that is known to
/// judge may do so in a question: "the ten hours, where is that from?"
pub(super) fn stated_words(message: &Utterance, judges: bool) -> Vec<bool> {
    let mut stated = vec![true; message.word_hashes.len()];
    for sentence in split_sentences(message) {
        let asks = if sentence.asks && !judges { Some(sentence.first) } else { None };
        if let Some(from) = asks.or_else(|| request_start(message, &sentence)) {
            stated[from..sentence.end].fill(false);
        }
    }
    stated
}

/// True when a message that contains no clear judgement may still be a remark on an answer.
pub(super) fn is_remark(message: &Utterance, stated: &[bool]) -> bool {
    let continues = message.opens_with(Cue::Continuation) || message.opens_with(Cue::Step);
    let words = || message.word_hashes.iter().zip(stated).filter(|(_, stated)| **stated);
    let is_sign = |word: &u32| SETS.statements.contains(word) || lexicon().negations.contains(word);
    let count = words().count();
    let has_sign = || count >= MIN_STATEMENT_WORDS && words().any(|(word, _)| is_sign(word));
    !continues && (count >= MIN_REMARK_WORDS || has_sign())
}

/// True for "still …": the problem with the last answer persists.
pub(super) fn persists(message: &Utterance) -> bool {
    message.word_hashes.first().is_some_and(|word| SETS.persistence.contains(word))
}

fn split_sentences(message: &Utterance) -> Vec<Sentence> {
    let mut sentences = Vec::new();
    let (mut first, mut at) = (0, 0);
    for word in &message.text.words {
        if word.kind != WordKind::Mark {
            at += 1;
            continue;
        }
        let mark = message.text.folded_word(word);
        if matches!(mark, "." | "!" | "?" | ";") && at > first {
            sentences.push(Sentence { first, end: at, asks: mark == "?" });
            first = at;
        }
    }
    if at > first {
        sentences.push(Sentence { first, end: at, asks: false });
    }
    sentences
}

/// Index of the word that starts a request: a request opening behind at most a few empty or
/// judging words.
fn request_start(message: &Utterance, sentence: &Sentence) -> Option<usize> {
    let end = sentence.end.min(sentence.first + MAX_OPENING_WORDS);
    let words = message.text.lexical_words().enumerate().take(end).skip(sentence.first);
    for (at, Word { hash: word, kind, .. }) in words {
        // A cue of one sign says too little.
        let has_cues = *kind != WordKind::Sign;
        let starts_cue = |cues: &[Cue]| {
            has_cues && message.hits.iter().any(|hit| hit.first == at && cues.contains(&hit.cue))
        };
        // "What you said first" names an answer.
        let next = message.word_hashes.get(at + 1);
        let is_clause = !sentence.asks && next.is_some_and(|next| SETS.persons.contains(next));
        if (SETS.requests.contains(word) && !is_clause)
            || starts_cue(&[Cue::Step, Cue::FollowUp, Cue::DrillDown, Cue::Comparison])
        {
            return Some(at);
        }
        let is_filler = lexicon().preamble.contains(word)
            || starts_cue(&[
                Cue::Praise,
                Cue::Thanks,
                Cue::Filler,
                Cue::Continuation,
                Cue::Harmless,
            ]);
        if !is_filler {
            return None;
        }
    }
    None
}
