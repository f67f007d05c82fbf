//! Uptake: a feedback engine for LLM applications.
//!
//! An application that needs no server opens an [`Engine`] over a [`Store`] in its own process.
//! `examples/embed.rs` shows it.

pub use engine::{
    CompleteReceipt, Detectors, Embedder, Engine, EngineError, EngineOptions, Include,
    IncomingEvent, IncomingHalf, IncomingTurn, JobSettings, OpenReceipt, PreviousVerdict,
    RawCompletion, RawEvent, RawOpening, Receipt, RequestKey, StoredEvent, Trust, spawn_jobs,
};
pub use model::{
    Category, Clock, ConversationId, Event, EventId, Kind, Mac, Position, Project, Scope, Severity,
    Source, Tenant, Timestamp, TurnId, Type, UserId, VerdictStatus,
};
pub use store::{Limits, Store, StoreError};
