//! The log of events and the projections computed from it, in SQLite or Postgres.
//!
//! All writes go through `Store::commit`. The crate does not validate, detect or learn.

mod error;
mod metrics;
mod row_keys;
mod meta;
mod turn_context;
mod event_rows;
mod api_key_rows;
mod outage;
mod peer_news;
mod background_thread;
mod sqlite;
#[cfg(feature = "scaled")]
mod postgres;
mod connection_source;
mod read_pool;
mod read_queue;
mod projections;
mod similarity;
mod log;
mod maintenance;
mod read_only_log;
mod store;
mod queries;
#[cfg(test)]
mod contract;
#[cfg(test)]
mod tests;

pub use api_key_rows::StoredKey;
pub use error::{StoreError, Task};
pub use event_rows::StoredEvent;
pub use log::Limits;
pub use log::own_positions::ForeignRange;
pub use maintenance::backup::{BackupNote, Restored, back_up, restore};
pub use maintenance::folder_lock::{
    LockHolder, is_folder_requested, read_lock_holder, request_folder,
};
#[cfg(feature = "scaled")]
pub use maintenance::migrate_store::{MigrateStep, Migrated, migrate_store};
pub use maintenance::rebuild::{Rebuild, Rebuilt};
pub use metrics::{Histogram, LogStats, SECONDS, SIZES, SimilarityStats, Snapshot, Stopwatch};
pub use peer_news::PeerNews;
pub use projections::baseline::ChangesOf;
pub use projections::counters::{QualityCounts, UnitSums, wait_millis, wait_step};
pub use queries::alerts::{Delivery, StoredAlert, StoredTargets, Undelivered};
pub use queries::conversation_list::{
    ConversationSummary, ConversationTally, ListCursor, ListPage, ListQuery, ListedConversation,
    RankedBy, SummaryCounts, SummaryPage, TurnFilter, TurnMark, TurnPage,
};
pub use queries::dead_letters::DeadLetter;
pub use queries::decisions::StoredDecision;
pub use queries::events::{EventPage, KindFilter};
pub use queries::exchanges::{ExchangeQuery, Habit, Standing, StoredExchange};
pub use queries::experiments::{
    ExperimentScope, StoredExperiment, StoredExposure, StoredMove, StoredStanding, StoredSums,
    StoredUnit, UnitCursor,
};
pub use queries::labelled_turns::{
    Changed, ConversationCursor, Corrections, GivenCorrection, GivenRating, GivenVerdict,
    LabelledConversation, LabelledTurn, LabelledTurnReads, ServedBy,
};
pub use queries::labels::{Label, StoredCalibration};
pub use queries::leases::Lease;
pub use queries::period::{
    ActiveConversation, PeriodCursor, PeriodPage, PeriodQuery, ReactionCounts,
};
pub use queries::quality::{AnsweredBy, QualityBucket, QualityQuery, QualityUsers, ReactionTime};
pub use queries::reactions::{ConversationQuery, ReactionFilter, ReactionSearch, StoredReaction};
pub use queries::relevance::{Extreme, StoredTallies, StoredTally};
pub use queries::router_state::{
    CheckpointVersion, Keeping, NextCheckpoint, RouterCheckpoint, RouterScope, RouterTurn,
    StoredRouter, StoredRouterTurn,
};
pub use queries::rules::TenantSettings;
pub use queries::sessions::OpenSession;
pub use queries::similar_turns::{SimilarTurn, SimilarTurns, TurnNumber};
pub use queries::traces::{PendingTrace, TraceDeadlines};
pub use queries::turn_log_copies::{DueCopy, TurnLogCopy};
pub use queries::turns::{StoredTurn, TurnHead};
pub use queries::user_turns::{ConversationTail, MessagePosition, TailLimits, UserTurns};
pub use queries::users::ErasedCounts;
pub use read_only_log::ReadOnlyLog;
pub use read_queue::{current_reader, read_as, set_reader, with_reader};
pub use similarity::{SimilarQuery, SimilarityLimits};
pub use sql::Error as DatabaseError;
pub use store::Store;
pub use turn_context::TurnContext;
