//! The web interface: its routes and the security headers of every response.

mod session_cookie;
mod visitor;
mod form;
mod page_response;
mod login;
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

#[derive(Clone, Debug)]
struct Site {
    engine: Arc<Engine>,
}

pub(crate) fn routes(engine: &Arc<Engine>) -> Router<Arc<Engine>> {
    let site = Site { engine: Arc::clone(engine) };
    Router::new()
        .route("/", get(overview::show_overview))
        .route("/conversations", get(conversations::list_conversations))
        .route("/conversations/{id}", get(timeline::show_timeline))
        .route("/failures", get(failures::show_failures))
        .route("/failures/experiment", post(failures::create_experiment))
        .route("/experiments", get(experiments::show_experiments))
        .route("/experiments/{id}/{action}", post(experiments::act_on_experiment))
        .route("/routing", get(routing::show_routing))
        .route("/retrieval", get(retrieval::show_retrieval))
        .route("/data", get(data::show_data))
        .route("/data/pairs", get(data::export_pairs))
        .route("/system", get(system::show_system))
        .route("/report", get(report_file::show_report))
        .route("/turns/{id}", get(failures::redirect_to_turn))
        .route("/turns/{id}/review", post(timeline::confirm_verdict))
        .route("/turns/{id}/flip", post(timeline::flip_verdict))
        .route("/turns/{id}/react", post(timeline::react_to_turn))
        .route("/turns/{id}/correct", post(timeline::correct_turn))
        .route("/help", get(login::show_help))
        .route("/login", get(login::show_login).post(login::log_in))
        .route("/logout", post(login::log_out))
        .route("/live", get(live_updates::stream_updates))
        .route("/assets/{name}", get(page_response::show_asset))
        .route_layer(map_response(page_response::add_security_headers))
        .with_state(site)
}
