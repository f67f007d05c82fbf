//! Retrieval feedback and reranking.

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

use super::feedback::read_request_key;
use super::stored_status;
use crate::body::{self, Payload};
use crate::error::{Problem, quote};
use crate::middleware::auth::{Authorized, ReadAccess, UseAccess, WriteAccess};
use crate::params::{self, ParamKind, PathParams, QueryParams};
use crate::wire::retrieval::{
    EntitiesBody, HelpfulRequest, Items, RerankRequest, RerankResponse, RerankedBody,
    ReturnedRequest, SignalsRequest, StatsBody, UsageRequest, UsageResponse,
};

const MAX_ITEMS: usize = 1_000;
const MAX_RESULTS: usize = 10_000;
const MAX_LIMIT: usize = 1_000;

#[utoipa::path(post, path = "/api/v1/retrieval/returned", tag = "retrieval",
    summary = "Record the items a query returned, or several queries with `items`",
    request_body(content = ReturnedRequest, example = json!({"query_id": "q1", "query": "How do users log in?", "entities": [{"entity_id": "e1", "name": "LoginService", "rank": 1}]})),
    responses((status = 201, description = "Stored", body = Object), (status = 200, description = "Already stored by an earlier request; nothing changed", body = Object)))]
pub(crate) async fn record_returned(
    State(engine): State<Arc<Engine>>,
    scope: Authorized<WriteAccess>,
    payload: Payload,
) -> Result<(StatusCode, Json<Value>), Problem> {
    let (requests, mark) = read_reports::<ReturnedRequest>(&engine, &payload, "returned")?;
    let incoming = requests.into_iter().map(|mut request| {
        let user = parse_user_id(request.user_id.take())?;
        Ok(IncomingReturned { raw: request.into(), user })
    });
    let incoming = incoming.collect::<Result<Vec<_>, Problem>>()?;
    let receipt = engine.retrieval.record_returned(scope.get(), incoming, mark).await?;
    Ok(receipt_response(&receipt))
}

#[utoipa::path(post, path = "/api/v1/retrieval/usage", tag = "retrieval",
    summary = "Detect which returned items an answer used; may be repeated for later answers and code",
    request_body(content = UsageRequest, example = json!({"query_id": "q1", "response": "The LoginService checks the password."})),
    responses((status = 200, description = "A signal per returned item", body = UsageResponse)))]
pub(crate) async fn record_usage(
    State(engine): State<Arc<Engine>>,
    scope: Authorized<WriteAccess>,
    payload: Payload,
) -> Result<Json<UsageResponse>, Problem> {
    let fields = body::parse_json(&payload)?;
    let mark = request_mark(&engine, &payload, "usage", &fields)?;
    let request: UsageRequest = body::decode_fields(fields)?;
    body::check_length("response", &request.response)?;
    let kind = match request.kind.as_deref() {
        None | Some("response") => AnswerKind::Response,
        Some("code") => AnswerKind::Code,
        Some(other) => {
            let detail = format!("kind is {}, expected response or code", quote(other));
            return Err(Problem::invalid("kind", detail));
        }
    };
    let found = engine
        .retrieval
        .record_usage(scope.get(), request.query_id, &request.response, kind, mark)
        .await?;
    Ok(Json(UsageResponse { signals: found.into_iter().map(Into::into).collect() }))
}

#[utoipa::path(post, path = "/api/v1/retrieval/signals", tag = "retrieval",
    summary = "Record explicit signals about returned items, or several reports with `items`",
    request_body(content = SignalsRequest, example = json!({"query_id": "q1", "signals": [{"entity_id": "e1", "signal": "used"}]})),
    responses((status = 201, description = "Stored", body = Object), (status = 200, description = "Already stored by an earlier request; nothing changed", body = Object)))]
pub(crate) async fn record_signals(
    State(engine): State<Arc<Engine>>,
    scope: Authorized<WriteAccess>,
    payload: Payload,
) -> Result<(StatusCode, Json<Value>), Problem> {
    let (requests, mark) = read_reports::<SignalsRequest>(&engine, &payload, "signals")?;
    let incoming = requests.into_iter().map(|request| {
        Ok(IncomingSignals {
            query_id: request.query_id,
            query: request.query,
            signals: request.signals.into_iter().map(RawSignal::from).collect(),
            user: parse_user_id(request.user_id)?,
        })
    });
    let incoming = incoming.collect::<Result<Vec<_>, Problem>>()?;
    Ok(receipt_response(&engine.retrieval.record_signals(scope.get(), incoming, mark).await?))
}

#[utoipa::path(post, path = "/api/v1/retrieval/feedback", tag = "retrieval",
    summary = "Record whether an item was helpful, or several reports with `items`",
    request_body(content = HelpfulRequest, example = json!({"query_id": "q1", "entity_id": "e1", "helpful": true})),
    responses((status = 201, description = "Stored", body = Object), (status = 200, description = "Already stored by an earlier request; nothing changed", body = Object)))]
pub(crate) async fn record_feedback(
    State(engine): State<Arc<Engine>>,
    scope: Authorized<WriteAccess>,
    payload: Payload,
) -> Result<(StatusCode, Json<Value>), Problem> {
    let (requests, mark) = read_reports::<HelpfulRequest>(&engine, &payload, "helpful")?;
    let incoming = requests.into_iter().map(|request| {
        let signal = match request.helpful {
            true => RelevanceSignal::ExplicitPositive,
            false => RelevanceSignal::ExplicitNegative,
        };
        let signal = RawSignal {
            entity_id: request.entity_id,
            signal: signal.as_word().to_owned(),
            rank: None,
            comment: request.comment,
        };
        let user = parse_user_id(request.user_id)?;
        let query_id = request.query_id;
        Ok(IncomingSignals { query_id, query: None, signals: vec![signal], user })
    });
    let incoming = incoming.collect::<Result<Vec<_>, Problem>>()?;
    Ok(receipt_response(&engine.retrieval.record_signals(scope.get(), incoming, mark).await?))
}

#[utoipa::path(get, path = "/api/v1/retrieval/entities/{entity_id}/stats", tag = "retrieval",
    summary = "Show how often an item was returned and used",
    params(("entity_id" = String, Path)),
    responses((status = 200, description = "Counters of the item", body = StatsBody)))]
pub(crate) async fn show_stats(
    State(engine): State<Arc<Engine>>,
    scope: Authorized<ReadAccess>,
    entity: PathParams<String>,
) -> Result<Json<StatsBody>, Problem> {
    let entity = params::parse_id("entity_id", params::read_path(entity)?, EntityId::new)?;
    Ok(Json(engine.retrieval.load_entity_stats(scope.get(), entity.to_string()).await?.into()))
}

#[utoipa::path(get, path = "/api/v1/retrieval/most-helpful", tag = "retrieval",
    summary = "List the most helpful items",
    params(("limit" = Option<usize>, Query)),
    responses((status = 200, description = "Items, best first", body = EntitiesBody)))]
pub(crate) async fn list_most_helpful(
    State(engine): State<Arc<Engine>>,
    scope: Authorized<ReadAccess>,
    parameters: QueryParams,
) -> Result<Json<EntitiesBody>, Problem> {
    let limit = parse_limit(parameters)?;
    let found =
        engine.retrieval.list_extreme_entities(scope.get(), Extreme::Helpful, limit).await?;
    Ok(Json(EntitiesBody { entities: found.into_iter().map(Into::into).collect() }))
}

#[utoipa::path(get, path = "/api/v1/retrieval/most-ignored", tag = "retrieval",
    summary = "List the most ignored items",
    params(("limit" = Option<usize>, Query)),
    responses((status = 200, description = "Items, most ignored first", body = EntitiesBody)))]
pub(crate) async fn list_most_ignored(
    State(engine): State<Arc<Engine>>,
    scope: Authorized<ReadAccess>,
    parameters: QueryParams,
) -> Result<Json<EntitiesBody>, Problem> {
    let limit = parse_limit(parameters)?;
    let found =
        engine.retrieval.list_extreme_entities(scope.get(), Extreme::Ignored, limit).await?;
    Ok(Json(EntitiesBody { entities: found.into_iter().map(Into::into).collect() }))
}

#[utoipa::path(post, path = "/api/v1/retrieval/rerank", tag = "retrieval",
    summary = "Rerank results by their past usage",
    request_body(content = RerankRequest, example = json!({"query": "How do users log in?", "results": [{"entity_id": "e1", "score": 0.8}]})),
    responses((status = 200, description = "Results, best first, with multipliers and reasons", body = RerankResponse)))]
pub(crate) async fn rerank_results(
    State(engine): State<Arc<Engine>>,
    scope: Authorized<UseAccess>,
    payload: Payload,
) -> Result<Json<RerankResponse>, Problem> {
    let request: RerankRequest = body::decode_json(&payload)?;
    if request.results.len() > MAX_RESULTS {
        let got = request.results.len();
        let detail = format!("results has {got} items, expected at most {MAX_RESULTS}");
        return Err(Problem::invalid("results", detail));
    }
    let estimator = match request.estimator.as_deref() {
        None | Some("seed") => Estimator::Seed,
        Some("legacy") => Estimator::Legacy,
        Some("coec") => Estimator::Coec,
        Some(other) => {
            let detail = format!("estimator is {}, expected seed, legacy or coec", quote(other));
            return Err(Problem::invalid("estimator", detail));
        }
    };
    let results: Vec<(String, f64)> =
        request.results.into_iter().map(|result| (result.entity_id, result.score)).collect();
    let query = request.query.as_deref().filter(|query| !query.trim().is_empty());
    body::check_length("query", query.unwrap_or_default())?;
    let found = engine.retrieval.rerank_results(scope.get(), query, &results, estimator).await?;
    let body =
        |found: engine::RerankedResult| RerankedBody::new(results[found.index].0.clone(), found);
    Ok(Json(RerankResponse { results: found.into_iter().map(body).collect() }))
}

fn receipt_response(receipt: &Receipt) -> (StatusCode, Json<Value>) {
    (
        stored_status(receipt.replayed),
        Json(json!({"id": receipt.id.as_str(), "replayed": receipt.replayed})),
    )
}

/// Reads one report, or several in `items`, with the MAC of the request.
fn read_reports<T: DeserializeOwned>(
    engine: &Engine,
    payload: &Payload,
    mac_domain: &str,
) -> Result<(Vec<T>, RequestMark), Problem> {
    let fields = body::parse_json(payload)?;
    let mark = request_mark(engine, payload, mac_domain, &fields)?;
    let many = fields.as_object().is_some_and(|fields| fields.contains_key("items"));
    let requests = match many {
        true => body::decode_fields::<Items<T>>(fields)?.items,
        false => vec![body::decode_fields::<T>(fields)?],
    };
    if requests.is_empty() || requests.len() > MAX_ITEMS {
        let detail = format!("items has {} reports, expected 1 to {MAX_ITEMS}", requests.len());
        return Err(Problem::invalid("items", detail));
    }
    Ok((requests, mark))
}

fn request_mark(
    engine: &Engine,
    payload: &Payload,
    mac_domain: &str,
    fields: &Value,
) -> Result<RequestMark, Problem> {
    let key = read_request_key(engine, &payload.headers, mac_domain, &[], fields)?;
    Ok(RequestMark { mac: engine.fingerprint(mac_domain, fields), key })
}

fn parse_user_id(id: Option<String>) -> Result<Option<UserId>, Problem> {
    id.map(|id| params::parse_id("user_id", id, UserId::new)).transpose()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Listing {
    limit: Option<usize>,
}

fn parse_limit(parameters: QueryParams) -> Result<usize, Problem> {
    let listing: Listing = params::decode_query(parameters, &[("limit", ParamKind::Scalar)])?;
    params::check_count("limit", listing.limit, 20, MAX_LIMIT)
}
