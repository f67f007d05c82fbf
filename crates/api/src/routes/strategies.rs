//! Which earlier strategy to reuse, and which to avoid.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use engine::{Engine, RankMode, StrategySearch};
use model::UserId;

use crate::address;
use crate::auth::{May, Using};
use crate::body::{self, Sent};
use crate::error::Problem;
use crate::wire::strategy::{StrategiesBody, StrategySearchRequest};

const MOST: usize = 100;
const MODES: &str = "tiered or formula";

/// `POST /api/v1/strategies/search`
#[utoipa::path(
    post,
    path = "/api/v1/strategies/search",
    tag = "strategies",
    summary = "Earlier turns like a question, by how their answers were taken",
    request_body(content = StrategySearchRequest, example = json!({"query": "laptops under $1000", "k": 5, "include_rejected": true})),
    responses((status = 200, description = "The best first", body = StrategiesBody))
)]
pub(crate) async fn search(
    State(engine): State<Arc<Engine>>,
    scope: May<Using>,
    sent: Sent,
) -> Result<Json<StrategiesBody>, Problem> {
    let request: StrategySearchRequest = body::shape(body::json(&sent)?)?;
    let found = engine.turns.find_strategies(scope.get(), read(request)?).await?;
    Ok(Json(found.into()))
}

fn read(request: StrategySearchRequest) -> Result<StrategySearch, Problem> {
    if request.query.trim().is_empty() {
        return Err(Problem::invalid("query", "query: empty, expected a question"));
    }
    body::check_length("query", &request.query)?;
    let mode = match request.mode.as_deref() {
        None | Some("tiered") => RankMode::Tiered,
        Some("formula") => RankMode::Formula,
        Some(_) => return Err(Problem::invalid("mode", format!("mode: expected {MODES}"))),
    };
    let min_similarity = request.min_similarity.unwrap_or(0.5);
    if !(-1.0..=1.0).contains(&min_similarity) {
        let detail = format!("min_similarity is {min_similarity}, expected -1 to 1");
        return Err(Problem::invalid("min_similarity", detail));
    }
    let k = match request.k {
        None => 5,
        Some(k) if (1..=MOST).contains(&k) => k,
        Some(k) => return Err(Problem::invalid("k", format!("k is {k}, expected 1 to {MOST}"))),
    };
    let user = request.user_id.map(|id| address::id("user_id", id, UserId::new)).transpose()?;
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
