//! What is said about items that a query returned.

mod band;
mod signal;

use serde::{Deserialize, Serialize};

use crate::turn::Retrieved;
use crate::word::RelevanceSignal;

pub use band::{BANDS, RankBand};
pub use signal::{Delta, ItemStanding, Opinion, UsageStanding};

/// What a query returned, as the log keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Returned {
    /// Which query: an id of the application's, or the turn's.
    pub query_id: String,
    /// What was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// The items.
    pub entities: Vec<Retrieved>,
}

/// What became of items that a query returned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FoundRelevance {
    /// Which query.
    pub query_id: String,
    /// Which sort of question that was, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<u64>,
    /// Item by item.
    pub signals: Vec<EntitySignal>,
}

/// What became of one item.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EntitySignal {
    /// Which item.
    pub entity_id: String,
    /// What became of it.
    pub signal: RelevanceSignal,
    /// Its place among the results, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// What shows that it was used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What somebody said about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
}
