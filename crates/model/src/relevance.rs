//! Feedback on retrieved items.

mod band;
mod signal;

use serde::{Deserialize, Serialize};

use crate::turn::Retrieved;
use crate::word::RelevanceSignal;

pub use band::{BANDS, RankBand};
pub use signal::{Delta, ItemStanding, Opinion, UsageStanding};

/// The results of a query.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Returned {
    /// The application's id of the query, or the turn's.
    pub query_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    pub entities: Vec<Retrieved>,
}

/// An answer whose use of a query's results was reported before the results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingUsage {
    pub query_id: String,
    /// Empty when erased.
    pub response: String,
    /// True when the answer is program code.
    pub is_code: bool,
}

/// Feedback on the results of a query.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FoundRelevance {
    pub query_id: String,
    /// Cluster of the question, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<u64>,
    pub signals: Vec<EntitySignal>,
}

/// Feedback on one item.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EntitySignal {
    pub entity_id: String,
    pub signal: RelevanceSignal,
    /// Rank from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// Evidence of its use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The comment on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
}
