//! Strategies and few-shot examples from earlier turns.

use engine::{FoundExample, FoundStrategy, Strategies};
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

/// Body of `POST /api/v1/examples/select`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExampleRequest {
    pub(crate) query: String,
    pub(crate) tenant_id: Option<String>,
    /// Number of examples, default 3.
    pub(crate) k: Option<usize>,
    /// Upper bound for the estimated tokens of all examples together.
    pub(crate) max_tokens: Option<u32>,
    /// 0 selects the most similar, 1 the most diverse among the similar. Default 0.3.
    pub(crate) diversity: Option<f64>,
}

/// The selected examples.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ExamplesBody {
    pub(crate) examples: Vec<ExampleBody>,
}

/// A question with a good answer.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ExampleBody {
    input_text: String,
    output_text: String,
    explanation: Option<String>,
    /// `correction`, `rating` or `accepted`.
    source: &'static str,
    turn_id: Option<String>,
    similarity: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    rating: Option<f64>,
}

impl From<FoundExample> for ExampleBody {
    fn from(found: FoundExample) -> Self {
        Self {
            input_text: found.question,
            output_text: found.answer,
            explanation: found.explanation,
            source: found.source.as_word(),
            turn_id: found.turn.map(|turn| turn.to_string()),
            similarity: found.similarity,
            rating: found.rating.map(|rating| rating.get()),
        }
    }
}
