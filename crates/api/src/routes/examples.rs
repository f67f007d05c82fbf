//! Selection of few-shot examples.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use engine::{Engine, ExampleSearch};

use crate::body::{self, Payload};
use crate::error::Problem;
use crate::middleware::auth::{Authorized, UseAccess};
use crate::params;
use crate::wire::example::{ExampleRequest, ExamplesBody};

const MAX_EXAMPLES: usize = 50;

#[utoipa::path(post, path = "/api/v1/examples/select", tag = "learning",
    summary = "Select few-shot examples: corrected, well-rated or accepted answers to similar questions",
    request_body(content = ExampleRequest, example = json!({"query": "Show total sales", "k": 3, "diversity": 0.3})),
    responses((status = 200, description = "Examples, best first", body = ExamplesBody)))]
pub(crate) async fn select_examples(
    State(engine): State<Arc<Engine>>,
    scope: Authorized<UseAccess>,
    payload: Payload,
) -> Result<Json<ExamplesBody>, Problem> {
    let request: ExampleRequest = body::decode_json(&payload)?;
    let found = engine.training_data.examples(scope.get(), parse_search(request)?).await?;
    Ok(Json(found.into()))
}

fn parse_search(request: ExampleRequest) -> Result<ExampleSearch, Problem> {
    let ExampleRequest { query, k, max_tokens, diversity } = request;
    if query.trim().is_empty() {
        return Err(Problem::invalid("query", "query is empty, expected a question"));
    }
    body::check_length("query", &query)?;
    let defaults = ExampleSearch::default();
    let k = params::check_count("k", k, defaults.k, MAX_EXAMPLES)?;
    let diversity = diversity.unwrap_or(defaults.diversity);
    if !(0.0..=1.0).contains(&diversity) {
        let detail = format!("diversity is {diversity}, expected 0 to 1");
        return Err(Problem::invalid("diversity", detail));
    }
    Ok(ExampleSearch { query, k, max_tokens, diversity, not: None })
}
