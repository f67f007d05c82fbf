//! Uptake: a feedback engine for LLM applications.
//!
//! The embeddable face: an application that wants no server uses `Engine` and the words it speaks.

pub use engine::{Engine, EngineError, IncomingEvent, RawEvent, Receipt, StoredEvent};
pub use model::{
    Category, Clock, ConversationId, Event, EventId, Kind, Position, Project, Scope, Severity,
    Source, Tenant, Timestamp, TurnId, Type, UserId,
};
