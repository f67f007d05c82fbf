//! The words every step of Uptake shares: ids, times, numbers, events, and what one commit may do.
//!
//! Does no I/O, reads no clock, imports nothing of ours.

mod change;
mod feedback;
mod id;
mod number;
mod record;
mod time;
mod word;

pub use change::{Claim, ClaimSpace, Mac, Outcome, Position, Write};
pub use feedback::{BadData, Body, Correction, Decision, Interaction, Rating};
pub use id::{BadId, ConversationId, EventId, Project, Scope, Tenant, TurnId, UserId};
pub use number::UnitInterval;
pub use record::Event;
pub use time::{BadTime, Clock, Timestamp};
pub use word::{Category, DecisionOutcome, InteractionKind, Kind, Severity, Source, Type};
