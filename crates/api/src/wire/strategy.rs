//! Strategies of earlier turns.

use engine::{FoundStrategy, Strategies};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// Body of `POST /api/v1/strategies/search`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StrategySearchRequest {
    pub(crate) query: String,
    pub(crate) k: Option<usize>,
    pub(crate) min_similarity: Option<f64>,
    pub(crate) mode: Option<String>,
    pub(crate) include_rejected: Option<bool>,
    pub(crate) user_id: Option<String>,
    pub(crate) intent: Option<String>,
}

/// Similar earlier turns to reuse, and those to avoid.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StrategiesBody {
    strategies: Vec<StrategyBody>,
    avoid: Vec<AvoidBody>,
    /// Quality of the search.
    search: SearchBody,
}

#[derive(Debug, Serialize, ToSchema)]
struct SearchBody {
    /// True when every turn was compared, false for an approximate search.
    exact: bool,
    /// True when the index covers all stored turns. False for some seconds after a start.
    complete: bool,
}

#[derive(Debug, Serialize, ToSchema)]
struct StrategyBody {
    turn_id: String,
    #[schema(value_type = Option<Object>)]
    strategy: Option<Value>,
    status: &'static str,
    quality_score: Option<f64>,
    similarity: f64,
    ranking_score: f64,
    satisfaction: f64,
    question: String,
}

#[derive(Debug, Serialize, ToSchema)]
struct AvoidBody {
    turn_id: String,
    #[schema(value_type = Option<Object>)]
    strategy: Option<Value>,
    user_said: Option<String>,
    similarity: f64,
    question: String,
}

impl From<Strategies> for StrategiesBody {
    fn from(found: Strategies) -> Self {
        Self {
            strategies: found.strategies.into_iter().map(StrategyBody::from).collect(),
            avoid: found.avoid.into_iter().map(AvoidBody::from).collect(),
            search: SearchBody { exact: found.exact, complete: found.complete },
        }
    }
}

fn strategy_json(found: &FoundStrategy) -> Option<Value> {
    let strategy = found.strategy.as_ref()?;
    Some(serde_json::json!({"name": strategy.name, "params": strategy.params}))
}

impl From<FoundStrategy> for StrategyBody {
    fn from(found: FoundStrategy) -> Self {
        Self {
            turn_id: found.turn.to_string(),
            strategy: strategy_json(&found),
            status: found.status.as_word(),
            quality_score: found.quality.map(|quality| quality.get()),
            similarity: found.similarity,
            ranking_score: found.ranking_score,
            satisfaction: found.satisfaction,
            question: found.question,
        }
    }
}

impl From<FoundStrategy> for AvoidBody {
    fn from(found: FoundStrategy) -> Self {
        Self {
            turn_id: found.turn.to_string(),
            strategy: strategy_json(&found),
            user_said: found.user_said,
            similarity: found.similarity,
            question: found.question,
        }
    }
}
