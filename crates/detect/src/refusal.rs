//! Features of the refusal model, taken from the start of an answer without code and quotations.

use crate::pair::shared;
use crate::phrases::{Cue, Hit, answer_hits};
use crate::text::{Kind, Text, Word, hash};
use crate::utterance::{Utterance, once};
use crate::wide_deep::{Features, Sparse};

/// Words of an answer that are used. A refusal shows early.
const MOST_WORDS: usize = 110;
/// Bytes at the start of an answer that are embedded.
const OPENING_BYTES: usize = 220;

/// Input features of the refusal model. `speech` is the answer without code and quotations.
pub(crate) fn refusal_features(
    question: Option<&Utterance>,
    speech: &Text,
    original: &str,
) -> Features {
    let words: Vec<&Word> = speech.words.iter().take(MOST_WORDS).collect();
    let sentences = sentence_numbers(speech, &words);
    let spoken: Vec<(usize, &Word)> = words
        .iter()
        .enumerate()
        .filter(|(_, w)| w.kind != Kind::Mark)
        .map(|(at, w)| (sentences[at], *w))
        .collect();
    let opening = &original[..original.floor_char_boundary(OPENING_BYTES)];
    let tokens = embed::built_in().tokens(opening);
    let vector = embed::built_in().embed_tokens(&tokens);
    let mut dense = Vec::with_capacity(300);
    dense.extend(phrases_by_sentence(speech, &spoken));
    let count = speech.spoken().count() as f32;
    dense.push(count.ln_1p() / 6.0);
    dense.push(f32::from(count < 12.0));
    dense.push(f32::from(
        original.contains("\n1.")
            || original.starts_with("1.")
            || original.contains("\n- ")
            || original.contains("\n* "),
    ));
    dense.push(f32::from(original.contains("```")));
    dense.push(f32::from(original.trim_end().ends_with('?')));
    match question {
        Some(question) => {
            let content = once(spoken.iter().map(|(_, w)| w.hash).collect());
            let both = shared(&question.content, &content) as f32;
            dense.push(1.0);
            dense.push(both / question.content.len().max(1) as f32);
            dense.push(question.vector.cosine(&vector).unwrap_or(0.0));
        }
        None => dense.extend([0.0; 3]),
    }
    dense.extend(vector.values().iter().map(|v| v * 2.0));
    Features { sparse: grams(&spoken), dense }
}

/// Sentence index of each word.
fn sentence_numbers(text: &Text, words: &[&Word]) -> Vec<usize> {
    let mut number = 0;
    words
        .iter()
        .map(|word| {
            let at = number;
            if matches!(text.folded(word), "." | "!" | "?" | ":") {
                number += 1;
            }
            at
        })
        .collect()
}

/// For each cue: its score in the first sentence, in the second, and in later ones.
fn phrases_by_sentence(speech: &Text, spoken: &[(usize, &Word)]) -> Vec<f32> {
    const KINDS: [Cue; 6] =
        [Cue::Declines, Cue::Moralises, Cue::Sorry, Cue::Identity, Cue::Turns, Cue::Idiom];
    let mut places = vec![0.0f32; KINDS.len() * 3];
    let hits = answer_hits(speech);
    let idioms: Vec<&Hit> = hits.iter().filter(|hit| hit.cue == Cue::Idiom).collect();
    for hit in &hits {
        let in_idiom =
            idioms.iter().any(|idiom| idiom.first <= hit.last && hit.first <= idiom.last);
        if in_idiom && hit.cue != Cue::Idiom {
            continue;
        }
        let Some(kind) = KINDS.iter().position(|kind| *kind == hit.cue) else { continue };
        let Some((sentence, _)) = spoken.get(hit.first) else { continue };
        let place = &mut places[kind * 3 + sentence.min(&2)];
        *place = (*place + 0.5).min(1.0);
    }
    places
}

/// Word n-grams of length one to three, hashed with their sentence position.
fn grams(spoken: &[(usize, &Word)]) -> Vec<Sparse> {
    let mut all = Vec::with_capacity(spoken.len() * 3);
    for (at, (sentence, word)) in spoken.iter().enumerate() {
        let place = (*sentence).min(2) as u32;
        let mut hash_so_far = 0;
        for size in 0..3 {
            let Some((_, last)) = spoken.get(at + size) else { break };
            hash_so_far = hash(hash_so_far ^ (size as u32 + 1), &last.hash.to_le_bytes());
            let (start, end) = (word.start as u32, last.end as u32);
            all.push(Sparse { hash: hash(place + 1, &hash_so_far.to_le_bytes()), start, end });
            if place < 2 {
                all.push(Sparse { hash: hash(9, &hash_so_far.to_le_bytes()), start, end });
            }
        }
    }
    all
}
