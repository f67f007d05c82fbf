//! Prepares incoming events for storage: validates, normalises, redacts and fingerprints them.
//!
//! Does no detection, learning or HTTP.

mod check;
mod accept;
mod turn;
mod reaction;
mod turn_feedback;
mod finding;
mod retrieval;
mod decision;
mod redact;
mod source;
mod trace;
mod rule;
mod fingerprint;
#[cfg(test)]
mod any_input;

pub use accept::{RawEvent, accept_event};
pub use check::CaptureError;
pub use decision::{RawDecision, RawOutcome, accept_decision, accept_outcome};
pub use finding::{FindingPlace, finding_event};
pub use fingerprint::{Fingerprint, SealKey};
pub use reaction::{
    AcceptedReaction, MIN_MACHINE_CONFIDENCE, RawReaction, accept_reaction, reaction_event,
};
pub use redact::Redactor;
pub use retrieval::{RawReturned, RawSignal, accept_query_id, accept_returned, accept_signals};
pub use rule::{accept_privacy, accept_profile, rule_event};
pub use source::{
    ChatMessage, ChatRecord, ChatUsage, EVENT_FIELDS, ImportLine, Line, Sign, Speaker, chat_events,
    conversation_name, name_turn, read_chat, read_import_line, read_line, turn_name,
};
pub use trace::{
    AssembledTrace, AssembledTurn, RawSpan, RawSpanEvent, ReadSpan, TraceBatch, assemble_trace,
    fit_foreign_id, read_span,
};
pub use turn::{
    AcceptedOpening, RawCompletion, RawOpening, RawRetrieved, TurnPlace, accept_completion,
    accept_opening, turn_event,
};
pub use turn_feedback::{AcceptedFeedback, RawTurnFeedback, accept_turn_feedback};
