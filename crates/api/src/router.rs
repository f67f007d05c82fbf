//! The routes of the API and the middleware around them.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::middleware::{from_fn, from_fn_with_state, map_response};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post, put};
use engine::{CopySettings, Engine};
use tower_service::Service;

use crate::error::Problem;
use crate::middleware::RateLimits;
use crate::middleware::auth::{self, AuthState, identify_caller};
use crate::middleware::batch_limiter::{self, BatchLimiter};
use crate::middleware::cors;
use crate::middleware::metrics::{RequestMetrics, measure_requests};
use crate::middleware::request_id::{self, RequestIds};
use crate::middleware::trailing_newline::add_trailing_newline;
use crate::reference::{self, ApiDocs};
use crate::routes::{
    artifacts, batch, conversations, decisions, events, examples, experiments, failures, feedback,
    keys, operations, preferences, quality, reactions, reports, retrieval, routers, strategies,
    tenants, turns,
};
use crate::site;
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
    ids: RequestIds,
    requests: RequestMetrics,
}

impl MiddlewareStack {
    fn wrap(self, routes: Router) -> Router {
        routes
            .layer(from_fn_with_state(self.auth, identify_caller))
            .layer(from_fn_with_state(self.ids, request_id::finish_response))
            .layer(map_response(add_trailing_newline))
            .layer(from_fn_with_state(self.requests, measure_requests))
    }
}

fn build_routes(engine: Arc<Engine>, settings: Settings, requests: RequestMetrics) -> Router {
    let figures = get(operations::show_metrics).with_state((requests, Arc::clone(&engine)));
    let with_copies = (Arc::clone(&engine), settings.copies);
    let log = get(turns::show_turn_log).with_state(with_copies.clone());
    let users = delete(tenants::erase_user).with_state(with_copies);
    let api_docs = ApiDocs::new();
    Router::new()
        .merge(turn_routes(settings.batch_bytes))
        .merge(widget_routes(Arc::clone(&engine)))
        .merge(report_routes())
        .merge(routing_routes())
        .merge(experiment_routes())
        .merge(retrieval_routes())
        .merge(management_routes())
        .merge(site::routes(&engine))
        .route("/api/v1/turns/{turn_id}/log", log)
        .route("/api/v1/users/{user_id}", users)
        .route("/health/live", get(operations::check_live))
        .route("/health/ready", get(operations::check_ready))
        .route("/metrics", figures)
        .route("/openapi.json", get(reference::show_openapi).with_state(api_docs.clone()))
        .route("/docs", get(reference::show_reference).with_state(api_docs))
        .route("/widget.js", get(widget::serve_script))
        .layer(DefaultBodyLimit::max(settings.body_bytes))
        .fallback(route_not_found)
        .method_not_allowed_fallback(method_not_allowed)
        .with_state(engine)
}

fn turn_routes(batch_bytes: usize) -> Router<Arc<Engine>> {
    let batch = post(batch::submit_batch)
        .layer(DefaultBodyLimit::max(batch_bytes))
        .layer(from_fn_with_state(BatchLimiter::new(), batch_limiter::limit_batches));
    Router::new()
        .route("/api/v1/feedback/correction", post(feedback::submit_correction))
        .route("/api/v1/feedback/batch", batch)
        .route("/api/v1/feedback/{id}", get(feedback::show_event))
        .route("/api/v1/events", get(events::list_events))
        .route("/api/v1/topics/{topic}", get(events::list_topic_events))
        .route("/api/v1/turns", post(turns::open_turn))
        .route("/api/v1/turns/{turn_id}", get(turns::show_turn))
        .route("/api/v1/turns/{turn_id}/complete", post(turns::complete_turn))
        .route("/api/v1/turns/{turn_id}/metadata", get(turns::show_metadata))
        .route("/api/v1/turns/{turn_id}/review", post(turns::review_turn))
        .route("/api/v1/conversations/{id}", get(conversations::show_timeline))
        .route("/api/v1/strategies/search", post(strategies::search_strategies))
        .route("/api/v1/examples/select", post(examples::select_examples))
        .route("/api/v1/preferences/export", get(preferences::export_preferences))
        .route("/api/v1/calibration", get(quality::show_calibration))
        .route(
            "/api/v1/users/{user_id}/history",
            get(tenants::show_question_history).delete(tenants::forget_questions),
        )
        .route("/api/v1/decisions", post(decisions::record_decision).get(decisions::list_decisions))
        .route(
            "/api/v1/decisions/{id}",
            get(decisions::show_decision).patch(decisions::record_outcome),
        )
        .route("/api/v1/artifacts/search", post(artifacts::search_artifacts))
}

fn routing_routes() -> Router<Arc<Engine>> {
    Router::new()
        .route("/api/v1/routers", get(routers::list_routers))
        .route("/api/v1/routers/{name}", put(routers::set_router).get(routers::show_router))
        .route("/api/v1/routers/{name}/reset", post(routers::reset_router))
        .route("/api/v1/route", post(routers::choose_route))
        .route("/api/v1/rewards", post(routers::submit_reward))
        .route("/api/v1/policies/evaluate", post(routers::evaluate_policy))
}

fn experiment_routes() -> Router<Arc<Engine>> {
    Router::new()
        .route(
            "/api/v1/experiments",
            post(experiments::create_experiment).get(experiments::list_experiments),
        )
        .route("/api/v1/experiments/{id}", get(experiments::show_experiment))
        .route("/api/v1/experiments/{id}/results", get(experiments::show_results))
        .route("/api/v1/experiments/{id}/assign", post(experiments::assign_variant))
        .route("/api/v1/experiments/{id}/{action}", post(experiments::act_on_experiment))
}

fn retrieval_routes() -> Router<Arc<Engine>> {
    Router::new()
        .route("/api/v1/retrieval/returned", post(retrieval::record_returned))
        .route("/api/v1/retrieval/usage", post(retrieval::record_usage))
        .route("/api/v1/retrieval/signals", post(retrieval::record_signals))
        .route("/api/v1/retrieval/feedback", post(retrieval::record_feedback))
        .route("/api/v1/retrieval/entities/{entity_id}/stats", get(retrieval::show_stats))
        .route("/api/v1/retrieval/most-helpful", get(retrieval::list_most_helpful))
        .route("/api/v1/retrieval/most-ignored", get(retrieval::list_most_ignored))
        .route("/api/v1/retrieval/rerank", post(retrieval::rerank_results))
}

/// Routes that web pages may call with a widget key.
fn widget_routes(engine: Arc<Engine>) -> Router<Arc<Engine>> {
    Router::new()
        .route("/api/v1/feedback", post(feedback::submit_event).options(cors::answer_preflight))
        .route(
            "/conversations/{tenant}/{project}/{conversation_id}/turns/{turn_id}/feedback",
            post(reactions::submit_reaction).options(cors::answer_preflight),
        )
        .route_layer(from_fn_with_state(engine, cors::add_cors_headers))
}

fn management_routes() -> Router<Arc<Engine>> {
    Router::new()
        .route("/api/v1/dead-letters", get(operations::list_dead_letters))
        .route("/api/v1/dead-letters/{id}/replay", post(operations::replay_dead_letter))
        .route("/api/v1/demo", get(operations::show_demo).delete(operations::remove_demo))
        .route("/api/v1/keys", post(keys::create_key).get(keys::list_keys))
        .route("/api/v1/keys/{id}", delete(keys::revoke_key))
        .route(
            "/api/v1/tenants/{tenant}/targets",
            put(quality::set_targets).get(quality::show_targets),
        )
        .route("/api/v1/alerts", get(quality::list_alerts))
        .route(
            "/api/v1/tenants/{tenant}/privacy",
            put(tenants::set_privacy).get(tenants::show_privacy),
        )
        .route("/api/v1/users/{user_id}", put(tenants::set_profile).get(tenants::show_profile))
}

fn report_routes() -> Router<Arc<Engine>> {
    Router::new()
        .route("/api/v1/feedback/decisions/{session}", get(decisions::list_session_decisions))
        .route("/api/v1/feedback/insights/{tenant}", get(failures::show_insights))
        .route("/api/v1/failures", get(failures::list_failures))
        .route("/api/v1/prompts/suggestions", post(failures::suggest_prompts))
        .route(
            "/api/v1/prompts/suggestions/{suggestion_id}/experiment",
            post(failures::create_suggestion_experiment),
        )
        .route("/api/v1/feedback/quality/{tenant}", get(quality::show_quality))
        .route(
            "/conversations/{tenant}/{project}/{conversation_id}/turns-with-feedbacks",
            post(reports::report_conversation).get(reports::report_conversation_by_query),
        )
        .route(
            "/conversations/{tenant}/{project}/feedback/conversations-in-period",
            post(reports::report_period).get(reports::report_period_by_query),
        )
}

async fn route_not_found() -> Problem {
    Problem::not_found("this path is not a route of the API; /docs lists them all")
}

async fn method_not_allowed(request: Request) -> Response {
    let detail =
        format!("{} is not supported here; the Allow header lists methods", request.method());
    Problem::method_not_allowed(detail).into_response()
}
