//! Keeps events and state. The only crate that speaks to databases.
//!
//! Writes have one door, `Log::commit`; reads are narrow traits. Never validates, detects or learns.

mod error;
mod meter;
mod log;
mod read;
#[cfg(feature = "scaled")]
mod postgres;
mod tables;
#[cfg(feature = "scaled")]
mod migrate_store;
#[cfg(test)]
mod contract;

pub use error::StoreError;
pub use log::{Rebuild, Rebuilt, Task};
pub use meter::{Histogram, LogStats, SECONDS, SIZES, Snapshot, Stopwatch};
#[cfg(feature = "scaled")]
pub use migrate_store::{MigrateStep, Migrated, migrate_store};
pub use read::alerts::{Delivery, StoredAlert, StoredTargets, Undelivered};
pub use read::copies::{DueCopy, TurnLogCopy};
pub use read::dead_letters::DeadLetter;
pub use read::decisions::StoredDecision;
pub use read::events::{EventPage, KindFilter, StoredEvent};
pub use read::exchanges::{ExchangeQuery, Habit, Standing, StoredExchange};
pub use read::experiments::{
    ExperimentScope, StoredExperiment, StoredExposure, StoredMove, StoredStanding, StoredSums,
    StoredUnit, UnitMark, UnitSums,
};
pub use read::judged::{
    Changed, ConversationMark, Corrections, GivenCorrection, GivenRating, GivenVerdict,
    JudgedConversation, JudgedExchange, JudgedReads, ServedBy,
};
pub use read::keys::StoredKey;
pub use read::labels::{Label, StoredCalibration};
pub use read::leases::Lease;
pub use read::listed::{
    ConversationTally, ListMark, ListPage, ListQuery, ListedConversation, TurnMark,
};
pub use read::quality::{
    AnsweredBy, QualityBucket, QualityCounts, QualityQuery, QualityUsers, wait_millis, wait_step,
};
pub use read::reactions::{
    ActiveConversation, ConversationQuery, PeriodMark, PeriodPage, PeriodQuery, ReactionCounts,
    ReactionFilter, ReactionSearch, StoredReaction,
};
pub use read::relevance::{Extreme, StoredTallies, StoredTally};
pub use read::routing::{
    Keeping, KeptAt, KeptTurn, NextState, RouterCheckpoint, RouterScope, RouterTurn, StoredRouter,
};
pub use read::rules::TenantSettings;
pub use read::sessions::OpenSession;
pub use read::similar::{SimilarQuery, SimilarTurn, SimilarTurns, TurnNumber};
pub use read::turns::{StoredTurn, TurnHead};
pub use read::users::ErasedCounts;
pub use sql::Error as DatabaseError;
pub use tables::{
    BackupNote, Holder, Limits, Restored, SqlLog, Store, ask_for, back_up, holder_of, is_wanted,
    restore,
};
