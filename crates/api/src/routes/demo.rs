//! Whether there is demo data, and the end of it.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use engine::{DEMO_TENANT, Engine};

use crate::auth::{Caller, Managing, May, Reading};
use crate::error::Problem;
use crate::wire::demo::{DemoBody, DemoRemovedBody};

/// `GET /api/v1/demo`
#[utoipa::path(
    get,
    path = "/api/v1/demo",
    tag = "operation",
    summary = "Whether the store holds demo data, and where",
    responses((status = 200, description = "As it is", body = DemoBody))
)]
pub(crate) async fn show(
    State(engine): State<Arc<Engine>>,
    scope: May<Reading>,
) -> Result<Json<DemoBody>, Problem> {
    let loaded = is_theirs(scope.caller()) && engine.privacy.has_demo_data().await?;
    Ok(Json(DemoBody { loaded, tenant: loaded.then(|| DEMO_TENANT.to_owned()) }))
}

/// `DELETE /api/v1/demo`
#[utoipa::path(
    delete,
    path = "/api/v1/demo",
    tag = "operation",
    summary = "Remove demo data, with everything else in its tenant",
    responses((status = 200, description = "It is gone", body = DemoRemovedBody))
)]
pub(crate) async fn remove(
    State(engine): State<Arc<Engine>>,
    scope: May<Managing>,
) -> Result<Json<DemoRemovedBody>, Problem> {
    let events = match is_theirs(scope.caller()) {
        true => engine.privacy.remove_demo().await?,
        false => None,
    };
    Ok(Json(DemoRemovedBody { removed: events.is_some(), events: events.unwrap_or(0) as u64 }))
}

/// No tenant hears of another: for everybody else there is none.
fn is_theirs(caller: &Caller) -> bool {
    match caller {
        Caller::Open | Caller::Owner => true,
        Caller::Key(key) => key.tenant.as_str() == DEMO_TENANT && key.project.is_none(),
    }
}
