//! Keeps events and state. The only crate that speaks to databases.
//!
//! Writes have one door, `Log::commit`; reads are narrow traits. Never validates, detects or learns.

mod error;
mod meter;
mod log;
mod read;
mod blobs;
mod history;
mod outlet;
mod inlet;
#[cfg(feature = "scaled")]
mod s3;
mod sql;
pub mod vectors;
#[cfg(feature = "scaled")]
mod postgres;
#[cfg(feature = "scaled")]
pub mod redis;
pub mod tables;
#[cfg(feature = "scaled")]
pub mod kafka;
#[cfg(feature = "scaled")]
mod migrate_store;
#[cfg(test)]
mod contract;

pub use blobs::{Blobs, FolderBlobs};
pub use error::StoreError;
pub use history::InProcessHistory;
pub use inlet::{Arrived, Inlet};
pub use log::{Log, Rebuild, Rebuilt, Task};
pub use meter::{Histogram, LogStats, SECONDS, SIZES, Snapshot, Stopwatch};
#[cfg(feature = "scaled")]
pub use migrate_store::{MigrateStep, Migrated, migrate_store};
pub use outlet::{Outgoing, Outlet, Refused};
pub use read::alerts::{AlertStore, Delivery, StoredAlert, StoredTargets, Undelivered};
pub use read::copies::{DueCopy, TurnLogCopies, TurnLogCopy};
pub use read::dead_letters::{DeadLetter, DeadLetters};
pub use read::decisions::{DecisionReads, StoredDecision};
pub use read::events::{EventPage, EventReads, KindFilter, StoredEvent};
pub use read::exchanges::{ExchangeQuery, ExchangeReads, Habit, Standing, StoredExchange};
pub use read::experiments::{
    ExperimentReads, ExperimentScope, StoredExperiment, StoredExposure, StoredMove, StoredStanding,
    StoredSums, StoredUnit, UnitMark, UnitSums,
};
pub use read::history::{Asked, Asker, HistoryHealth, QueryHistory};
pub use read::judged::{
    Changed, ConversationMark, Corrections, GivenCorrection, GivenRating, GivenVerdict,
    JudgedConversation, JudgedExchange, JudgedReads, ServedBy,
};
pub use read::keys::{KeyStore, StoredKey};
pub use read::labels::{Label, LabelReads, StoredCalibration};
pub use read::leases::{Lease, Leases};
pub use read::listed::{
    ConversationTally, ListMark, ListPage, ListQuery, ListReads, ListedConversation, TurnMark,
};
pub use read::quality::{
    AnsweredBy, QualityBucket, QualityCounts, QualityQuery, QualityReads, QualityUsers,
    wait_millis, wait_step,
};
pub use read::reactions::{
    ActiveConversation, ConversationQuery, PeriodMark, PeriodPage, PeriodQuery, ReactionCounts,
    ReactionFilter, ReactionReads, ReactionSearch, StoredReaction,
};
pub use read::relevance::{Extreme, RelevanceReads, StoredTallies, StoredTally};
pub use read::retention::Retention;
pub use read::routing::{
    Keeping, KeptAt, KeptTurn, NextState, RouterCheckpoint, RouterScope, RouterTurn, RoutingStore,
    StoredRouter,
};
pub use read::rules::{RuleReads, TenantSettings};
pub use read::sessions::{OpenSession, SessionReads};
pub use read::similar::{SimilarQuery, SimilarReads, SimilarTurn, SimilarTurns, TurnNumber};
pub use read::turns::{StoredTurn, TurnHead, TurnReads};
pub use read::users::{ErasedCounts, UserReads};
#[cfg(feature = "scaled")]
pub use s3::{S3Blobs, S3Place};
pub use sql::Error as DatabaseError;

/// Everything a backend must offer.
pub trait Store:
    Log
    + EventReads
    + TurnReads
    + ExchangeReads
    + SessionReads
    + LabelReads
    + SimilarReads
    + JudgedReads
    + RoutingStore
    + RelevanceReads
    + QualityReads
    + ListReads
    + AlertStore
    + ExperimentReads
    + ReactionReads
    + DecisionReads
    + TurnLogCopies
    + KeyStore
    + RuleReads
    + UserReads
    + DeadLetters
    + Retention
    + Leases
{
}

impl<T> Store for T where
    T: Log
        + EventReads
        + TurnReads
        + ExchangeReads
        + SessionReads
        + LabelReads
        + SimilarReads
        + JudgedReads
        + RoutingStore
        + RelevanceReads
        + QualityReads
        + ListReads
        + AlertStore
        + ExperimentReads
        + ReactionReads
        + DecisionReads
        + TurnLogCopies
        + KeyStore
        + RuleReads
        + UserReads
        + DeadLetters
        + Retention
        + Leases
{
}
