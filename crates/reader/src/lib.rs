//! The reader: a six-layer transformer encoder that reads a user's message together with the
//! question and the answer before it, and scores whether the message rejects or accepts the answer.
//!
//! Pure and deterministic. Weights and activations have 8 bits and are multiplied in integers, and
//! floating-point sums have a fixed order, so a CPU with wider SIMD instructions gives the same
//! bits. `training/reader` builds the model.
//!
//! ```text
//! texts --tokens--> embeddings --6 x (attention, feed-forward)--> mean and first token --> 3 scores
//! ```

mod arithmetic;
mod attention;
mod built_in;
mod encoder;
mod lanes;
mod linear;
#[cfg(feature = "model")]
mod model_file;
mod sequence;

pub use built_in::{built_in, version};
pub use encoder::{Reader, Reading};
pub use sequence::{Sequence, TextPart, Texts, build_sequence, tokenize_texts};
