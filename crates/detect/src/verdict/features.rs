//! Input features of the verdict models: the message and its context.

use super::Exchange;
use super::rules::{opens_step, refers_to_answer};
use super::substitution::is_substitution;
use crate::language::{MODEL_LANGUAGES, detect_language};
use crate::pair::count_shared;
use crate::phrases::Cue;
use crate::text::{Word, WordKind};
use crate::utterance::Utterance;
use crate::wide_deep::{Features, SparseFeature, word_ngrams};

/// Words used for n-grams, at the beginning and at the end of a message.
const HEAD_WORDS: usize = 48;
const TAIL_WORDS: usize = 24;

/// Input features of the verdict models. `similarity` is the score of the learnt pair model with the
/// previous question. The order of the features is fixed by the committed models.
pub fn verdict_features(exchange: &Exchange<'_>, similarity: f64) -> Features {
    let mut dense = Vec::with_capacity(400);
    push_cue_features(exchange.message, &mut dense);
    push_form_features(exchange.message, &mut dense);
    push_context_features(exchange, similarity as f32, &mut dense);
    let language = detect_language(&exchange.message.text);
    dense.extend((0..MODEL_LANGUAGES.len()).map(|at| f32::from(at == language)));
    dense.extend(exchange.message.vector.values().iter().map(|v| v * 3.0));
    let sparse = hash_ngrams(exchange.message, exchange.replies_to_question());
    Features { sparse, dense }
}

fn push_cue_features(message: &Utterance, dense: &mut Vec<f32>) {
    let model_cues = Cue::ALL_CUES.iter().skip_while(|cue| **cue != Cue::Negation);
    for cue in model_cues.take_while(|cue| **cue != Cue::OwnFault) {
        dense.push(f32::from(message.has_cue(*cue)));
        dense.push(f32::from(message.opens_with(*cue)));
    }
    let hits = message.hits.iter().filter(|h| h.cue.is_rejecting()).count();
    dense.push((hits as f32).ln_1p());
    let is_pleased = message.has_any_cue(&[Cue::Thanks, Cue::Praise]);
    dense.push(f32::from(is_pleased && message.opens_with(Cue::Negation)));
    dense.push(f32::from(is_pleased && hits > 0));
    dense.push(f32::from(message.has_cue(Cue::Harmless) && message.opens_with(Cue::Negation)));
    dense.push(f32::from(is_pleased && message.has_cue(Cue::Yet)));
    dense.push(f32::from(is_pleased && message.negations > 0));
}

fn push_form_features(message: &Utterance, dense: &mut Vec<f32>) {
    let words = message.word_hashes.len() as f32;
    let original = message.original();
    let marks = |mark: &str| {
        let is_mark = |w: &&Word| w.kind == WordKind::Mark && message.text.folded_word(w) == mark;
        message.text.words.iter().filter(is_mark).count() as f32
    };
    let letters = original.chars().take(400).filter(|c| c.is_alphabetic()).count().max(1) as f32;
    let capitals = original.chars().take(400).filter(|c| c.is_uppercase()).count() as f32;
    dense.extend([
        words.ln_1p() / 4.0,
        f32::from(words <= 2.0),
        f32::from(words <= 5.0),
        f32::from(words > 30.0),
        marks("?").min(3.0) / 3.0,
        marks("!").min(3.0) / 3.0,
        f32::from(original.trim_end().ends_with('?')),
        f32::from(capitals / letters > 0.6 && letters > 4.0),
        f32::from(message.question_word.is_some()),
        (message.negations as f32).min(3.0) / 3.0,
        f32::from(!message.numbers.is_empty()),
        f32::from(original.contains("```") || original.contains("\n    ")),
        f32::from(original.contains("...") || original.contains('…')),
    ]);
}

fn push_context_features(exchange: &Exchange<'_>, similarity: f32, dense: &mut Vec<f32>) {
    let message = exchange.message;
    let of_content = |count: usize| count as f32 / message.content.len().max(1) as f32;
    match exchange.question {
        Some(question) => {
            let both = count_shared(&message.content, &question.content);
            let kept = both as f32 / question.content.len().max(1) as f32;
            let cosine = message.vector.cosine(&question.vector).unwrap_or(0.0);
            let resend = f32::from(message.is_resend_of(question));
            let exchanged = f32::from(is_substitution(message, question));
            let numbers = [&message.numbers, &question.numbers];
            dense.extend([
                1.0,
                similarity,
                f32::from(similarity > 0.5),
                f32::from(similarity > 0.8),
                cosine,
                of_content(both),
                kept,
                resend,
                exchanged,
                exchanged * similarity,
                f32::from(numbers[0] != numbers[1] && numbers.iter().all(|some| !some.is_empty())),
                resend * f32::from(opens_step(exchange)),
            ]);
        }
        None => dense.extend([0.0; 12]),
    }
    let Some(answer) = exchange.answer.filter(|a| !a.is_empty) else {
        dense.extend([0.0; 17]);
        return;
    };
    let both = count_shared(&message.content, &answer.content);
    let cosine = message.vector.cosine(&answer.vector).unwrap_or(0.0);
    let on_topic = exchange.question.and_then(|q| q.vector.cosine(&answer.vector)).unwrap_or(0.0);
    let opens_no = message.opens_with(Cue::Negation);
    let refers = refers_to_answer(exchange);
    dense.extend([
        1.0,
        cosine,
        of_content(both),
        f32::from(refers),
        f32::from(refers || opens_step(exchange)),
        on_topic,
        f32::from(answer.ends_with_question),
        f32::from(answer.asks_yes_no),
        f32::from(answer.apologises),
        answer.refusal_probability,
        f32::from(answer.has_code),
        (answer.word_count as f32).ln_1p() / 6.0,
        f32::from(opens_no && answer.asks_yes_no),
        f32::from(opens_no && !answer.ends_with_question),
        f32::from(opens_no && answer.ends_with_question && message.word_hashes.len() > 4),
        f32::from(message.word_hashes.len() <= 5 && answer.ends_with_question),
        f32::from(message.has_cue(Cue::Harmless) && answer.asks_yes_no),
    ]);
}

/// Word n-grams of length one to three, with markers for the edges of the message.
fn hash_ngrams(message: &Utterance, asked: bool) -> Vec<SparseFeature> {
    let all: Vec<&Word> = message.text.words.iter().collect();
    let chosen: Vec<&Word> = if all.len() <= HEAD_WORDS + TAIL_WORDS {
        all
    } else {
        [&all[..HEAD_WORDS], &all[all.len() - TAIL_WORDS..]].concat()
    };
    let mut features = Vec::with_capacity(chosen.len() * 3 + 8);
    for ngram in word_ngrams(&chosen) {
        features.push(ngram.feature);
        if ngram.first == 0 {
            features.push(ngram.seeded_feature(101));
            features.push(ngram.seeded_feature(if asked { 103 } else { 104 }));
        }
        if ngram.last + 1 == chosen.len() {
            features.push(ngram.seeded_feature(102));
        }
    }
    features
}
