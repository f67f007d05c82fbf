//! Every route, in one function.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post, put};
use engine::{CopySettings, Engine};
use tower_service::Service;

use crate::auth::{self, Doorman, identify};
use crate::cors;
use crate::docs::{self, Texts};
use crate::error::Problem;
use crate::limits::RateLimits;
use crate::metrics::{Requests, measure};
use crate::request_id::{self, RequestIds};
use crate::routes::{
    artifacts, batch, calibration, conversations, dead_letters, decisions, demo, events, examples,
    experiments, failures, feedback, health, keys, metrics, preferences, quality, reactions,
    reports, retrieval, routers, strategies, tenants, turns,
};
use crate::site;
use crate::turnstile::{self, Turnstile};
use crate::widget;

/// What the server is told from outside.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Bytes of an ordinary body.
    pub body_bytes: usize,
    /// Bytes of a batch.
    pub batch_bytes: usize,
    /// Where copies of turn logs are kept, if they are.
    pub copies: CopySettings,
    /// By which the owner of the data folder is known.
    pub owner_token: String,
}

/// The whole API, and what every request to it meets on its way.
#[derive(Clone, Debug)]
pub struct Api {
    routes: Router,
    way_in: WayIn,
    body_bytes: usize,
}

impl Api {
    /// `run` tells this run of the server from others in request ids.
    pub fn new(engine: Arc<Engine>, settings: Settings, run: &str) -> Self {
        let way_in = WayIn {
            doorman: Doorman {
                engine: Arc::clone(&engine),
                owner_token: settings.owner_token.as_str().into(),
                limits: RateLimits::default(),
            },
            ids: RequestIds::new(run),
            requests: Requests::default(),
        };
        let body_bytes = settings.body_bytes;
        let routes = routes(engine, settings, way_in.requests.clone());
        Self { routes, way_in, body_bytes }
    }

    /// Ready to serve.
    pub fn into_router(self) -> Router {
        self.way_in.before(self.routes)
    }

    /// Ready to serve, with another face of it at `path`, for every key but those of web pages. Each call
    /// that the face makes of the API meets the same checks once more, with the same key.
    pub fn with_face<S>(self, path: &str, face: S) -> Router
    where
        S: Service<Request, Error = Infallible> + Clone + Send + Sync + 'static,
        S::Response: IntoResponse,
        S::Future: Send + 'static,
    {
        let face = Router::new()
            .route_service(path, face)
            .layer(from_fn(auth::let_in))
            .layer(DefaultBodyLimit::max(self.body_bytes));
        self.way_in.before(self.routes.merge(face))
    }
}

/// What a request meets before it is handled.
#[derive(Clone, Debug)]
struct WayIn {
    doorman: Doorman,
    ids: RequestIds,
    requests: Requests,
}

impl WayIn {
    fn before(self, routes: Router) -> Router {
        routes
            .layer(from_fn_with_state(self.doorman, identify))
            .layer(from_fn_with_state(self.ids, request_id::finish))
            .layer(from_fn_with_state(self.requests, measure))
    }
}

fn routes(engine: Arc<Engine>, settings: Settings, requests: Requests) -> Router {
    let figures = get(metrics::show).with_state((requests, Arc::clone(&engine)));
    let with_copies = (Arc::clone(&engine), settings.copies);
    let log = get(turns::log).with_state(with_copies.clone());
    let users = delete(tenants::erase).with_state(with_copies);
    let texts = Texts::new();
    Router::new()
        .merge(events_and_turns(settings.batch_bytes))
        .merge(reactions_and_events(Arc::clone(&engine)))
        .merge(reports())
        .merge(routing())
        .merge(experimenting())
        .merge(retrieving())
        .merge(management())
        .merge(site::routes(&engine))
        .route("/api/v1/turns/{turn_id}/log", log)
        .route("/api/v1/users/{user_id}", users)
        .route("/health/live", get(health::live))
        .route("/health/ready", get(health::ready))
        .route("/metrics", figures)
        .route("/openapi.json", get(docs::document).with_state(texts.clone()))
        .route("/docs", get(docs::page).with_state(texts))
        .route("/widget.js", get(widget::script))
        .layer(DefaultBodyLimit::max(settings.body_bytes))
        .fallback(unknown_address)
        .method_not_allowed_fallback(wrong_method)
        .with_state(engine)
}

/// Ours.
fn events_and_turns(batch_bytes: usize) -> Router<Arc<Engine>> {
    let batch = post(batch::submit)
        .layer(DefaultBodyLimit::max(batch_bytes))
        .layer(from_fn_with_state(Turnstile::new(), turnstile::wait));
    Router::new()
        .route("/api/v1/feedback/correction", post(feedback::correct))
        .route("/api/v1/feedback/batch", batch)
        .route("/api/v1/feedback/{id}", get(feedback::show))
        .route("/api/v1/events", get(events::list))
        .route("/api/v1/topics/{topic}", get(events::topic))
        .route("/api/v1/turns", post(turns::open))
        .route("/api/v1/turns/{turn_id}", get(turns::show))
        .route("/api/v1/turns/{turn_id}/complete", post(turns::complete))
        .route("/api/v1/turns/{turn_id}/metadata", get(turns::metadata))
        .route("/api/v1/turns/{turn_id}/review", post(turns::review))
        .route("/api/v1/conversations/{id}", get(conversations::timeline))
        .route("/api/v1/strategies/search", post(strategies::search))
        .route("/api/v1/examples/select", post(examples::select))
        .route("/api/v1/preferences/export", get(preferences::export))
        .route("/api/v1/calibration", get(calibration::show))
        .route("/api/v1/users/{user_id}/history", get(tenants::history).delete(tenants::forget))
        .route("/api/v1/decisions", post(decisions::decide).get(decisions::list))
        .route("/api/v1/decisions/{id}", get(decisions::show).patch(decisions::settle))
        .route("/api/v1/artifacts/search", post(artifacts::search))
}

/// Which model serves the next query.
fn routing() -> Router<Arc<Engine>> {
    Router::new()
        .route("/api/v1/routers", get(routers::list))
        .route("/api/v1/routers/{name}", put(routers::set).get(routers::show))
        .route("/api/v1/routers/{name}/reset", post(routers::reset))
        .route("/api/v1/route", post(routers::route))
        .route("/api/v1/rewards", post(routers::reward))
        .route("/api/v1/policies/evaluate", post(routers::evaluate))
}

/// Which variant is better.
fn experimenting() -> Router<Arc<Engine>> {
    Router::new()
        .route("/api/v1/experiments", post(experiments::create).get(experiments::list))
        .route("/api/v1/experiments/{id}", get(experiments::show))
        .route("/api/v1/experiments/{id}/results", get(experiments::results))
        .route("/api/v1/experiments/{id}/assign", post(experiments::assign))
        .route("/api/v1/experiments/{id}/{action}", post(experiments::act))
}

/// What became of items that queries returned.
fn retrieving() -> Router<Arc<Engine>> {
    Router::new()
        .route("/api/v1/retrieval/returned", post(retrieval::returned))
        .route("/api/v1/retrieval/usage", post(retrieval::usage))
        .route("/api/v1/retrieval/signals", post(retrieval::signals))
        .route("/api/v1/retrieval/feedback", post(retrieval::feedback))
        .route("/api/v1/retrieval/entities/{entity_id}/stats", get(retrieval::stats))
        .route("/api/v1/retrieval/most-helpful", get(retrieval::most_helpful))
        .route("/api/v1/retrieval/most-ignored", get(retrieval::most_ignored))
        .route("/api/v1/retrieval/rerank", post(retrieval::rerank))
}

/// What web pages may send as well.
fn reactions_and_events(engine: Arc<Engine>) -> Router<Arc<Engine>> {
    Router::new()
        .route("/api/v1/feedback", post(feedback::submit).options(cors::preflight))
        .route(
            "/conversations/{tenant}/{project}/{conversation_id}/turns/{turn_id}/feedback",
            post(reactions::submit).options(cors::preflight),
        )
        .route_layer(from_fn_with_state(engine, cors::mark))
}

/// Keys, and whatever else changes the rules.
fn management() -> Router<Arc<Engine>> {
    Router::new()
        .route("/api/v1/dead-letters", get(dead_letters::list))
        .route("/api/v1/dead-letters/{id}/replay", post(dead_letters::replay))
        .route("/api/v1/demo", get(demo::show).delete(demo::remove))
        .route("/api/v1/keys", post(keys::create).get(keys::list))
        .route("/api/v1/keys/{id}", delete(keys::revoke))
        .route("/api/v1/tenants/{tenant}/targets", put(quality::set_targets).get(quality::targets))
        .route("/api/v1/alerts", get(quality::alerts))
        .route("/api/v1/tenants/{tenant}/privacy", put(tenants::set_privacy).get(tenants::privacy))
        .route("/api/v1/users/{user_id}", put(tenants::set_profile).get(tenants::profile))
}

/// The source system's, letter for letter.
fn reports() -> Router<Arc<Engine>> {
    Router::new()
        .route("/api/v1/feedback/decisions/{session}", get(decisions::of_session))
        .route("/api/v1/feedback/insights/{tenant}", get(failures::insights))
        .route("/api/v1/failures", get(failures::failures))
        .route("/api/v1/prompts/suggestions", post(failures::suggest))
        .route("/api/v1/prompts/suggestions/{suggestion_id}/experiment", post(failures::experiment))
        .route("/api/v1/feedback/quality/{tenant}", get(quality::quality))
        .route(
            "/conversations/{tenant}/{project}/{conversation_id}/turns-with-feedbacks",
            post(reports::conversation).get(reports::conversation_by_query),
        )
        .route(
            "/conversations/{tenant}/{project}/feedback/conversations-in-period",
            post(reports::period).get(reports::period_by_query),
        )
}

async fn unknown_address() -> Problem {
    Problem::not_found("there is nothing at this address")
}

async fn wrong_method(request: Request) -> Response {
    Problem::wrong_method(format!("{} is not possible here", request.method())).into_response()
}
