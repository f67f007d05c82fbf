//! Retrieval that learns what was used.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use engine::{
    AnswerKind, Engine, Estimator, Extreme, IncomingReturned, IncomingSignals, RawSignal, Receipt,
    RequestMark,
};
use model::{EntityId, RelevanceSignal, UserId};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::feedback::request_key;
use crate::address::{self, Parameters, Parts, Read};
use crate::auth::{May, Reading, Using, Writing};
use crate::body::{self, Sent};
use crate::error::Problem;
use crate::wire::retrieval::{
    EntitiesBody, HelpfulRequest, Items, RerankRequest, RerankResponse, RerankedBody,
    ReturnedRequest, SignalsRequest, StatsBody, UsageRequest, UsageResponse,
};

const MOST_ITEMS: usize = 1_000;
const MOST_RESULTS: usize = 10_000;
const MOST_LISTED: usize = 1_000;

/// `POST /api/v1/retrieval/returned`
#[utoipa::path(
    post,
    path = "/api/v1/retrieval/returned",
    tag = "retrieval",
    summary = "What a query returned, or several with items",
    request_body(content = ReturnedRequest, example = json!({"query_id": "q1", "query": "How do users log in?", "entities": [{"entity_id": "e1", "name": "LoginService", "rank": 1}]})),
    responses((status = 201, description = "Stored", body = Object), (status = 200, description = "Stored before; nothing changed", body = Object))
)]
pub(crate) async fn returned(
    State(engine): State<Arc<Engine>>,
    scope: May<Writing>,
    sent: Sent,
) -> Result<(StatusCode, Json<Value>), Problem> {
    let (requests, mark) = read::<ReturnedRequest>(&engine, &sent, "returned")?;
    let incoming = requests.into_iter().map(|mut request| {
        let user = user_id(request.user_id.take())?;
        Ok(IncomingReturned { raw: request.into(), user })
    });
    let incoming = incoming.collect::<Result<Vec<_>, Problem>>()?;
    let receipt = engine.retrieval.record_returned(scope.get(), incoming, mark).await?;
    Ok(stored(&receipt))
}

/// `POST /api/v1/retrieval/usage`
#[utoipa::path(
    post,
    path = "/api/v1/retrieval/usage",
    tag = "retrieval",
    summary = "Which returned items an answer used; again for later answers and for code",
    request_body(content = UsageRequest, example = json!({"query_id": "q1", "response": "The LoginService checks the password."})),
    responses((status = 200, description = "What became of each item", body = UsageResponse))
)]
pub(crate) async fn usage(
    State(engine): State<Arc<Engine>>,
    scope: May<Writing>,
    sent: Sent,
) -> Result<Json<UsageResponse>, Problem> {
    let fields = body::json(&sent)?;
    let mark = mark(&engine, &sent, "usage", &fields)?;
    let request: UsageRequest = body::shape(fields)?;
    body::check_length("response", &request.response)?;
    let kind = match request.kind.as_deref() {
        None | Some("response") => AnswerKind::Response,
        Some("code") => AnswerKind::Code,
        Some(_) => return Err(Problem::invalid("kind", "kind: expected response or code")),
    };
    let found = engine
        .retrieval
        .record_usage(scope.get(), request.query_id, &request.response, kind, mark)
        .await?;
    Ok(Json(UsageResponse { signals: found.into_iter().map(Into::into).collect() }))
}

/// `POST /api/v1/retrieval/signals`
#[utoipa::path(
    post,
    path = "/api/v1/retrieval/signals",
    tag = "retrieval",
    summary = "What became of returned items, said outright, or several with items",
    request_body(content = SignalsRequest, example = json!({"query_id": "q1", "signals": [{"entity_id": "e1", "signal": "used"}]})),
    responses((status = 201, description = "Stored", body = Object), (status = 200, description = "Stored before; nothing changed", body = Object))
)]
pub(crate) async fn signals(
    State(engine): State<Arc<Engine>>,
    scope: May<Writing>,
    sent: Sent,
) -> Result<(StatusCode, Json<Value>), Problem> {
    let (requests, mark) = read::<SignalsRequest>(&engine, &sent, "signals")?;
    let incoming = requests.into_iter().map(|request| {
        Ok(IncomingSignals {
            query_id: request.query_id,
            query: request.query,
            signals: request.signals.into_iter().map(RawSignal::from).collect(),
            user: user_id(request.user_id)?,
        })
    });
    let incoming = incoming.collect::<Result<Vec<_>, Problem>>()?;
    Ok(stored(&engine.retrieval.record_signals(scope.get(), incoming, mark).await?))
}

/// `POST /api/v1/retrieval/feedback`
#[utoipa::path(
    post,
    path = "/api/v1/retrieval/feedback",
    tag = "retrieval",
    summary = "Whether an item was helpful, or several with items",
    request_body(content = HelpfulRequest, example = json!({"query_id": "q1", "entity_id": "e1", "helpful": true})),
    responses((status = 201, description = "Stored", body = Object), (status = 200, description = "Stored before; nothing changed", body = Object))
)]
pub(crate) async fn feedback(
    State(engine): State<Arc<Engine>>,
    scope: May<Writing>,
    sent: Sent,
) -> Result<(StatusCode, Json<Value>), Problem> {
    let (requests, mark) = read::<HelpfulRequest>(&engine, &sent, "helpful")?;
    let incoming = requests.into_iter().map(|request| {
        let signal = match request.helpful {
            true => RelevanceSignal::ExplicitPositive,
            false => RelevanceSignal::ExplicitNegative,
        };
        let said = RawSignal {
            entity_id: request.entity_id,
            signal: signal.as_word().to_owned(),
            rank: None,
            comment: request.comment,
        };
        let user = user_id(request.user_id)?;
        let query_id = request.query_id;
        Ok(IncomingSignals { query_id, query: None, signals: vec![said], user })
    });
    let incoming = incoming.collect::<Result<Vec<_>, Problem>>()?;
    Ok(stored(&engine.retrieval.record_signals(scope.get(), incoming, mark).await?))
}

/// `GET /api/v1/retrieval/entities/{id}/stats`
#[utoipa::path(
    get,
    path = "/api/v1/retrieval/entities/{entity_id}/stats",
    tag = "retrieval",
    summary = "How often an item was returned and used",
    params(("entity_id" = String, Path)),
    responses((status = 200, description = "Its counters", body = StatsBody))
)]
pub(crate) async fn stats(
    State(engine): State<Arc<Engine>>,
    scope: May<Reading>,
    entity: Parts<String>,
) -> Result<Json<StatsBody>, Problem> {
    let entity = address::id("entity_id", address::parts(entity)?, EntityId::new)?;
    Ok(Json(engine.retrieval.load_entity_stats(scope.get(), entity.to_string()).await?.into()))
}

/// `GET /api/v1/retrieval/most-helpful`
#[utoipa::path(
    get,
    path = "/api/v1/retrieval/most-helpful",
    tag = "retrieval",
    summary = "The items that were used and called helpful most",
    params(("limit" = Option<usize>, Query)),
    responses((status = 200, description = "The best first", body = EntitiesBody))
)]
pub(crate) async fn most_helpful(
    State(engine): State<Arc<Engine>>,
    scope: May<Reading>,
    parameters: Parameters,
) -> Result<Json<EntitiesBody>, Problem> {
    let limit = limit(parameters)?;
    let found =
        engine.retrieval.list_extreme_entities(scope.get(), Extreme::Helpful, limit).await?;
    Ok(Json(EntitiesBody { entities: found.into_iter().map(Into::into).collect() }))
}

/// `GET /api/v1/retrieval/most-ignored`
#[utoipa::path(
    get,
    path = "/api/v1/retrieval/most-ignored",
    tag = "retrieval",
    summary = "The items that were ignored most",
    params(("limit" = Option<usize>, Query)),
    responses((status = 200, description = "The worst first", body = EntitiesBody))
)]
pub(crate) async fn most_ignored(
    State(engine): State<Arc<Engine>>,
    scope: May<Reading>,
    parameters: Parameters,
) -> Result<Json<EntitiesBody>, Problem> {
    let limit = limit(parameters)?;
    let found =
        engine.retrieval.list_extreme_entities(scope.get(), Extreme::Ignored, limit).await?;
    Ok(Json(EntitiesBody { entities: found.into_iter().map(Into::into).collect() }))
}

/// `POST /api/v1/retrieval/rerank`
#[utoipa::path(
    post,
    path = "/api/v1/retrieval/rerank",
    tag = "retrieval",
    summary = "Results in the order that their past suggests",
    request_body(content = RerankRequest, example = json!({"query": "How do users log in?", "results": [{"entity_id": "e1", "score": 0.8}]})),
    responses((status = 200, description = "The best first, with multipliers and why", body = RerankResponse))
)]
pub(crate) async fn rerank(
    State(engine): State<Arc<Engine>>,
    scope: May<Using>,
    sent: Sent,
) -> Result<Json<RerankResponse>, Problem> {
    let request: RerankRequest = body::shape(body::json(&sent)?)?;
    if request.results.len() > MOST_RESULTS {
        let got = request.results.len();
        let detail = format!("results has {got} items, expected at most {MOST_RESULTS}");
        return Err(Problem::invalid("results", detail));
    }
    let estimator = match request.estimator.as_deref() {
        None | Some("seed") => Estimator::Seed,
        Some("legacy") => Estimator::Legacy,
        Some("coec") => Estimator::Coec,
        Some(_) => {
            let detail = "estimator: expected seed, legacy or coec";
            return Err(Problem::invalid("estimator", detail));
        }
    };
    let results: Vec<(String, f64)> =
        request.results.into_iter().map(|result| (result.entity_id, result.score)).collect();
    let query = request.query.as_deref().filter(|query| !query.trim().is_empty());
    body::check_length("query", query.unwrap_or_default())?;
    let found = engine.retrieval.rerank_results(scope.get(), query, &results, estimator).await?;
    let body = |found: engine::Reranked| RerankedBody::new(results[found.index].0.clone(), found);
    Ok(Json(RerankResponse { results: found.into_iter().map(body).collect() }))
}

fn stored(receipt: &Receipt) -> (StatusCode, Json<Value>) {
    let status = if receipt.replayed { StatusCode::OK } else { StatusCode::CREATED };
    (status, Json(json!({"id": receipt.id.as_str(), "replayed": receipt.replayed})))
}

/// One report or several, with what the request is known by.
fn read<T: DeserializeOwned>(
    engine: &Engine,
    sent: &Sent,
    door: &str,
) -> Result<(Vec<T>, RequestMark), Problem> {
    let fields = body::json(sent)?;
    let mark = mark(engine, sent, door, &fields)?;
    let many = fields.as_object().is_some_and(|fields| fields.contains_key("items"));
    let requests = match many {
        true => body::shape::<Items<T>>(fields)?.items,
        false => vec![body::shape::<T>(fields)?],
    };
    if requests.is_empty() || requests.len() > MOST_ITEMS {
        let detail = format!("items has {}, expected 1 to {MOST_ITEMS}", requests.len());
        return Err(Problem::invalid("items", detail));
    }
    Ok((requests, mark))
}

fn mark(engine: &Engine, sent: &Sent, door: &str, fields: &Value) -> Result<RequestMark, Problem> {
    let key = request_key(engine, &sent.headers, door, &[], fields)?;
    Ok(RequestMark { mac: engine.fingerprint(door, fields), key })
}

fn user_id(id: Option<String>) -> Result<Option<UserId>, Problem> {
    id.map(|id| address::id("user_id", id, UserId::new)).transpose()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Listing {
    limit: Option<usize>,
}

fn limit(parameters: Parameters) -> Result<usize, Problem> {
    let listing: Listing = body::shape(address::as_json(parameters, &[("limit", Read::Plain)])?)?;
    match listing.limit {
        None => Ok(20),
        Some(limit) if (1..=MOST_LISTED).contains(&limit) => Ok(limit),
        Some(limit) => {
            let detail = format!("limit is {limit}, expected 1 to {MOST_LISTED}");
            Err(Problem::invalid("limit", detail))
        }
    }
}
