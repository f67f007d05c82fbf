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
mod export_rule;
mod conversation_pairs;
mod group_pairs;
mod rows;
mod exporter;

pub use export_rule::{ExportFormat, ExportRule, Split, SplitShares};
pub use exporter::{ExportTally, Exporter};
pub use group_pairs::{GroupedAnswer, QuestionGroups};
pub use pair::PairSource;
pub use rows::{Message, MessageRole, OpenAiInput, PreferenceRow, Provenance, RowContent};
pub use turn::{
    PreferenceConversation, PreferenceTurn, ServedVariant, TurnCorrection, TurnRating, TurnVerdict,
};

#[cfg(test)]
mod tests;
