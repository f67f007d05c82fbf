//! Retrieval feedback and reranking.

use axum::Json;
use axum::http::StatusCode;
use engine::{
    AnswerKind, Engine, Estimator, Extreme, IncomingReturned, IncomingSignals, RawSignal,
    RequestMark, Usage,
};
use model::{EntityId, RelevanceSignal, UserId};
use serde::de::DeserializeOwned;

use super::{ReceiptResult, StoredResult, read_mark, receipt_response};
use crate::body::{self, Payload};
use crate::error::{ApiResult, Problem};
use crate::middleware::auth::{ReadCall, UseCall, WriteCall};
use crate::params::{self, ParamKind, PathParam, QueryParams};
use crate::wire::retrieval::{
    EntitiesBody, HelpfulRequest, Items, RerankRequest, RerankResponse, RerankedBody,
    ReturnedRequest, SignalsRequest, StatsBody, UsageRequest, UsageResponse,
};

const MAX_ITEMS: usize = 1_000;
const MAX_RESULTS: usize = 10_000;
const DEFAULT_LIMIT: usize = 20;
const MAX_LIMIT: usize = 1_000;

#[utoipa::path(post, path = "/api/v1/retrieval/returned", tag = "retrieval",
    summary = "Record the items a query returned, or several queries with `items`",
    request_body(content = ReturnedRequest, example = json!({"query_id": "q1", "query": "How do users log in?", "entities": [{"entity_id": "e1", "name": "LoginService", "rank": 1}]})),
    responses((status = 201, description = "Stored", body = Object), (status = 200, description = "Already stored by an earlier request; nothing changed", body = Object)))]
pub(crate) async fn record_returned(call: WriteCall, payload: Payload) -> ReceiptResult {
    let (requests, mark) = read_reports::<ReturnedRequest>(&call.engine, &payload, "returned")?;
    let incoming = requests.into_iter().map(|mut request| {
        let user = params::parse_optional_id("user_id", request.user_id.take(), UserId::new)?;
        Ok(IncomingReturned { raw: request.into(), user })
    });
    let incoming = incoming.collect::<Result<Vec<_>, Problem>>()?;
    let receipt = call.engine.retrieval.record_returned(call.scope(), incoming, mark).await?;
    Ok(receipt_response(receipt))
}

#[utoipa::path(post, path = "/api/v1/retrieval/usage", tag = "retrieval",
    summary = "Detect which returned items an answer used, also before the items are reported; may be repeated for later answers and code",
    request_body(content = UsageRequest, example = json!({"query_id": "q1", "response": "The LoginService checks the password."})),
    responses((status = 200, description = "A signal per returned item", body = UsageResponse), (status = 202, description = "Stored; `pending` is true because the query is not stored yet", body = UsageResponse)))]
pub(crate) async fn record_usage(call: WriteCall, payload: Payload) -> StoredResult<UsageResponse> {
    let fields = body::parse_request::<UsageRequest>(&payload)?;
    let mark = read_mark(&call.engine, &payload, "usage", &[], &fields)?;
    let request: UsageRequest = body::decode_fields(fields)?;
    body::check_length("response", &request.response)?;
    let kinds = [("response", AnswerKind::Response), ("code", AnswerKind::Code)];
    let kind = params::choose_word("kind", request.kind.as_deref(), &kinds)?;
    let found = call
        .engine
        .retrieval
        .record_usage(call.scope(), request.query_id, &request.response, kind, mark)
        .await?;
    let (status, signals) = match found {
        Usage::Detected(signals) => (StatusCode::OK, signals),
        Usage::Pending => (StatusCode::ACCEPTED, Vec::new()),
    };
    let pending = status == StatusCode::ACCEPTED;
    let signals = signals.into_iter().map(Into::into).collect();
    Ok((status, Json(UsageResponse { signals, pending })))
}

#[utoipa::path(post, path = "/api/v1/retrieval/signals", tag = "retrieval",
    summary = "Record explicit signals about returned items, or several reports with `items`",
    request_body(content = SignalsRequest, example = json!({"query_id": "q1", "signals": [{"entity_id": "e1", "signal": "used"}]})),
    responses((status = 201, description = "Stored", body = Object), (status = 200, description = "Already stored by an earlier request; nothing changed", body = Object)))]
pub(crate) async fn record_signals(call: WriteCall, payload: Payload) -> ReceiptResult {
    let (requests, mark) = read_reports::<SignalsRequest>(&call.engine, &payload, "signals")?;
    let incoming = requests.into_iter().map(|request| {
        Ok(IncomingSignals {
            query_id: request.query_id,
            query: request.query,
            signals: request.signals.into_iter().map(RawSignal::from).collect(),
            user: params::parse_optional_id("user_id", request.user_id, UserId::new)?,
        })
    });
    let incoming = incoming.collect::<Result<Vec<_>, Problem>>()?;
    Ok(receipt_response(call.engine.retrieval.record_signals(call.scope(), incoming, mark).await?))
}

#[utoipa::path(post, path = "/api/v1/retrieval/feedback", tag = "retrieval",
    summary = "Record whether an item was helpful, or several reports with `items`",
    request_body(content = HelpfulRequest, example = json!({"query_id": "q1", "entity_id": "e1", "helpful": true})),
    responses((status = 201, description = "Stored", body = Object), (status = 200, description = "Already stored by an earlier request; nothing changed", body = Object)))]
pub(crate) async fn record_feedback(call: WriteCall, payload: Payload) -> ReceiptResult {
    let (requests, mark) = read_reports::<HelpfulRequest>(&call.engine, &payload, "helpful")?;
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
        let user = params::parse_optional_id("user_id", request.user_id, UserId::new)?;
        let query_id = request.query_id;
        Ok(IncomingSignals { query_id, query: None, signals: vec![signal], user })
    });
    let incoming = incoming.collect::<Result<Vec<_>, Problem>>()?;
    Ok(receipt_response(call.engine.retrieval.record_signals(call.scope(), incoming, mark).await?))
}

#[utoipa::path(get, path = "/api/v1/retrieval/entities/{entity_id}/stats", tag = "retrieval",
    summary = "Show how often an item was returned and used",
    params(("entity_id" = String, Path)),
    responses((status = 200, description = "Counters of the item", body = StatsBody)))]
pub(crate) async fn show_stats(call: ReadCall, entity: PathParam) -> ApiResult<StatsBody> {
    let entity = params::read_id("entity_id", entity, EntityId::new)?;
    Ok(Json(
        call.engine.retrieval.load_entity_stats(call.scope(), entity.to_string()).await?.into(),
    ))
}

#[utoipa::path(get, path = "/api/v1/retrieval/most-helpful", tag = "retrieval",
    summary = "List the most helpful items",
    params(("limit" = Option<usize>, Query)),
    responses((status = 200, description = "Items, best first", body = EntitiesBody)))]
pub(crate) async fn list_most_helpful(
    call: ReadCall,
    query: QueryParams,
) -> ApiResult<EntitiesBody> {
    list_extremes(&call, query, Extreme::Helpful).await
}

#[utoipa::path(get, path = "/api/v1/retrieval/most-ignored", tag = "retrieval",
    summary = "List the most ignored items",
    params(("limit" = Option<usize>, Query)),
    responses((status = 200, description = "Items, most ignored first", body = EntitiesBody)))]
pub(crate) async fn list_most_ignored(
    call: ReadCall,
    query: QueryParams,
) -> ApiResult<EntitiesBody> {
    list_extremes(&call, query, Extreme::Ignored).await
}

#[utoipa::path(post, path = "/api/v1/retrieval/rerank", tag = "retrieval",
    summary = "Rerank results by their past usage",
    request_body(content = RerankRequest, example = json!({"query": "How do users log in?", "results": [{"entity_id": "e1", "score": 0.8}]})),
    responses((status = 200, description = "Results, best first, with multipliers and reasons", body = RerankResponse)))]
pub(crate) async fn rerank_results(call: UseCall, payload: Payload) -> ApiResult<RerankResponse> {
    let request: RerankRequest = body::decode_json(&payload)?;
    if request.results.len() > MAX_RESULTS {
        let got = request.results.len();
        let detail = format!("results has {got} items, expected at most {MAX_RESULTS}");
        return Err(Problem::invalid("results", detail));
    }
    let estimators =
        [("seed", Estimator::Seed), ("legacy", Estimator::Legacy), ("coec", Estimator::Coec)];
    let estimator = params::choose_word("estimator", request.estimator.as_deref(), &estimators)?;
    let results: Vec<(String, f64)> =
        request.results.into_iter().map(|result| (result.entity_id, result.score)).collect();
    let query = request.query.as_deref().filter(|query| !query.trim().is_empty());
    body::check_length("query", query.unwrap_or_default())?;
    let found =
        call.engine.retrieval.rerank_results(call.scope(), query, &results, estimator).await?;
    let body =
        |found: engine::RerankedResult| RerankedBody::new(results[found.index].0.clone(), found);
    Ok(Json(RerankResponse { results: found.into_iter().map(body).collect() }))
}

/// Reads one report, or several in `items`, with the MAC of the request.
fn read_reports<T: DeserializeOwned>(
    engine: &Engine,
    payload: &Payload,
    mac_domain: &str,
) -> Result<(Vec<T>, RequestMark), Problem> {
    let fields = body::parse_request::<T>(payload)?;
    let mark = read_mark(engine, payload, mac_domain, &[], &fields)?;
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

async fn list_extremes(
    call: &ReadCall,
    query: QueryParams,
    which: Extreme,
) -> ApiResult<EntitiesBody> {
    let mut query = params::read_query(query, &[("limit", ParamKind::Scalar)])?;
    let limit = query.take_limit(DEFAULT_LIMIT, MAX_LIMIT)?;
    let found = call.engine.retrieval.list_extreme_entities(call.scope(), which, limit).await?;
    Ok(Json(EntitiesBody { entities: found.into_iter().map(Into::into).collect() }))
}
