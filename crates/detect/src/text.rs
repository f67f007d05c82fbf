//! A text as detectors read it: folded words with the bytes they came from.

mod fold;
mod mask;

pub(crate) use fold::{Hashing, Kind, Text, Word, hash};
pub(crate) use mask::speech_only;
