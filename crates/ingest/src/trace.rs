//! Spans of traces: reads their attributes, and assembles the spans of a trace into a turn.
//!
//! Pure. The names of attributes are in one table (`attributes.rs`).

mod attributes;
mod limits;
mod messages;
mod documents;
mod span;
mod spans_of_trace;
mod assembly;
mod foreign_id;

pub use assembly::{AssembledTrace, AssembledTurn, assemble_trace};
pub use foreign_id::fit_foreign_id;
pub use span::{RawSpan, RawSpanEvent, ReadSpan, read_span};
pub use spans_of_trace::TraceBatch;
