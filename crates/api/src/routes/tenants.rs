//! Privacy settings of tenants, and data of users: attributes, question history, erasure.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use engine::{CopySettings, Engine};
use model::{Scope, Tenant, UserId};
use serde_json::{Value, json};

use crate::body::{self, Payload};
use crate::error::Problem;
use crate::middleware::auth::{AdminAccess, Authorized, Caller, ReadAccess, WriteAccess};
use crate::params::{self, PathParams};
use crate::wire::tenant::{ErasedBody, PrivacyBody, PrivacyRequest, ProfileRequest};

#[utoipa::path(put, path = "/api/v1/tenants/{tenant}/privacy", tag = "management",
    summary = "Set which personal data is redacted before storage, and the retention",
    params(("tenant" = String, Path)),
    request_body(content = PrivacyRequest, example = json!({"redact": {"phone": false}})),
    responses((status = 200, description = "The stored settings", body = PrivacyBody)))]
pub(crate) async fn set_privacy(
    State(engine): State<Arc<Engine>>,
    scope: Authorized<AdminAccess>,
    tenant: PathParams<String>,
    payload: Payload,
) -> Result<Json<PrivacyBody>, Problem> {
    let tenant = authorize_tenant(&scope, tenant)?;
    let Value::Object(settings) = body::parse_json(&payload)? else {
        return Err(Problem::invalid("body", "the body is not a JSON object, expected one"));
    };
    engine.privacy.set_privacy(&tenant, settings).await?;
    Ok(Json(PrivacyBody::new(&tenant, engine.privacy.privacy_settings(&tenant))))
}

#[utoipa::path(get, path = "/api/v1/tenants/{tenant}/privacy", tag = "management",
    summary = "Show the privacy settings of a tenant",
    params(("tenant" = String, Path)),
    responses((status = 200, description = "The settings", body = PrivacyBody)))]
pub(crate) async fn show_privacy(
    State(engine): State<Arc<Engine>>,
    scope: Authorized<AdminAccess>,
    tenant: PathParams<String>,
) -> Result<Json<PrivacyBody>, Problem> {
    let tenant = authorize_tenant(&scope, tenant)?;
    Ok(Json(PrivacyBody::new(&tenant, engine.privacy.privacy_settings(&tenant))))
}

/// Checks that the caller may change settings of the tenant in the path.
pub(crate) fn authorize_tenant(
    scope: &Authorized<AdminAccess>,
    tenant: PathParams<String>,
) -> Result<Tenant, Problem> {
    let name = params::read_path(tenant)?;
    if let Caller::Key(key) = scope.caller()
        && key.project.is_some()
    {
        return Err(Problem::forbidden(
            "the key is limited to one project, expected a key of the whole tenant",
        ));
    }
    scope.resolve_path(&name, scope.get().project.as_str()).map(|scope| scope.tenant)
}

#[utoipa::path(put, path = "/api/v1/users/{user_id}", tag = "users",
    summary = "Set the attributes of a user",
    params(("user_id" = String, Path)),
    request_body(content = ProfileRequest, example = json!({"attributes": {"plan": "pro", "locale": "de"}})),
    responses((status = 200, description = "The stored attributes", body = Object)))]
pub(crate) async fn set_profile(
    State(engine): State<Arc<Engine>>,
    scope: Authorized<WriteAccess>,
    user: PathParams<String>,
    payload: Payload,
) -> Result<Json<Value>, Problem> {
    let user = params::parse_id("user_id", params::read_path(user)?, UserId::new)?;
    let request: ProfileRequest = body::decode_json(&payload)?;
    engine.privacy.set_profile(scope.get(), user.clone(), request.attributes).await?;
    load_profile(&engine, scope.get(), &user).await
}

#[utoipa::path(get, path = "/api/v1/users/{user_id}/history", tag = "users",
    summary = "Show the recent questions of a user, used for retry detection",
    params(("user_id" = String, Path)),
    responses((status = 200, description = "Questions, newest first", body = Object)))]
pub(crate) async fn show_question_history(
    State(engine): State<Arc<Engine>>,
    scope: Authorized<ReadAccess>,
    user: PathParams<String>,
) -> Result<Json<Value>, Problem> {
    let user = params::parse_id("user_id", params::read_path(user)?, UserId::new)?;
    let queries = engine.turns.list_recent_questions(scope.get(), &user).await?.into_iter().map(
        |(turn, text, ts)| json!({"turn_id": turn.as_str(), "text": &*text, "ts": ts.to_string()}),
    );
    Ok(Json(json!({"user_id": user.as_str(), "queries": queries.collect::<Vec<Value>>()})))
}

#[utoipa::path(delete, path = "/api/v1/users/{user_id}/history", tag = "users",
    summary = "Clear the recent questions of a user; the turns stay stored",
    params(("user_id" = String, Path)),
    responses((status = 200, description = "Number of removed questions", body = Object)))]
pub(crate) async fn forget_questions(
    State(engine): State<Arc<Engine>>,
    scope: Authorized<WriteAccess>,
    user: PathParams<String>,
) -> Result<Json<Value>, Problem> {
    let user = params::parse_id("user_id", params::read_path(user)?, UserId::new)?;
    let forgotten = engine.turns.forget_questions(scope.get(), &user).await?;
    Ok(Json(json!({"user_id": user.as_str(), "forgotten": forgotten})))
}

#[utoipa::path(delete, path = "/api/v1/users/{user_id}", tag = "users",
    summary = "Erase a user with all their texts and ids",
    params(("user_id" = String, Path)),
    responses((status = 200, description = "Counts of erased data", body = ErasedBody)))]
pub(crate) async fn erase_user(
    State((engine, copies)): State<(Arc<Engine>, CopySettings)>,
    scope: Authorized<AdminAccess>,
    user: PathParams<String>,
) -> Result<Json<ErasedBody>, Problem> {
    let user = params::parse_id("user_id", params::read_path(user)?, UserId::new)?;
    let erased = engine.privacy.erase_user(scope.get(), &user, &copies).await?;
    Ok(Json(ErasedBody::from(erased)))
}

#[utoipa::path(get, path = "/api/v1/users/{user_id}", tag = "users",
    summary = "Show the attributes of a user",
    params(("user_id" = String, Path)),
    responses((status = 200, description = "The attributes", body = Object)))]
pub(crate) async fn show_profile(
    State(engine): State<Arc<Engine>>,
    scope: Authorized<ReadAccess>,
    user: PathParams<String>,
) -> Result<Json<Value>, Problem> {
    let user = params::parse_id("user_id", params::read_path(user)?, UserId::new)?;
    load_profile(&engine, scope.get(), &user).await
}

async fn load_profile(
    engine: &Engine,
    scope: &Scope,
    user: &UserId,
) -> Result<Json<Value>, Problem> {
    let unknown = || {
        Problem::not_found(format!(
            "user {user} not found: no attributes in this tenant and project"
        ))
    };
    let attributes = engine.privacy.profile(scope, user).await?.ok_or_else(unknown)?;
    Ok(Json(json!({"user_id": user.as_str(), "attributes": attributes})))
}
