//! What it takes for an item to count as used. The defaults were chosen on `training/corpus/use-dev*.jsonl`.

use serde::{Deserialize, Serialize};

/// The thresholds of use detection.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct UsageRule {
    /// Share of an item's five-word runs that must be in the answer.
    pub run_share: f64,
    /// The share is taken of at most this many runs: one sentence quoted from a long document is use.
    pub most_runs: usize,
    /// Fewest shared runs. Two are six words in a row; a single run may be chance.
    pub least_runs: usize,
    /// The same for code, where every program has lines in common.
    pub least_runs_in_code: usize,
    /// How rare a run must be to count alone.
    pub lone_run_rarity: f32,
    /// How rare the words of a run must be together, counted 0 to 5: a rare word or a figure is 1, an
    /// everyday word 0.3, "of the" nothing.
    pub run_rarity: f32,
    /// Share of an item's distinctive identifiers that must be in the answer.
    pub identifier_share: f64,
    /// Fewest shared identifiers, unless the only one is long.
    pub least_identifiers: usize,
    /// Share of an item's telling words (rare or known ones, figures) that must be in the answer when their order is lost.
    pub word_share: f64,
    /// Fewest shared telling words.
    pub least_words: usize,
    /// Fewest of them that must be rare words or figures.
    pub least_rare_words: usize,
    /// Telling words that the answer must share with the content before a name of everyday words
    /// counts: "session" is also a word.
    pub support_for_a_common_name: usize,
    /// The same for a name that could be a name: rare, or written as one.
    pub support_for_a_likely_name: usize,
    /// Bytes of an answer that are read.
    pub most_answer_bytes: usize,
    /// Bytes of an item's content that are read.
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
            most_answer_bytes: 256 * 1024,
            most_content_bytes: 64 * 1024,
        }
    }
}
