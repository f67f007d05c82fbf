//! Relevance feedback: what was used rises, what was passed over sinks.
//!
//! Pure arithmetic over counters. A store keeps one [`ItemStanding`] for each (query, entity), adds the
//! [`Delta`] of each signal to a [`Tally`] per entity, one per (query cluster, entity) and one
//! [`RankTotals`] per project, and reads those back to rank.

mod item_tally;
mod examination;
mod query_cluster;
mod multiplier;
mod reranking;

pub use query_cluster::{QueryCluster, cluster_of_text};
pub(crate) use query_cluster::{empty_words, stem};
pub use multiplier::{CoecRule, Estimator, Known, Multiplier, multiplier};
pub use examination::{Examination, RankTotals};
pub use model::{BANDS, Delta, ItemStanding, Opinion, RankBand, RelevanceSignal, UsageStanding};
pub use reranking::{Reranked, rerank};
pub use item_tally::{Counts, Tally};

#[cfg(test)]
mod tests;
