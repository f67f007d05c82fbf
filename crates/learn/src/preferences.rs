//! Preference data for training: pairs of a better and a worse answer, with their evidence.
//!
//! ```text
//! conversations, one by one --correction, regeneration, rephrase--+
//!                                                                 +--> Exporter --> rows of one format
//! groups of the same question, one by one --rating, experiment ---+
//! ```
//!
//! Conversations are read twice. The first pass counts votes, so that the second never exports a pair
//! in both directions. The exporter keeps only a few numbers per row, rated answer and pair.

mod turn;
mod pair;
mod rejection_chain;
mod conversation_pairs;
mod question_similarity;
mod group_pairs;
mod question_groups;
mod split;
mod rows;
mod export_rule;
mod votes;
mod exporter;

pub use export_rule::{ExportFormat, ExportRule};
pub use exporter::{ExportTally, Exporter};
pub use group_pairs::GroupedAnswer;
pub use pair::PairSource;
pub use question_groups::QuestionGroups;
pub use rows::{
    DpoRow, KtoRow, Message, MessageRole, OpenAiInput, OpenAiRow, PreferenceRow, Provenance, SftRow,
};
pub use split::{Split, SplitShares};
pub use turn::{
    PreferenceConversation, PreferenceTurn, ServedVariant, TurnCorrection, TurnRating, TurnVerdict,
};

#[cfg(test)]
mod tests;
