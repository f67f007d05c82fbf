//! Retrieval feedback and reranking.

use engine::{EntityStats, RawRetrieved, RawReturned, RawSignal, RerankedResult};
use model::EntitySignal;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Several reports in one body: `{"items": […]}`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Items<T> {
    pub(crate) items: Vec<T>,
}

/// Body of `POST /api/v1/retrieval/returned`, or an element of its `items`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReturnedRequest {
    pub(crate) query_id: String,
    pub(crate) query: Option<String>,
    pub(crate) entities: Vec<EntityRequest>,
    pub(crate) user_id: Option<String>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EntityRequest {
    entity_id: String,
    name: Option<String>,
    content: Option<String>,
    /// Rank from 1; defaults to the position in the list.
    rank: Option<u32>,
    score: Option<f64>,
}

impl From<ReturnedRequest> for RawReturned {
    fn from(request: ReturnedRequest) -> Self {
        let item = |item: EntityRequest| RawRetrieved {
            entity_id: item.entity_id,
            name: item.name,
            content: item.content,
            rank: item.rank,
            score: item.score,
        };
        Self {
            query_id: request.query_id,
            query: request.query,
            entities: request.entities.into_iter().map(item).collect(),
        }
    }
}

/// Body of `POST /api/v1/retrieval/usage`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UsageRequest {
    pub(crate) query_id: String,
    pub(crate) response: String,
    /// `response` (default) or `code`.
    pub(crate) kind: Option<String>,
}

/// A signal per returned item.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct UsageResponse {
    pub(crate) signals: Vec<SignalBody>,
    /// True when the answer waits for the results of its query. Absent otherwise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) pending: bool,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct SignalBody {
    entity_id: String,
    /// `used` or `ignored`.
    signal: &'static str,
    /// Evidence: `name`, `citation` or `content`.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

impl From<EntitySignal> for SignalBody {
    fn from(signal: EntitySignal) -> Self {
        Self { entity_id: signal.entity_id, signal: signal.signal.as_word(), why: signal.why }
    }
}

/// Body of `POST /api/v1/retrieval/signals`, or an element of its `items`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SignalsRequest {
    pub(crate) query_id: String,
    pub(crate) query: Option<String>,
    pub(crate) signals: Vec<SignalRequest>,
    pub(crate) user_id: Option<String>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SignalRequest {
    entity_id: String,
    /// `used`, `ignored`, `explicit_positive` or `explicit_negative`.
    signal: String,
    rank: Option<u32>,
}

impl From<SignalRequest> for RawSignal {
    fn from(request: SignalRequest) -> Self {
        let SignalRequest { entity_id, signal, rank } = request;
        Self { entity_id, signal, rank, comment: None }
    }
}

/// Body of `POST /api/v1/retrieval/feedback`, or an element of its `items`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct HelpfulRequest {
    pub(crate) query_id: String,
    pub(crate) entity_id: String,
    pub(crate) helpful: bool,
    pub(crate) comment: Option<String>,
    pub(crate) user_id: Option<String>,
}

/// Usage counters of an item.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StatsBody {
    entity_id: String,
    total_returns: u64,
    used_count: u64,
    ignored_count: u64,
    positive_count: u64,
    negative_count: u64,
    use_rate: f64,
}

impl From<EntityStats> for StatsBody {
    fn from(stats: EntityStats) -> Self {
        let tally = stats.tally;
        let returns = tally.used + tally.ignored;
        Self {
            entity_id: stats.entity_id,
            total_returns: returns,
            used_count: tally.used,
            ignored_count: tally.ignored,
            positive_count: tally.positive,
            negative_count: tally.negative,
            use_rate: if returns == 0 { 0.5 } else { tally.used as f64 / returns as f64 },
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EntitiesBody {
    pub(crate) entities: Vec<StatsBody>,
}

/// Body of `POST /api/v1/retrieval/rerank`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RerankRequest {
    pub(crate) query: Option<String>,
    pub(crate) results: Vec<ResultRequest>,
    /// `seed` (default), `legacy` or `coec`.
    pub(crate) estimator: Option<String>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResultRequest {
    pub(crate) entity_id: String,
    pub(crate) score: f64,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RerankResponse {
    pub(crate) results: Vec<RerankedBody>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RerankedBody {
    entity_id: String,
    score: f64,
    original_score: f64,
    multiplier: f64,
    /// 95% confidence interval of the multiplier; with `coec` only.
    #[serde(skip_serializing_if = "Option::is_none")]
    interval: Option<[f64; 2]>,
    reason: String,
}

impl RerankedBody {
    pub(crate) fn new(entity_id: String, found: RerankedResult) -> Self {
        Self {
            entity_id,
            score: found.score,
            original_score: found.original_score,
            multiplier: found.multiplier.value,
            interval: found.multiplier.interval.map(|(low, high)| [low, high]),
            reason: found.multiplier.reason,
        }
    }
}
