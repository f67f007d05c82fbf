//! Configuration: one section per part of the program; `config/default.toml` is the reference.
//!
//! Precedence, lowest first: defaults, file, environment, flags.

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
