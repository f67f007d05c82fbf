//! Thresholds of use detection. The defaults were tuned on `training/corpus/use-dev*.jsonl`.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct UsageRule {
    /// Share of an item's five-word runs that must be in the answer.
    pub run_share: f64,
    /// Upper bound of the denominator of `run_share`, so that one quoted sentence of a long
    /// document counts.
    pub most_runs: usize,
    /// Minimum shared runs. Two runs are six words in a row; a single run may be chance.
    pub least_runs: usize,
    /// Minimum shared runs in code, where programs share many lines.
    pub least_runs_in_code: usize,
    /// Minimum rarity of a run that counts alone.
    pub lone_run_rarity: f32,
    /// Minimum total rarity of a run's five words, 0 to 5. A rare word or a number is 1, an
    /// everyday word 0.3, a stop word 0.
    pub run_rarity: f32,
    /// Share of an item's distinctive identifiers that must be in the answer.
    pub identifier_share: f64,
    /// Minimum shared identifiers, unless one is long enough alone.
    pub least_identifiers: usize,
    /// Share of an item's distinctive words that must be in the answer, in any order.
    pub word_share: f64,
    pub least_words: usize,
    /// Minimum shared words that are rare words or numbers.
    pub least_rare_words: usize,
    /// Shared distinctive words needed to support a name of everyday words, such as "session".
    pub support_for_a_common_name: usize,
    /// Shared distinctive words needed to support a rare name, or one written as a name.
    pub support_for_a_likely_name: usize,
    /// Minimum cosine of a sentence of the answer and the sentence of an item that it restates.
    pub paraphrase_cosine: f32,
    /// The same in other languages, for which the embeddings were not trained.
    pub foreign_paraphrase_cosine: f32,
    /// Minimum distance of that cosine to those of the other items and of the question.
    pub paraphrase_margin: f32,
    /// Minimum cosine when there is neither another item nor a question to compare with.
    pub lone_paraphrase_cosine: f32,
    /// Minimum total weight of the words that both sentences share. A rare word is 1, a number 0.7,
    /// an everyday word 0.3.
    pub paraphrase_shared_weight: f32,
    /// Share of common words above which two sentences are a copy rather than a paraphrase.
    pub copied_word_share: f32,
    pub most_answer_bytes: usize,
    pub most_content_bytes: usize,
}

impl Default for UsageRule {
    fn default() -> Self {
        Self {
            run_share: 0.08,
            most_runs: 40,
            least_runs: 2,
            least_runs_in_code: 4,
            lone_run_rarity: 2.5,
            run_rarity: 1.2,
            identifier_share: 0.3,
            least_identifiers: 2,
            word_share: 0.35,
            least_words: 3,
            least_rare_words: 2,
            support_for_a_common_name: 2,
            support_for_a_likely_name: 1,
            paraphrase_cosine: 0.6,
            foreign_paraphrase_cosine: 0.65,
            paraphrase_margin: 0.1,
            lone_paraphrase_cosine: 0.68,
            paraphrase_shared_weight: 0.3,
            copied_word_share: 0.75,
            most_answer_bytes: 256 * 1024,
            most_content_bytes: 64 * 1024,
        }
    }
}
