//! Features of the refusal model, taken from the start of an answer without code and quotations.

use crate::pair::count_shared;
use crate::phrases::{Cue, CueHit, find_answer_cues};
use crate::text::{FoldedText, Word, WordKind, hash};
use crate::utterance::{Utterance, sort_and_dedup};
use crate::wide_deep::{Features, SparseFeature};

/// Words of an answer that are used. A refusal shows early.
const MAX_WORDS: usize = 110;
const OPENING_BYTES: usize = 220;

/// Input features of the refusal model. `prose` is the answer without code and quotations.
pub(crate) fn refusal_features(
    question: Option<&Utterance>,
    prose: &FoldedText,
    original: &str,
) -> Features {
    let words: Vec<&Word> = prose.words.iter().take(MAX_WORDS).collect();
    let sentences = index_sentences(prose, &words);
    let indexed_words: Vec<(usize, &Word)> = words
        .iter()
        .enumerate()
        .filter(|(_, w)| w.kind != WordKind::Mark)
        .map(|(at, w)| (sentences[at], *w))
        .collect();
    let opening = &original[..original.floor_char_boundary(OPENING_BYTES)];
    let tokens = embed::built_in().tokenize(opening);
    let vector = embed::built_in().embed_tokens(&tokens);
    let mut dense = Vec::with_capacity(300);
    dense.extend(score_cues_by_sentence(prose, &indexed_words));
    let count = prose.lexical_words().count() as f32;
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
            let content = sort_and_dedup(indexed_words.iter().map(|(_, w)| w.hash).collect());
            let both = count_shared(&question.content, &content) as f32;
            dense.push(1.0);
            dense.push(both / question.content.len().max(1) as f32);
            dense.push(question.vector.cosine(&vector).unwrap_or(0.0));
        }
        None => dense.extend([0.0; 3]),
    }
    dense.extend(vector.values().iter().map(|v| v * 2.0));
    Features { sparse: hash_ngrams(&indexed_words), dense }
}

fn index_sentences(text: &FoldedText, words: &[&Word]) -> Vec<usize> {
    let mut number = 0;
    words
        .iter()
        .map(|word| {
            let at = number;
            if matches!(text.folded_word(word), "." | "!" | "?" | ":") {
                number += 1;
            }
            at
        })
        .collect()
}

/// For each cue: its score in the first sentence, in the second, and in later ones.
fn score_cues_by_sentence(prose: &FoldedText, indexed_words: &[(usize, &Word)]) -> Vec<f32> {
    const REFUSAL_CUES: [Cue; 6] =
        [Cue::Declines, Cue::Moralises, Cue::Sorry, Cue::Identity, Cue::Turns, Cue::Idiom];
    let mut scores = vec![0.0f32; REFUSAL_CUES.len() * 3];
    let hits = find_answer_cues(prose);
    let idioms: Vec<&CueHit> = hits.iter().filter(|hit| hit.cue == Cue::Idiom).collect();
    for hit in &hits {
        let in_idiom = idioms.iter().any(|idiom| idiom.overlaps(hit));
        if in_idiom && hit.cue != Cue::Idiom {
            continue;
        }
        let Some(kind) = REFUSAL_CUES.iter().position(|kind| *kind == hit.cue) else { continue };
        let Some((sentence, _)) = indexed_words.get(hit.first) else { continue };
        let score = &mut scores[kind * 3 + sentence.min(&2)];
        *score = (*score + 0.5).min(1.0);
    }
    scores
}

/// Word n-grams of length one to three, hashed with their sentence position.
fn hash_ngrams(indexed_words: &[(usize, &Word)]) -> Vec<SparseFeature> {
    let mut all = Vec::with_capacity(indexed_words.len() * 3);
    for (at, (sentence, word)) in indexed_words.iter().enumerate() {
        let sentence = (*sentence).min(2) as u32;
        let mut ngram_hash = 0;
        for size in 0..3 {
            let Some((_, last)) = indexed_words.get(at + size) else { break };
            ngram_hash = hash(ngram_hash ^ (size as u32 + 1), &last.hash.to_le_bytes());
            let (start, end) = (word.start as u32, last.end as u32);
            all.push(SparseFeature {
                hash: hash(sentence + 1, &ngram_hash.to_le_bytes()),
                start,
                end,
            });
            if sentence < 2 {
                all.push(SparseFeature { hash: hash(9, &ngram_hash.to_le_bytes()), start, end });
            }
        }
    }
    all
}
