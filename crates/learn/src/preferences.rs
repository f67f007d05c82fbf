//! Preference data for training: which of two answers to a question is better, and why we think so.
//!
//! ```text
//! conversations, one by one --correction, regeneration, rephrase--+
//!                                                                 +--> Exporter --> rows of one shape
//! groups of the same question, one by one --rating, experiment ---+
//! ```
//!
//! Conversations are gone through twice: what people think is counted before anything is written, so that
//! nothing is said twice in opposite ways. Kept are numbers only, for each row, rated answer and pair.

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
pub use group_pairs::AnsweredElsewhere;
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
