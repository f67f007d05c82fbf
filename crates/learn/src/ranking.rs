//! Relevance feedback: used items rise, ignored items sink.
//!
//! Pure arithmetic over counters. The store keeps one [`ItemStanding`] per (query, entity). It adds
//! the [`Delta`] of each signal to an [`ItemTally`] per entity and per (query cluster, entity), and
//! to one [`RankTotals`] per project.

mod examination;
mod query_cluster;
mod multiplier;

pub use examination::{Examination, ItemTally, RankTotals};
pub use model::{BANDS, Delta, ItemStanding, Opinion, RankBand, RelevanceSignal, UsageStanding};
pub use multiplier::{
    CoecRule, Estimator, ItemEvidence, RerankedResult, ScoreMultiplier, compute_multiplier, rerank,
};
pub use query_cluster::{QueryCluster, cluster_query};
pub(crate) use query_cluster::{stem_word, stop_words};

#[cfg(test)]
mod tests;
