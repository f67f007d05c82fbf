//! Turns signals into better choices. Pure: state in, state out, randomness passed in.

mod pairs;

pub use pairs::{JudgedTurn, PairSource, PreferencePair, pairs_of};
