//! Bodies of few-shot example requests and responses.

use engine::FoundExample;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Body of `POST /api/v1/examples/select`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExampleRequest {
    pub(crate) query: String,
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
    examples: Vec<ExampleBody>,
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

impl From<Vec<FoundExample>> for ExamplesBody {
    fn from(found: Vec<FoundExample>) -> Self {
        Self { examples: found.into_iter().map(ExampleBody::from).collect() }
    }
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
