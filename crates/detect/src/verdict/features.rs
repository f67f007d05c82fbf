//! Input features of the verdict models: the message and its context.

use super::Exchange;
use super::rules::{opens_step, refers_to_answer};
use super::substitution::is_exchanged;
use crate::language::{LANGUAGES, language_of};
use crate::pair::shared;
use crate::phrases::Cue;
use crate::text::{Kind, Word, hash};
use crate::utterance::Utterance;
use crate::wide_deep::{Features, Sparse};

/// Words used for n-grams, at the beginning and at the end of a message.
const HEAD: usize = 48;
const TAIL: usize = 24;

/// Input features of the verdict models. `likeness` is the pair score with the previous question.
/// The order of the features is fixed by the committed models.
pub fn verdict_features(exchange: &Exchange<'_>, likeness: f64) -> Features {
    let mut dense = Vec::with_capacity(400);
    of_cues(exchange.message, &mut dense);
    of_form(exchange.message, &mut dense);
    of_context(exchange, likeness as f32, &mut dense);
    let language = language_of(&exchange.message.text);
    dense.extend((0..LANGUAGES.len()).map(|at| f32::from(at == language)));
    dense.extend(exchange.message.vector.values().iter().map(|v| v * 3.0));
    let asked = exchange.answer.is_some_and(|a| a.ends_asking);
    Features { sparse: grams(exchange.message, asked), dense }
}

fn of_cues(message: &Utterance, dense: &mut Vec<f32>) {
    for cue in MESSAGE_CUES {
        dense.push(f32::from(message.has(*cue)));
        dense.push(f32::from(message.opens_with(*cue)));
    }
    let negative = [Cue::Correction, Cue::Rejection, Cue::Retry, Cue::Quality];
    let hits = message.hits.iter().filter(|h| negative.contains(&h.cue)).count();
    dense.push((hits as f32).ln_1p());
    let glad = message.has(Cue::Thanks) || message.has(Cue::Praise);
    dense.push(f32::from(glad && message.opens_with(Cue::Negation)));
    dense.push(f32::from(glad && hits > 0));
    dense.push(f32::from(message.has(Cue::Harmless) && message.opens_with(Cue::Negation)));
    dense.push(f32::from(glad && message.has(Cue::Yet)));
    dense.push(f32::from(glad && message.negations > 0));
}

const MESSAGE_CUES: &[Cue] = &[
    Cue::Negation,
    Cue::Correction,
    Cue::Rejection,
    Cue::Retry,
    Cue::Quality,
    Cue::Want,
    Cue::Abandonment,
    Cue::Thanks,
    Cue::Praise,
    Cue::Harmless,
    Cue::Decline,
    Cue::Dislike,
    Cue::Action,
    Cue::FollowUp,
    Cue::DrillDown,
    Cue::Comparison,
    Cue::Continuation,
    Cue::Step,
    Cue::Filler,
    Cue::Puzzled,
];

fn of_form(message: &Utterance, dense: &mut Vec<f32>) {
    let words = message.spoken.len() as f32;
    let original = message.original();
    let marks = |mark: &str| {
        message
            .text
            .words
            .iter()
            .filter(|w| w.kind == Kind::Mark && message.text.folded(w) == mark)
            .count() as f32
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
        f32::from(message.asks.is_some()),
        (message.negations as f32).min(3.0) / 3.0,
        f32::from(!message.numbers.is_empty()),
        f32::from(original.contains("```") || original.contains("\n    ")),
        f32::from(original.contains("...") || original.contains('…')),
    ]);
}

fn of_context(exchange: &Exchange<'_>, likeness: f32, dense: &mut Vec<f32>) {
    let message = exchange.message;
    let of_content = |count: usize| count as f32 / message.content.len().max(1) as f32;
    match exchange.question {
        Some(question) => {
            let both = shared(&message.content, &question.content);
            let kept = both as f32 / question.content.len().max(1) as f32;
            let cosine = message.vector.cosine(&question.vector).unwrap_or(0.0);
            let resend = f32::from(message.is_resend_of(question));
            let exchanged = f32::from(is_exchanged(message, question));
            let numbers = [&message.numbers, &question.numbers];
            dense.extend([
                1.0,
                likeness,
                f32::from(likeness > 0.5),
                f32::from(likeness > 0.8),
                cosine,
                of_content(both),
                kept,
                resend,
                exchanged,
                exchanged * likeness,
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
    let both = shared(&message.content, &answer.content);
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
        f32::from(answer.ends_asking),
        f32::from(answer.offers),
        f32::from(answer.apologises),
        answer.refuses,
        f32::from(answer.has_code),
        (answer.words as f32).ln_1p() / 6.0,
        f32::from(opens_no && answer.offers),
        f32::from(opens_no && !answer.ends_asking),
        f32::from(opens_no && answer.ends_asking && message.spoken.len() > 4),
        f32::from(message.spoken.len() <= 5 && answer.ends_asking),
        f32::from(message.has(Cue::Harmless) && answer.offers),
    ]);
}

/// Word n-grams of length one to three, with markers for the edges of the message.
fn grams(message: &Utterance, asked: bool) -> Vec<Sparse> {
    let all: Vec<&Word> = message.text.words.iter().collect();
    let chosen: Vec<&Word> = if all.len() <= HEAD + TAIL {
        all
    } else {
        [&all[..HEAD], &all[all.len() - TAIL..]].concat()
    };
    let mut grams = Vec::with_capacity(chosen.len() * 3 + 8);
    for at in 0..chosen.len() {
        let mut so_far = 0;
        for size in 0..3u32 {
            let Some(last) = chosen.get(at + size as usize) else { break };
            so_far = hash(so_far ^ (size + 1), &last.hash.to_le_bytes());
            let place = (chosen[at].start as u32, last.end as u32);
            grams.push(Sparse { hash: so_far, start: place.0, end: place.1 });
            if at == 0 {
                let opening = hash(101, &so_far.to_le_bytes());
                grams.push(Sparse { hash: opening, start: place.0, end: place.1 });
                let in_reply = hash(if asked { 103 } else { 104 }, &so_far.to_le_bytes());
                grams.push(Sparse { hash: in_reply, start: place.0, end: place.1 });
            }
            if at + size as usize + 1 == chosen.len() {
                let closing = hash(102, &so_far.to_le_bytes());
                grams.push(Sparse { hash: closing, start: place.0, end: place.1 });
            }
        }
    }
    grams
}
