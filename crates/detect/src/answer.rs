//! An assistant answer, parsed once so that the next message can be judged against it.

use std::sync::LazyLock;

use embed::built_in;
use model::Vector;

use crate::lexicon::lexicon;
use crate::phrases::{Cue, CueHit, find_answer_cues};
use crate::refusal::refusal_features;
use crate::stems::collect_stems;
use crate::text::{FoldedText, Word, WordKind, mask_code_and_quotes};
use crate::utterance::{Utterance, ends_with_question, sort_and_dedup};
use crate::wide_deep::{Features, WideDeepModel};

pub(crate) static REFUSAL_MODEL: LazyLock<WideDeepModel> =
    LazyLock::new(|| WideDeepModel::load_committed(include_bytes!("../model/refusal.bin")));

#[derive(Clone, Debug)]
pub struct Answer {
    pub(crate) vector: Vector,
    /// Hashes of the words that are not stop words, sorted and unique.
    pub(crate) content: Vec<u32>,
    /// Hashes of names, numbers and longer words, sorted. A user may refer to these.
    pub(crate) terms: Vec<u32>,
    /// Stems of the first words, sorted and unique. See [`collect_stems`].
    pub(crate) stems: Vec<u32>,
    pub(crate) word_count: usize,
    pub(crate) ends_with_question: bool,
    pub(crate) asks_yes_no: bool,
    pub(crate) apologises: bool,
    pub(crate) has_code: bool,
    pub(crate) is_empty: bool,
    pub refusal_probability: f32,
    pub refusal_features: Features,
}

impl Answer {
    /// Parses an answer. Accepts any text.
    pub fn read(question: Option<&Utterance>, original: &str) -> Self {
        let prose = mask_code_and_quotes(original);
        let text = FoldedText::new(&prose);
        let whole = FoldedText::new(original);
        let words = lexicon();
        let is_term = |w: &&&Word| {
            w.kind == WordKind::Number
                || w.capital
                || w.end - w.start >= 6
                || w.kind == WordKind::Sign
        };
        let meaning: Vec<&Word> =
            whole.lexical_words().filter(|w| !words.is_stop_word(w.hash)).collect();
        let refusal_features = refusal_features(question, &text, original);
        let tail = original.trim_end();
        Self {
            vector: built_in().embed(original),
            content: sort_and_dedup(meaning.iter().map(|w| w.hash).collect()),
            terms: sort_and_dedup(meaning.iter().filter(is_term).map(|w| w.hash).collect()),
            stems: collect_stems(&whole),
            word_count: whole.lexical_words().count(),
            ends_with_question: ends_with_question(original),
            asks_yes_no: ends_with_yes_no_question(&text),
            apologises: opens_with_apology(&text),
            has_code: original.contains("```"),
            is_empty: tail.is_empty(),
            refusal_probability: capped_refusal_probability(&text, &refusal_features),
            refusal_features,
        }
    }
}

/// Refusal probability, capped for answers without an explicit refusal phrase when they are very
/// short ("None.") or contain a harmless idiom ("I cannot stress enough").
fn capped_refusal_probability(prose: &FoldedText, features: &Features) -> f32 {
    const MIN_REFUSAL_WORDS: usize = 7;
    const MAX_PROBABILITY_WITHOUT_CUE: f32 = 0.3;
    let probability = REFUSAL_MODEL.predict_probability(features);
    let hits = find_answer_cues(prose);
    let in_idiom =
        |hit: &CueHit| hits.iter().any(|other| other.cue == Cue::Idiom && other.overlaps(hit));
    let declines = hits.iter().any(|hit| hit.cue == Cue::Declines && !in_idiom(hit));
    let has_idiom = hits.iter().any(|hit| hit.cue == Cue::Idiom);
    let short = prose.lexical_words().count() < MIN_REFUSAL_WORDS;
    if !declines && (short || has_idiom) {
        probability.min(MAX_PROBABILITY_WITHOUT_CUE)
    } else {
        probability
    }
}

/// True when the answer ends with a yes/no question: "would you like …?", "anything else?".
fn ends_with_yes_no_question(text: &FoldedText) -> bool {
    let Some(question) = text.words.iter().rposition(|w| text.folded_word(w) == "?") else {
        return false;
    };
    if question + 3 < text.words.len() {
        return false;
    }
    let ends = |w: &Word| matches!(text.folded_word(w), "." | "!" | "?" | ":" | "\n");
    let start = text.words[..question].iter().rposition(ends).map_or(0, |at| at + 1);
    let mut first = text.words[start..question].iter().filter(|w| w.kind != WordKind::Mark).take(3);
    first.any(|word| lexicon().yes_no_openings.contains(&word.hash))
}

fn opens_with_apology(text: &FoldedText) -> bool {
    text.lexical_words().take(8).any(|w| lexicon().apology.contains(&w.hash))
}
