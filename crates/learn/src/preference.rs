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
mod chain;
mod within;
mod alike;
mod across;
mod groups;
mod split;
mod shape;
mod rule;
mod votes;
mod export;

pub use across::AnsweredElsewhere;
pub use export::{ExportTally, Exporter};
pub use groups::QuestionGroups;
pub use pair::PairSource;
pub use rule::{ExportFormat, ExportRule};
pub use shape::{
    DpoRow, KtoRow, Message, MessageRole, OpenAiInput, OpenAiRow, PreferenceRow, Provenance, SftRow,
};
pub use split::{Split, SplitShares};
pub use turn::{
    PreferenceConversation, PreferenceTurn, ServedVariant, TurnCorrection, TurnRating, TurnVerdict,
};

#[cfg(test)]
mod tests;
