//! Types shared by all crates: ids, times, numbers, events and writes.
//!
//! Does no I/O, reads no clock and depends on no crate of ours.

mod id;
mod number;
pub mod hash;
mod time;
mod word;
mod record;
mod turn;
mod reaction;
mod signal;
mod vector;
mod relevance;
mod experiment;
mod finding;
mod rule;
mod feedback;
mod measure;
mod stub;
mod fact;
mod change;

pub use change::{Change, Claim, ClaimSpace, Entry, Mac, Need, Outcome, Position, Write};
pub use experiment::{ExperimentChange, ExperimentRule, ExperimentUnit, Exposure};
pub use fact::{LooseFact, SQL_GENERATION, TurnFact, is_refinement};
pub use feedback::{BadData, Body, Correction, Decision, Interaction, Rating, Settlement};
pub use finding::{
    Finding, FoundAlert, FoundAnswer, FoundRetry, FoundSentiment, FoundSession, FoundSuggestion,
    FoundVerdict, GivenReward, RouterChoice,
};
pub use id::{
    BadId, ConversationId, DecisionId, EntityId, EventId, ExperimentId, Project, QueryId, Scope,
    Tenant, TurnId, UserId,
};
pub use measure::{Direction, Measure, Metric, MetricBy, Moments, PartSum, UnitTotals};
pub use number::UnitInterval;
pub use reaction::{ANONYMOUS, GivenReaction, artifact_id, resource_name};
pub use record::Event;
pub use relevance::{
    BANDS, Delta, EntitySignal, FoundRelevance, ItemStanding, Opinion, RankBand, Returned,
    UsageStanding,
};
pub use rule::Rule;
pub use signal::{Contrast, Evidence, Failure, Pace, Retry, Verdict};
pub use time::{BadTime, Clock, Timestamp, Window};
pub use turn::{Completion, Opening, PromptRef, Retrieved, Strategy, TurnHalf};
pub use vector::{Vector, dot};
pub use word::{
    Category, CorrectionType, DecisionOutcome, ErrorType, InteractionKind, Kind, Origin, Reaction,
    RelevanceSignal, RetryIntent, Role, Sentiment, Severity, Source, Tolerance, TurnStatus, Type,
    ValidationOutcome, VerdictStatus,
};
