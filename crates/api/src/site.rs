//! The page: its addresses, who may see them, and what every answer carries.

mod page_error;
mod session_cookie;
mod visitor;
mod form;
mod html_response;
mod login;
mod assets;
mod live_updates;
mod overview;
mod conversations;
mod timeline;
mod failures;
mod experiments;
mod routing;
mod retrieval;
mod data;
mod system;
mod report_file;

use std::sync::Arc;

use axum::Router;
use axum::middleware::map_response;
use axum::routing::{get, post};
use engine::Engine;

/// What pages need.
#[derive(Clone, Debug)]
struct Site {
    engine: Arc<Engine>,
}

/// Every address of the page.
pub(crate) fn routes(engine: &Arc<Engine>) -> Router<Arc<Engine>> {
    let site = Site { engine: Arc::clone(engine) };
    Router::new()
        .route("/", get(overview::show))
        .route("/conversations", get(conversations::list))
        .route("/conversations/{id}", get(timeline::show))
        .route("/failures", get(failures::show))
        .route("/failures/experiment", post(failures::experiment))
        .route("/experiments", get(experiments::show))
        .route("/experiments/{id}/{action}", post(experiments::act))
        .route("/routing", get(routing::show))
        .route("/retrieval", get(retrieval::show))
        .route("/data", get(data::show))
        .route("/data/pairs", get(data::pairs))
        .route("/system", get(system::show))
        .route("/report", get(report_file::show))
        .route("/turns/{id}", get(failures::turn))
        .route("/turns/{id}/review", post(timeline::confirm))
        .route("/turns/{id}/flip", post(timeline::flip))
        .route("/turns/{id}/react", post(timeline::react))
        .route("/turns/{id}/correct", post(timeline::correct))
        .route("/help", get(login::help))
        .route("/login", get(login::show).post(login::enter))
        .route("/logout", post(login::leave))
        .route("/live", get(live_updates::follow))
        .route("/assets/{name}", get(assets::show))
        .route_layer(map_response(html_response::guard))
        .with_state(site)
}
