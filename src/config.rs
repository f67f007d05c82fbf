//! Configuration: one section per part of the program, one commented file as the reference.
//!
//! Defaults, then the file, then the environment, then flags; each later one wins.

mod load;
mod section;

pub(crate) use load::{Overrides, Setting, load};
pub(crate) use section::{
    Config, DetectMode, DetectSection, EmbedSection, HistorySection, KafkaSection, KeepCopies,
    LlmSection, LogFormat, MovedOn, StoreSection, TargetScope,
};
