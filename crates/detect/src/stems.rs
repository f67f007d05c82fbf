//! Stems by which the words of a message are compared with those of question and answer.

use crate::text::{FoldedText, hash};
use crate::utterance::sort_and_dedup;

/// Later words are not read.
const MAX_WORDS: usize = 160;

/// Sorted stems of all words. See [`word_stems`].
pub(crate) fn collect_stems(text: &FoldedText) -> Vec<u32> {
    let mut stems: Vec<u32> = Vec::new();
    for word in text.lexical_words().take(MAX_WORDS) {
        let folded = text.folded_word(word);
        stems.extend(word_stems(folded));
        stems.extend(folded.split_once('\'').into_iter().flat_map(|(_, rest)| word_stems(rest)));
    }
    sort_and_dedup(stems)
}

/// Hashes of a word and of its beginnings with up to three letters (of a long word, up to two fifths)
/// less. Two words are forms of one word when they share one: "holiday" and "holidays", "зимний" and "зимняя".
pub(crate) fn word_stems(folded: &str) -> impl Iterator<Item = u32> {
    const MAX_ENDING: usize = 3;
    const MIN_STEM: usize = 4;
    let count = folded.chars().count();
    // Compounds have longer endings: "Jenkinsfile".
    let ending = MAX_ENDING.max(count * 2 / 5);
    let shortest = count.saturating_sub(ending).max(MIN_STEM);
    let beginnings = (shortest..count)
        .filter_map(move |length| folded.char_indices().nth(length).map(|(end, _)| &folded[..end]));
    // A short plural: "bug" and "bugs".
    let singular = folded.strip_suffix('s').filter(|one| one.chars().count() == 3);
    let forms = std::iter::once(folded).chain(beginnings).chain(singular);
    forms.map(|form| hash(0, form.as_bytes()))
}
