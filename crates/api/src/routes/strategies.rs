//! Search for strategies and few-shot examples in earlier turns.

use axum::Json;
use engine::{ExampleSearch, RankMode, StrategySearch};
use model::UserId;

use crate::body::{self, Payload};
use crate::error::{ApiResult, Problem};
use crate::middleware::auth::UseCall;
use crate::params;
use crate::wire::strategy::{ExampleRequest, ExamplesBody, StrategiesBody, StrategySearchRequest};

const MAX_RESULTS: usize = 100;
const MAX_EXAMPLES: usize = 50;

#[utoipa::path(post, path = "/api/v1/strategies/search", tag = "strategies",
    summary = "Search earlier turns similar to a question, ranked by their feedback",
    request_body(content = StrategySearchRequest, example = json!({"query": "laptops under $1000", "k": 5, "include_rejected": true})),
    responses((status = 200, description = "Strategies, best first", body = StrategiesBody)))]
pub(crate) async fn search_strategies(
    call: UseCall,
    payload: Payload,
) -> ApiResult<StrategiesBody> {
    let request: StrategySearchRequest = body::decode_json(&payload)?;
    let found = call.engine.turns.find_strategies(call.scope(), parse_search(request)?).await?;
    Ok(Json(found.into()))
}

fn parse_search(request: StrategySearchRequest) -> Result<StrategySearch, Problem> {
    check_question(&request.query)?;
    let modes = [("tiered", RankMode::Tiered), ("formula", RankMode::Formula)];
    let mode = params::choose_word("mode", request.mode.as_deref(), &modes)?;
    let min_similarity = request.min_similarity.unwrap_or(0.5);
    params::check_range("min_similarity", min_similarity, -1.0..=1.0)?;
    let k = params::check_count("k", request.k, 5, MAX_RESULTS)?;
    let user = params::parse_optional_id("user_id", request.user_id, UserId::new)?;
    Ok(StrategySearch {
        query: request.query,
        k,
        min_similarity,
        mode,
        include_rejected: request.include_rejected.unwrap_or(false),
        user,
        intent: request.intent,
        exclude_turn: None,
        rejected_turn: None,
    })
}

#[utoipa::path(post, path = "/api/v1/examples/select", tag = "learning",
    summary = "Select few-shot examples: corrected, well-rated or accepted answers to similar questions",
    request_body(content = ExampleRequest, example = json!({"query": "Show total sales", "k": 3, "diversity": 0.3})),
    responses((status = 200, description = "Examples, best first", body = ExamplesBody)))]
pub(crate) async fn select_examples(call: UseCall, payload: Payload) -> ApiResult<ExamplesBody> {
    let request: ExampleRequest = body::decode_json(&payload)?;
    let scope = call.resolve_tenant(request.tenant_id.as_deref())?;
    let search = parse_example_search(request)?;
    let found = call.engine.training_data.examples(&scope, search).await?;
    Ok(Json(ExamplesBody { examples: found.into_iter().map(Into::into).collect() }))
}

fn parse_example_search(request: ExampleRequest) -> Result<ExampleSearch, Problem> {
    let ExampleRequest { query, k, max_tokens, diversity, tenant_id: _ } = request;
    check_question(&query)?;
    let defaults = ExampleSearch::default();
    let k = params::check_count("k", k, defaults.k, MAX_EXAMPLES)?;
    let diversity = diversity.unwrap_or(defaults.diversity);
    params::check_range("diversity", diversity, 0.0..=1.0)?;
    Ok(ExampleSearch { query, k, max_tokens, diversity, not: None })
}

fn check_question(query: &str) -> Result<(), Problem> {
    if query.trim().is_empty() {
        return Err(Problem::invalid("query", "query is empty, expected a question"));
    }
    body::check_length("query", query)
}
