//! Text processing shared by the detectors: folding, masking and stemming.

mod fold;
mod mask;

pub(crate) use fold::{Hashing, Kind, Text, Word, hash};
pub(crate) use mask::speech_only;
