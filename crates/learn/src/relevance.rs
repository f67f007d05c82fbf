//! Relevance feedback: what was used rises, what was passed over sinks.
//!
//! Pure arithmetic over counters. A store keeps one [`ItemStanding`] for each (query, entity), adds the
//! [`Delta`] of each signal to a [`Tally`] per entity, one per (query cluster, entity) and one
//! [`RankTotals`] per project, and reads those back to rank.

mod tally;
mod examination;
mod cluster;
mod estimate;
mod rerank;

pub use cluster::{QueryCluster, cluster_of_text};
pub(crate) use cluster::{empty_words, stem};
pub use estimate::{CoecRule, Estimator, Known, Multiplier, multiplier};
pub use examination::{Examination, RankTotals};
pub use model::{BANDS, Delta, ItemStanding, Opinion, RankBand, RelevanceSignal, UsageStanding};
pub use rerank::{Reranked, rerank};
pub use tally::{Counts, Tally};

#[cfg(test)]
mod tests;
