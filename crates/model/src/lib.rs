//! Types shared by all crates: ids, times, numbers, events and writes.
//!
//! Does no I/O, reads no clock and depends on no crate of ours.

mod id;
mod number;
pub mod hash;
mod time;
mod url;
mod field_alias;
mod word;
mod event;
mod turn;
mod reaction;
mod signal;
mod vector;
mod relevance;
mod experiment;
mod span;
mod finding;
mod rule;
mod body;
mod measure;
mod fact;
mod change;
mod event_changes;
mod stub;

pub use body::{
    BadData, Body, Comment, Correction, Decision, EndpointMetric, Fields, Interaction, Rating,
    Sent, SentRating, Settlement, record_fields,
};
pub use change::{
    Change, Claim, ClaimSpace, DecisionChange, Entry, Judgement, Mac, Need, Outcome, Position,
    RetrievalChange, SettingsChange, TraceChange, TurnChange, Write,
};
pub use event::{Event, Redacted};
pub use experiment::{ExperimentChange, ExperimentRule, ExperimentUnit, Exposure};
pub use fact::{LooseFact, SQL_GENERATION, TurnFact, is_refinement};
pub use field_alias::{
    AliasConflict, AliasedRequests, FIELD_ALIASES, FieldAliases, rename_aliases, resolve_alias,
};
pub use finding::{
    Finding, FoundAlert, FoundAnswer, FoundRetry, FoundSentiment, FoundSession, FoundSuggestion,
    FoundVerdict, GivenReward, RouterChoice,
};
pub use id::{
    BadId, ConversationId, DecisionId, EntityId, EventId, ExperimentId, IdempotencyKey, Project,
    QUOTED, QueryId, Scope, Tenant, TurnId, UserId,
};
pub use measure::{Direction, Measure, Metric, MetricBy, Moments, PartSum, UnitTotals};
pub use number::UnitInterval;
pub use reaction::{ANONYMOUS, GivenReaction, artifact_id, resource_name};
pub use relevance::{
    BANDS, Delta, EntitySignal, FoundRelevance, ItemStanding, Opinion, PendingUsage, RankBand,
    Returned, UsageStanding,
};
pub use rule::{Calibration, Rule};
pub use signal::{Contrast, Evidence, Failure, Pace, Retry, Verdict};
pub use span::{FoundTrace, Span, SpanBatch};
pub use time::{BadTime, Clock, Timestamp, Window};
pub use turn::{Completion, Opening, PromptRef, QuotedTurn, Retrieved, Strategy, TurnHalf};
pub use url::{decode_path_segment, encode_path_segment, encode_url};
pub use vector::{Vector, dot};
pub use word::{
    Category, CorrectionType, DecisionOutcome, ErrorType, InteractionKind, Kind, Language, Origin,
    Reaction, RelevanceSignal, RetryIntent, Role, Sentiment, Severity, Source, SpanKind, Tolerance,
    TurnStatus, Type, ValidationOutcome, VerdictStatus,
};
