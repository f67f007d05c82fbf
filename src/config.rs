//! Configuration: one section per part of the program, one commented file as the reference.
//!
//! Defaults, then the file, then the environment, then flags; each later one wins.

#[cfg(feature = "scaled")]
mod aws;
mod load;
mod section;

#[cfg(feature = "scaled")]
pub(crate) use aws::aws_options;
pub(crate) use load::{Overrides, Setting, load};
pub(crate) use section::{
    Config, DetectMode, DetectSection, EmbedSection, HistorySection, KafkaSection, KeepCopies,
    LlmSection, LogFormat, MovedOn, ServerSection, StoreSection, TargetScope, TurnLogSection,
};
