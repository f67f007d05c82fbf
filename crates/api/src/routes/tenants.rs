//! What tenants set for themselves, and what is known of users.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use engine::{CopySettings, Engine};
use model::{Scope, Tenant, UserId};
use serde_json::{Value, json};

use crate::address::{self, Parts};
use crate::auth::{Caller, Managing, May, Reading, Writing};
use crate::body::{self, Sent};
use crate::error::Problem;
use crate::wire::tenant::{ErasedBody, PrivacyBody, PrivacyRequest, ProfileRequest};

/// `PUT /api/v1/tenants/{tenant}/privacy`
#[utoipa::path(
    put,
    path = "/api/v1/tenants/{tenant}/privacy",
    tag = "management",
    summary = "What is removed from texts before they are kept",
    params(("tenant" = String, Path)),
    request_body(content = PrivacyRequest, example = json!({"redact": {"phone": false}})),
    responses((status = 200, description = "As it is now", body = PrivacyBody))
)]
pub(crate) async fn set_privacy(
    State(engine): State<Arc<Engine>>,
    scope: May<Managing>,
    tenant: Parts<String>,
    sent: Sent,
) -> Result<Json<PrivacyBody>, Problem> {
    let tenant = own_tenant(&scope, tenant)?;
    let Value::Object(settings) = body::json(&sent)? else {
        return Err(Problem::invalid("body", "the body is not a JSON object, expected one"));
    };
    engine.privacy.set_privacy(&tenant, settings).await?;
    Ok(Json(PrivacyBody::of(&tenant, engine.privacy.privacy_of(&tenant))))
}

/// `GET /api/v1/tenants/{tenant}/privacy`
#[utoipa::path(
    get,
    path = "/api/v1/tenants/{tenant}/privacy",
    tag = "management",
    summary = "What is removed from texts",
    params(("tenant" = String, Path)),
    responses((status = 200, description = "As it is", body = PrivacyBody))
)]
pub(crate) async fn privacy(
    State(engine): State<Arc<Engine>>,
    scope: May<Managing>,
    tenant: Parts<String>,
) -> Result<Json<PrivacyBody>, Problem> {
    let tenant = own_tenant(&scope, tenant)?;
    Ok(Json(PrivacyBody::of(&tenant, engine.privacy.privacy_of(&tenant))))
}

/// The tenant of an address, for whoever may set its rules.
pub(crate) fn own_tenant(scope: &May<Managing>, tenant: Parts<String>) -> Result<Tenant, Problem> {
    let name = address::parts(tenant)?;
    if let Caller::Key(key) = scope.caller()
        && key.project.is_some()
    {
        return Err(Problem::forbidden("rules of a tenant are not for keys of one project"));
    }
    scope.at(&name, scope.get().project.as_str()).map(|scope| scope.tenant)
}

/// `PUT /api/v1/users/{user_id}`
#[utoipa::path(
    put,
    path = "/api/v1/users/{user_id}",
    tag = "users",
    summary = "Describe a user by attributes",
    params(("user_id" = String, Path)),
    request_body(content = ProfileRequest, example = json!({"attributes": {"plan": "pro", "locale": "de"}})),
    responses((status = 200, description = "As it is kept", body = Object))
)]
pub(crate) async fn set_profile(
    State(engine): State<Arc<Engine>>,
    scope: May<Writing>,
    user: Parts<String>,
    sent: Sent,
) -> Result<Json<Value>, Problem> {
    let user = address::id("user_id", address::parts(user)?, UserId::new)?;
    let request: ProfileRequest = body::shape(body::json(&sent)?)?;
    engine.privacy.set_profile(scope.get(), user.clone(), request.attributes).await?;
    show_profile(&engine, scope.get(), &user).await
}

/// `GET /api/v1/users/{user_id}/history`
#[utoipa::path(
    get,
    path = "/api/v1/users/{user_id}/history",
    tag = "users",
    summary = "The latest questions of a user, which a new one is compared with to see a retry",
    params(("user_id" = String, Path)),
    responses((status = 200, description = "The newest first", body = Object))
)]
pub(crate) async fn history(
    State(engine): State<Arc<Engine>>,
    scope: May<Reading>,
    user: Parts<String>,
) -> Result<Json<Value>, Problem> {
    let user = address::id("user_id", address::parts(user)?, UserId::new)?;
    let asked = engine.turns.list_recent_questions(scope.get(), &user).await?.into_iter().map(
        |(turn, text, ts)| json!({"turn_id": turn.as_str(), "text": &*text, "ts": ts.to_string()}),
    );
    Ok(Json(json!({"user_id": user.as_str(), "queries": asked.collect::<Vec<Value>>()})))
}

/// `DELETE /api/v1/users/{user_id}/history`
#[utoipa::path(
    delete,
    path = "/api/v1/users/{user_id}/history",
    tag = "users",
    summary = "Forget what a user asked lately, for telling retries; the turns themselves stay",
    params(("user_id" = String, Path)),
    responses((status = 200, description = "Forgotten", body = Object))
)]
pub(crate) async fn forget(
    State(engine): State<Arc<Engine>>,
    scope: May<Writing>,
    user: Parts<String>,
) -> Result<Json<Value>, Problem> {
    let user = address::id("user_id", address::parts(user)?, UserId::new)?;
    let forgotten = engine.turns.forget_questions(scope.get(), &user).await?;
    Ok(Json(json!({"user_id": user.as_str(), "forgotten": forgotten})))
}

/// `DELETE /api/v1/users/{user_id}`
#[utoipa::path(
    delete,
    path = "/api/v1/users/{user_id}",
    tag = "users",
    summary = "Erase a user: nothing of their words or name is left",
    params(("user_id" = String, Path)),
    responses((status = 200, description = "What was erased", body = ErasedBody))
)]
pub(crate) async fn erase(
    State((engine, copies)): State<(Arc<Engine>, CopySettings)>,
    scope: May<Managing>,
    user: Parts<String>,
) -> Result<Json<ErasedBody>, Problem> {
    let user = address::id("user_id", address::parts(user)?, UserId::new)?;
    let erased = engine.privacy.erase_user(scope.get(), &user, &copies).await?;
    Ok(Json(ErasedBody::from(erased)))
}

/// `GET /api/v1/users/{user_id}`
#[utoipa::path(
    get,
    path = "/api/v1/users/{user_id}",
    tag = "users",
    summary = "The attributes of a user",
    params(("user_id" = String, Path)),
    responses((status = 200, description = "The attributes", body = Object))
)]
pub(crate) async fn profile(
    State(engine): State<Arc<Engine>>,
    scope: May<Reading>,
    user: Parts<String>,
) -> Result<Json<Value>, Problem> {
    let user = address::id("user_id", address::parts(user)?, UserId::new)?;
    show_profile(&engine, scope.get(), &user).await
}

/// As it is kept.
async fn show_profile(
    engine: &Engine,
    scope: &Scope,
    user: &UserId,
) -> Result<Json<Value>, Problem> {
    let unknown = || Problem::not_found("nothing is known of this user here");
    let attributes = engine.privacy.profile(scope, user).await?.ok_or_else(unknown)?;
    Ok(Json(json!({"user_id": user.as_str(), "attributes": attributes})))
}
