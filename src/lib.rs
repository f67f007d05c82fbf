//! Uptake: a feedback engine for LLM applications.
//!
//! The embeddable API: an application that needs no server uses [`Engine`] and the types below.

pub use engine::{Engine, FlowError, Incoming, RawEvent, Receipt, StoredEvent};
pub use model::{
    Category, Clock, ConversationId, Event, EventId, Kind, Position, Project, Scope, Severity,
    Source, Tenant, Timestamp, TurnId, Type, UserId,
};
