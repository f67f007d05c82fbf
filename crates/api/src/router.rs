//! The routes of the API and the middleware around them.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::{DefaultBodyLimit, MatchedPath, Request};
use axum::middleware::{from_fn, from_fn_with_state, map_response};
use axum::response::IntoResponse;
use axum::routing::{get, post};
use axum::{Extension, Router};
use engine::{CopySettings, Engine};
use serde_json::Value;
use tower_service::Service;
use utoipa::OpenApi;
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouterExt};
use utoipa_axum::routes;

use crate::error::{Problem, quote};
use crate::middleware::RateLimits;
use crate::middleware::auth::{self, AuthState, identify_caller};
use crate::middleware::batch_limiter::{self, BatchLimiter};
use crate::middleware::client_address::{TrustedProxies, resolve_client};
use crate::middleware::cors;
use crate::middleware::metrics::{RequestMetrics, measure_requests};
use crate::middleware::request_id::{self, RequestIds};
use crate::middleware::trailing_newline::add_trailing_newline;
use crate::openapi::Document;
use crate::reference::{self, ApiDocs};
use crate::routes::{
    artifacts, batch, decisions, events, experiments, failures, feedback, keys, lists, operations,
    otlp, preferences, quality, reports, retrieval, routers, strategies, tenants, turns,
};
use crate::site;
use crate::unpack::UnpackedLimit;
use crate::widget;

#[derive(Clone, Debug)]
pub struct Settings {
    /// Largest request body, except for batches.
    pub body_bytes: usize,
    pub batch_bytes: usize,
    /// Storage for copies of turn logs.
    pub copies: CopySettings,
    /// Grants full access to the owner of the data folder.
    pub owner_token: String,
    pub trusted_proxies: TrustedProxies,
}

/// All routes, with the middleware that every request passes.
#[derive(Clone, Debug)]
pub struct Api {
    routes: Router,
    middleware: MiddlewareStack,
    body_bytes: usize,
}

impl Api {
    /// `run` distinguishes runs of the server in request ids.
    pub fn new(engine: Arc<Engine>, settings: Settings, run: &str) -> Self {
        let middleware = MiddlewareStack {
            auth: AuthState {
                engine: Arc::clone(&engine),
                owner_token: settings.owner_token.as_str().into(),
                limits: RateLimits::default(),
            },
            proxies: settings.trusted_proxies.clone(),
            ids: RequestIds::new(run),
            requests: RequestMetrics::default(),
        };
        let body_bytes = settings.body_bytes;
        let routes = build_routes(engine, settings, middleware.requests.clone());
        Self { routes, middleware, body_bytes }
    }

    pub fn into_router(self) -> Router {
        self.middleware.wrap(self.routes)
    }

    /// Mounts a service such as MCP at `path`, for all keys except widget keys. Each API call of the
    /// service is authorized separately with the client's key.
    pub fn into_router_with<S>(self, path: &str, service: S) -> Router
    where
        S: Service<Request, Error = Infallible> + Clone + Send + Sync + 'static,
        S::Response: IntoResponse,
        S::Future: Send + 'static,
    {
        let service = Router::new()
            .route_service(path, service)
            .layer(from_fn(auth::authorize_service))
            .layer(DefaultBodyLimit::max(self.body_bytes));
        self.middleware.wrap(self.routes.merge(service))
    }
}

/// Layers that every request passes, outermost last.
#[derive(Clone, Debug)]
struct MiddlewareStack {
    auth: AuthState,
    proxies: TrustedProxies,
    ids: RequestIds,
    requests: RequestMetrics,
}

impl MiddlewareStack {
    fn wrap(self, routes: Router) -> Router {
        routes
            .layer(from_fn_with_state(self.auth, identify_caller))
            .layer(from_fn_with_state(self.proxies, resolve_client))
            .layer(from_fn_with_state(self.ids, request_id::finish_response))
            .layer(map_response(add_trailing_newline))
            .layer(from_fn_with_state(self.requests, measure_requests))
    }
}

fn build_routes(engine: Arc<Engine>, settings: Settings, requests: RequestMetrics) -> Router {
    let body_bytes = settings.body_bytes;
    let (routes, document) = documented_routes(settings, requests).split_for_parts();
    let methods = Arc::new(list_methods(&document));
    let api_docs = ApiDocs::new(document);
    routes
        .merge(site::routes(&engine))
        .route("/openapi.json", get(reference::show_openapi).with_state(api_docs.clone()))
        .route("/docs", get(reference::show_reference).with_state(api_docs))
        .route("/widget.js", get(widget::serve_script))
        .layer(DefaultBodyLimit::max(body_bytes))
        .layer(Extension(UnpackedLimit(body_bytes)))
        .fallback(route_not_found)
        .method_not_allowed_fallback(move |request: Request| {
            std::future::ready(method_not_allowed(&methods, &request))
        })
        .with_state(engine)
}

/// The routes of the API. The OpenAPI document is built from the annotations of their handlers.
pub(crate) fn documented_routes(
    settings: Settings,
    requests: RequestMetrics,
) -> OpenApiRouter<Arc<Engine>> {
    OpenApiRouter::with_openapi(Document::openapi())
        .merge(turn_routes(settings.batch_bytes))
        .merge(trace_routes(settings.batch_bytes))
        .merge(widget_routes())
        .merge(report_routes())
        .merge(routing_routes())
        .merge(experiment_routes())
        .merge(retrieval_routes())
        .merge(management_routes())
        .routes(routes!(turns::show_turn_log).with_state(settings.copies.clone()))
        .routes(routes!(tenants::erase_user).with_state(settings.copies))
        .routes(routes!(operations::show_metrics).with_state(requests))
}

fn turn_routes(batch_bytes: usize) -> OpenApiRouter<Arc<Engine>> {
    let batch = routes!(batch::submit_batch)
        .layer::<_, Infallible>(Extension(UnpackedLimit(batch_bytes)))
        .layer::<_, Infallible>(DefaultBodyLimit::max(batch_bytes))
        .layer(from_fn_with_state(BatchLimiter::new(), batch_limiter::limit_batches));
    OpenApiRouter::new()
        .routes(batch)
        .routes(routes!(feedback::submit_correction))
        .routes(routes!(feedback::show_event))
        .routes(routes!(events::list_events))
        .routes(routes!(events::list_topic_events))
        .routes(routes!(turns::open_turn, lists::list_turns))
        .routes(routes!(lists::list_conversations))
        .routes(routes!(turns::show_turn))
        .routes(routes!(turns::complete_turn))
        .routes(routes!(turns::show_metadata))
        .routes(routes!(turns::review_turn))
        .routes(routes!(turns::show_timeline))
        .routes(routes!(strategies::search_strategies))
        .routes(routes!(strategies::select_examples))
        .routes(routes!(preferences::export_preferences))
        .routes(routes!(quality::show_calibration))
        .routes(routes!(tenants::show_question_history, tenants::forget_questions))
        .routes(routes!(decisions::record_decision, decisions::list_decisions))
        .routes(routes!(decisions::show_decision, decisions::record_outcome))
        .routes(routes!(artifacts::search_artifacts))
}

/// Routes that other instrumentations send to.
fn trace_routes(batch_bytes: usize) -> OpenApiRouter<Arc<Engine>> {
    OpenApiRouter::new()
        .routes(routes!(otlp::receive_traces))
        // The path of Langfuse's SDKs.
        .route("/api/public/otel/v1/traces", post(otlp::receive_traces))
        .route_layer(Extension(UnpackedLimit(batch_bytes)))
        .route_layer(DefaultBodyLimit::max(batch_bytes))
        .route_layer(from_fn_with_state(BatchLimiter::new(), batch_limiter::limit_batches))
}

fn routing_routes() -> OpenApiRouter<Arc<Engine>> {
    OpenApiRouter::new()
        .routes(routes!(routers::list_routers))
        .routes(routes!(routers::set_router, routers::show_router))
        .routes(routes!(routers::reset_router))
        .routes(routes!(routers::choose_route))
        .routes(routes!(routers::submit_reward))
        .routes(routes!(routers::evaluate_policy))
}

fn experiment_routes() -> OpenApiRouter<Arc<Engine>> {
    OpenApiRouter::new()
        .routes(routes!(experiments::create_experiment, experiments::list_experiments))
        .routes(routes!(experiments::show_experiment))
        .routes(routes!(experiments::show_results))
        .routes(routes!(experiments::assign_variant))
        .routes(routes!(experiments::act_on_experiment))
}

fn retrieval_routes() -> OpenApiRouter<Arc<Engine>> {
    OpenApiRouter::new()
        .routes(routes!(retrieval::record_returned))
        .routes(routes!(retrieval::record_usage))
        .routes(routes!(retrieval::record_signals))
        .routes(routes!(retrieval::record_feedback))
        .routes(routes!(retrieval::show_stats))
        .routes(routes!(retrieval::list_most_helpful))
        .routes(routes!(retrieval::list_most_ignored))
        .routes(routes!(retrieval::rerank_results))
}

/// Routes that web pages may call with a widget key.
fn widget_routes() -> OpenApiRouter<Arc<Engine>> {
    let event = routes!(feedback::submit_event);
    let reaction = routes!(feedback::submit_reaction);
    let turn_feedback = routes!(feedback::give_feedback);
    OpenApiRouter::new()
        .routes(event.map(|methods| methods.options(cors::answer_preflight)))
        .routes(reaction.map(|methods| methods.options(cors::answer_preflight)))
        .routes(turn_feedback.map(|methods| methods.options(cors::answer_preflight)))
        .route_layer(from_fn(cors::add_cors_headers))
}

fn management_routes() -> OpenApiRouter<Arc<Engine>> {
    OpenApiRouter::new()
        .routes(routes!(operations::list_dead_letters))
        .routes(routes!(operations::replay_dead_letter))
        .routes(routes!(operations::show_demo, operations::remove_demo))
        .routes(routes!(keys::create_key, keys::list_keys))
        .routes(routes!(keys::revoke_key))
        .routes(routes!(quality::set_targets, quality::show_targets))
        .routes(routes!(quality::list_alerts))
        .routes(routes!(tenants::set_privacy, tenants::show_privacy))
        .routes(routes!(tenants::set_profile, tenants::show_profile))
        .routes(routes!(operations::check_live))
        .routes(routes!(operations::check_ready))
}

fn report_routes() -> OpenApiRouter<Arc<Engine>> {
    OpenApiRouter::new()
        .routes(routes!(decisions::list_session_decisions))
        .routes(routes!(failures::show_insights))
        .routes(routes!(failures::list_failures))
        .routes(routes!(failures::suggest_prompts))
        .routes(routes!(failures::create_suggestion_experiment))
        .routes(routes!(quality::show_quality))
        .routes(routes!(reports::report_conversation, reports::report_conversation_by_query))
        .routes(routes!(reports::report_period, reports::report_period_by_query))
}

async fn route_not_found(request: Request) -> Problem {
    let path = quote(request.uri().path());
    Problem::not_found(format!("{path} is not a route of the API; /docs lists them all"))
}

/// The methods of each documented path, in upper case.
fn list_methods(document: &utoipa::openapi::OpenApi) -> BTreeMap<String, Vec<String>> {
    let document = serde_json::to_value(document).unwrap_or_default();
    let paths = document["paths"].as_object().into_iter().flatten();
    let names = |methods: &Value| {
        let methods = methods.as_object().into_iter().flatten();
        methods.map(|(method, _)| method.to_ascii_uppercase()).collect()
    };
    paths.map(|(path, methods)| (path.clone(), names(methods))).collect()
}

/// Names the methods that work. Pages are not documented; their `Allow` header has them.
fn method_not_allowed(methods: &BTreeMap<String, Vec<String>>, request: &Request) -> Problem {
    // Clients can invent methods of any length.
    let method: String = request.method().as_str().chars().take(20).collect();
    let path = quote(request.uri().path());
    let matched = request.extensions().get::<MatchedPath>();
    let known = matched.and_then(|route| methods.get(route.as_str()));
    let instead = match known {
        Some(known) => format!("send {}", known.join(" or ")),
        None => "the Allow header lists methods".to_owned(),
    };
    Problem::method_not_allowed(format!("{method} is not supported by {path}; {instead}"))
}
