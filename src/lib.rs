//! Uptake: a feedback engine for LLM applications.
//!
//! The embeddable face: an application that wants no server uses `Engine` and the words it speaks.

pub use event::{
    Category, Clock, ConversationId, Event, EventId, Kind, Position, Project, Scope, Severity,
    Source, Tenant, Timestamp, TurnId, Type, UserId,
};
pub use flow::{Engine, FlowError, Incoming, RawEvent, Receipt, StoredEvent};
