//! Features of the refusal model, taken from the start of an answer without code and quotations.

use crate::pair::count_shared;
use crate::phrases::{Cue, CueHit, find_answer_cues};
use crate::text::{FoldedText, Word, WordKind};
use crate::utterance::{Utterance, sort_and_dedup};
use crate::wide_deep::{Features, SparseFeature, word_ngrams};

/// Words of an answer that are used. A refusal shows early.
const MAX_WORDS: usize = 110;
const OPENING_BYTES: usize = 220;

/// Input features of the refusal model. `prose` is the answer without code and quotations.
pub(crate) fn refusal_features(
    question: Option<&Utterance>,
    prose: &FoldedText,
    original: &str,
) -> Features {
    let (words, sentences) = read_opening(prose);
    let opening = &original[..original.floor_char_boundary(OPENING_BYTES)];
    let tokens = embed::built_in().tokenize(opening);
    let vector = embed::built_in().embed_tokens(&tokens);
    let mut dense = Vec::with_capacity(300);
    dense.extend(score_cues_by_sentence(prose, &sentences));
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
            let content = sort_and_dedup(words.iter().map(|w| w.hash).collect());
            let both = count_shared(&question.content, &content) as f32;
            dense.push(1.0);
            dense.push(both / question.content.len().max(1) as f32);
            dense.push(question.vector.cosine(&vector).unwrap_or(0.0));
        }
        None => dense.extend([0.0; 3]),
    }
    dense.extend(vector.values().iter().map(|v| v * 2.0));
    Features { sparse: hash_ngrams(&words, &sentences), dense }
}

/// The first words without punctuation, each with its sentence: 0, 1, or 2 for all later ones.
fn read_opening(prose: &FoldedText) -> (Vec<&Word>, Vec<usize>) {
    let (mut words, mut sentences, mut sentence) = (Vec::new(), Vec::new(), 0);
    for word in prose.words.iter().take(MAX_WORDS) {
        if word.kind != WordKind::Mark {
            words.push(word);
            sentences.push(sentence);
        }
        if matches!(prose.folded_word(word), "." | "!" | "?" | ":") {
            sentence = (sentence + 1).min(2);
        }
    }
    (words, sentences)
}

/// For each cue: its score in the first sentence, in the second, and in later ones.
fn score_cues_by_sentence(prose: &FoldedText, sentences: &[usize]) -> Vec<f32> {
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
        let Some(sentence) = sentences.get(hit.first) else { continue };
        let score = &mut scores[kind * 3 + sentence];
        *score = (*score + 0.5).min(1.0);
    }
    scores
}

/// Word n-grams, hashed with their sentence.
fn hash_ngrams(words: &[&Word], sentences: &[usize]) -> Vec<SparseFeature> {
    let mut features = Vec::with_capacity(words.len() * 3);
    for ngram in word_ngrams(words) {
        let sentence = sentences[ngram.first] as u32;
        features.push(ngram.seeded_feature(sentence + 1));
        if sentence < 2 {
            features.push(ngram.seeded_feature(9));
        }
    }
    features
}
