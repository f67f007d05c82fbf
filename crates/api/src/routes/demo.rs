//! Demo data: status and removal.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use engine::{DEMO_TENANT, Engine};

use crate::error::Problem;
use crate::middleware::auth::{AdminAccess, Authorized, Caller, ReadAccess};
use crate::wire::demo::{DemoBody, DemoRemovedBody};

#[utoipa::path(get, path = "/api/v1/demo", tag = "operation",
    summary = "Show whether the store holds demo data, and in which tenant",
    responses((status = 200, description = "Status of the demo data", body = DemoBody)))]
pub(crate) async fn show_demo(
    State(engine): State<Arc<Engine>>,
    scope: Authorized<ReadAccess>,
) -> Result<Json<DemoBody>, Problem> {
    let loaded = owns_demo(scope.caller()) && engine.holds_demo().await?;
    Ok(Json(DemoBody { loaded, tenant: loaded.then(|| DEMO_TENANT.to_owned()) }))
}

#[utoipa::path(delete, path = "/api/v1/demo", tag = "operation",
    summary = "Remove the demo tenant with everything in it",
    responses((status = 200, description = "Number of removed events", body = DemoRemovedBody)))]
pub(crate) async fn remove_demo(
    State(engine): State<Arc<Engine>>,
    scope: Authorized<AdminAccess>,
) -> Result<Json<DemoRemovedBody>, Problem> {
    let events = match owns_demo(scope.caller()) {
        true => engine.remove_demo().await?,
        false => None,
    };
    Ok(Json(DemoRemovedBody { removed: events.is_some(), events: events.unwrap_or(0) as u64 }))
}

/// Keys of other tenants must not learn whether demo data exists.
fn owns_demo(caller: &Caller) -> bool {
    match caller {
        Caller::Open | Caller::Owner => true,
        Caller::Key(key) => key.tenant.as_str() == DEMO_TENANT && key.project.is_none(),
    }
}
