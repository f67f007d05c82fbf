//! An assistant answer, parsed once so that the next message can be judged against it.

use std::sync::OnceLock;

use embed::built_in;
use model::Vector;

use crate::lexicon::lexicon;
use crate::phrases::{Cue, Hit, answer_hits};
use crate::refusal::refusal_features;
use crate::text::{Kind, Text, Word, speech_only};
use crate::utterance::{Utterance, once};
use crate::wide_deep::{Features, Model};

pub fn refusal_model() -> &'static Model {
    static READ: OnceLock<Model> = OnceLock::new();
    READ.get_or_init(|| Model::committed(include_bytes!("../model/refusal.bin")))
}

/// A parsed assistant answer.
#[derive(Clone, Debug)]
pub struct Answer {
    pub(crate) vector: Vector,
    /// Hashes of the words that are not stop words, sorted and unique.
    pub(crate) content: Vec<u32>,
    /// Hashes of names, numbers and longer words, sorted. A user may refer to these.
    pub(crate) terms: Vec<u32>,
    pub(crate) words: usize,
    pub(crate) ends_asking: bool,
    pub(crate) offers: bool,
    pub(crate) apologises: bool,
    pub(crate) has_code: bool,
    pub(crate) is_empty: bool,
    /// Probability that the answer is a refusal, 0 to 1.
    pub(crate) refuses: f32,
    pub(crate) refusal: Features,
}

impl Answer {
    pub fn refusal_probability(&self) -> f32 {
        self.refuses
    }

    pub fn refusal_features(&self) -> &Features {
        &self.refusal
    }

    /// Parses an answer. Accepts any text.
    pub fn read(question: Option<&Utterance>, original: &str) -> Self {
        let speech = speech_only(original);
        let text = Text::read(&speech);
        let whole = Text::read(original);
        let words = lexicon();
        let is_term = |w: &&&Word| {
            w.kind == Kind::Number || w.capital || w.end - w.start >= 6 || w.kind == Kind::Sign
        };
        let meaning: Vec<&Word> = whole.spoken().filter(|w| !words.is_common(w.hash)).collect();
        let refusal = refusal_features(question, &text, original);
        let tail = original.trim_end();
        Self {
            vector: built_in().embed(original),
            content: once(meaning.iter().map(|w| w.hash).collect()),
            terms: once(meaning.iter().filter(is_term).map(|w| w.hash).collect()),
            words: whole.spoken().count(),
            ends_asking: tail.ends_with(['?', '？']),
            offers: offers(&text),
            apologises: opens_sorry(&text),
            has_code: original.contains("```"),
            is_empty: tail.is_empty(),
            refuses: likely_refusal(&text, &refusal),
            refusal,
        }
    }
}

/// Refusal probability, capped for answers without an explicit refusal phrase when they are very
/// short ("None.") or contain a harmless idiom ("I cannot stress enough").
fn likely_refusal(speech: &Text, features: &Features) -> f32 {
    const FEW: usize = 7;
    const UNLIKELY: f32 = 0.3;
    let probability = refusal_model().probability(features);
    let hits = answer_hits(speech);
    let in_idiom = |hit: &Hit| {
        hits.iter().any(|idiom| {
            idiom.cue == Cue::Idiom && idiom.first <= hit.last && hit.first <= idiom.last
        })
    };
    let declines = hits.iter().any(|hit| hit.cue == Cue::Declines && !in_idiom(hit));
    let has_idiom = hits.iter().any(|hit| hit.cue == Cue::Idiom);
    let short = speech.spoken().count() < FEW;
    if !declines && (short || has_idiom) { probability.min(UNLIKELY) } else { probability }
}

/// True when the answer ends with a yes/no question: "would you like …?", "anything else?".
fn offers(text: &Text) -> bool {
    let Some(question) = text.words.iter().rposition(|w| text.folded(w) == "?") else {
        return false;
    };
    if question + 3 < text.words.len() {
        return false;
    }
    let ends = |w: &Word| matches!(text.folded(w), "." | "!" | "?" | ":" | "\n");
    let start = text.words[..question].iter().rposition(ends).map_or(0, |at| at + 1);
    let mut first = text.words[start..question].iter().filter(|w| w.kind != Kind::Mark).take(3);
    first.any(|word| lexicon().yes_no_openings.contains(&word.hash))
}

fn opens_sorry(text: &Text) -> bool {
    text.spoken().take(8).any(|w| lexicon().apology.contains(&w.hash))
}
