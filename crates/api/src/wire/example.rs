//! Few-shot examples on the wire.

use engine::FoundExample;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// `POST /api/v1/examples/select`
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExampleRequest {
    pub(crate) query: String,
    /// How many; 3 when left out.
    pub(crate) k: Option<usize>,
    /// How long all of them may be together, by estimate.
    pub(crate) max_tokens: Option<u32>,
    /// 0: the nearest; 1: the least alike among the nearest. 0.3 when left out.
    pub(crate) diversity: Option<f64>,
}

/// The chosen examples.
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
    /// correction, rating or accepted.
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
