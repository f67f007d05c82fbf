//! Search for earlier strategies to reuse or to avoid.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use engine::{Engine, RankMode, StrategySearch};
use model::UserId;

use crate::body::{self, Payload};
use crate::error::{Problem, quote};
use crate::middleware::auth::{Authorized, UseAccess};
use crate::params;
use crate::wire::strategy::{StrategiesBody, StrategySearchRequest};

const MAX_RESULTS: usize = 100;

#[utoipa::path(post, path = "/api/v1/strategies/search", tag = "strategies",
    summary = "Search earlier turns similar to a question, ranked by their feedback",
    request_body(content = StrategySearchRequest, example = json!({"query": "laptops under $1000", "k": 5, "include_rejected": true})),
    responses((status = 200, description = "Strategies, best first", body = StrategiesBody)))]
pub(crate) async fn search_strategies(
    State(engine): State<Arc<Engine>>,
    scope: Authorized<UseAccess>,
    payload: Payload,
) -> Result<Json<StrategiesBody>, Problem> {
    let request: StrategySearchRequest = body::decode_json(&payload)?;
    let found = engine.turns.find_strategies(scope.get(), parse_search(request)?).await?;
    Ok(Json(found.into()))
}

fn parse_search(request: StrategySearchRequest) -> Result<StrategySearch, Problem> {
    if request.query.trim().is_empty() {
        return Err(Problem::invalid("query", "query is empty, expected a question"));
    }
    body::check_length("query", &request.query)?;
    let mode = match request.mode.as_deref() {
        None | Some("tiered") => RankMode::Tiered,
        Some("formula") => RankMode::Formula,
        Some(other) => {
            let detail = format!("mode is {}, expected tiered or formula", quote(other));
            return Err(Problem::invalid("mode", detail));
        }
    };
    let min_similarity = request.min_similarity.unwrap_or(0.5);
    if !(-1.0..=1.0).contains(&min_similarity) {
        let detail = format!("min_similarity is {min_similarity}, expected -1 to 1");
        return Err(Problem::invalid("min_similarity", detail));
    }
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
    })
}
