//! Privacy settings of tenants, and data of users: attributes, question history, erasure.

use axum::Json;
use axum::extract::State;
use engine::CopySettings;
use model::{Tenant, UserId};
use serde_json::{Value, json};

use crate::body::{self, Payload};
use crate::error::{ApiResult, Problem};
use crate::middleware::auth::{AdminCall, Call, ReadCall, WriteCall};
use crate::params::{self, PathParam};
use crate::wire::tenant::{ErasedBody, PrivacyBody, PrivacyRequest, ProfileRequest};

#[utoipa::path(put, path = "/api/v1/tenants/{tenant}/privacy", tag = "management",
    summary = "Set which personal data is redacted before storage, and the retention",
    params(("tenant" = String, Path)),
    request_body(content = PrivacyRequest, example = json!({"redact": {"phone": false}})),
    responses((status = 200, description = "The stored settings", body = PrivacyBody)))]
pub(crate) async fn set_privacy(
    call: AdminCall,
    tenant: PathParam,
    payload: Payload,
) -> ApiResult<PrivacyBody> {
    let tenant = authorize_tenant(&call, tenant)?;
    let settings = body::require_object(body::parse_json(&payload)?)?;
    call.engine.privacy.set_privacy(&tenant, settings).await?;
    Ok(Json(PrivacyBody::new(&tenant, call.engine.privacy.privacy_settings(&tenant))))
}

#[utoipa::path(get, path = "/api/v1/tenants/{tenant}/privacy", tag = "management",
    summary = "Show the privacy settings of a tenant",
    params(("tenant" = String, Path)),
    responses((status = 200, description = "The settings", body = PrivacyBody)))]
pub(crate) async fn show_privacy(call: AdminCall, tenant: PathParam) -> ApiResult<PrivacyBody> {
    let tenant = authorize_tenant(&call, tenant)?;
    Ok(Json(PrivacyBody::new(&tenant, call.engine.privacy.privacy_settings(&tenant))))
}

/// Checks that the caller may change settings of the tenant in the path.
pub(crate) fn authorize_tenant(call: &AdminCall, tenant: PathParam) -> Result<Tenant, Problem> {
    let name = params::read_path(tenant)?;
    if call.caller().key().is_some_and(|key| key.project.is_some()) {
        return Err(Problem::forbidden(
            "the key is limited to one project, expected a key of the whole tenant",
        ));
    }
    call.resolve_path(&name, call.scope().project.as_str()).map(|scope| scope.tenant)
}

#[utoipa::path(put, path = "/api/v1/users/{user_id}", tag = "users",
    summary = "Set the attributes of a user",
    params(("user_id" = String, Path)),
    request_body(content = ProfileRequest, example = json!({"attributes": {"plan": "pro", "locale": "de"}})),
    responses((status = 200, description = "The stored attributes", body = Object)))]
pub(crate) async fn set_profile(
    call: WriteCall,
    user: PathParam,
    payload: Payload,
) -> ApiResult<Value> {
    let user = params::read_id("user_id", user, UserId::new)?;
    let request: ProfileRequest = body::decode_json(&payload)?;
    call.engine.privacy.set_profile(call.scope(), user.clone(), request.attributes).await?;
    load_profile(&call, &user).await
}

#[utoipa::path(get, path = "/api/v1/users/{user_id}/history", tag = "users",
    summary = "Show the recent questions of a user, used for retry detection",
    params(("user_id" = String, Path)),
    responses((status = 200, description = "Questions, newest first", body = Object)))]
pub(crate) async fn show_question_history(call: ReadCall, user: PathParam) -> ApiResult<Value> {
    let user = params::read_id("user_id", user, UserId::new)?;
    let found = call.engine.turns.list_recent_questions(call.scope(), &user).await?;
    let turns = found.iter().map(|(turn, _, _)| turn.clone()).collect();
    let models = call.engine.turns.answering_models(call.scope(), turns).await?;
    let queries = found.into_iter().map(|(turn, text, ts)| {
        json!({"turn_id": turn.as_str(), "text": &*text, "ts": ts.to_string(),
            "model": models.get(&turn)})
    });
    Ok(Json(json!({"user_id": user.as_str(), "queries": queries.collect::<Vec<Value>>()})))
}

#[utoipa::path(delete, path = "/api/v1/users/{user_id}/history", tag = "users",
    summary = "Clear the recent questions of a user; the turns stay stored",
    params(("user_id" = String, Path)),
    responses((status = 200, description = "Number of removed questions", body = Object)))]
pub(crate) async fn forget_questions(call: WriteCall, user: PathParam) -> ApiResult<Value> {
    let user = params::read_id("user_id", user, UserId::new)?;
    let forgotten = call.engine.turns.forget_questions(call.scope(), &user).await?;
    Ok(Json(json!({"user_id": user.as_str(), "forgotten": forgotten})))
}

#[utoipa::path(delete, path = "/api/v1/users/{user_id}", tag = "users",
    summary = "Erase a user with all their texts and ids",
    params(("user_id" = String, Path)),
    responses((status = 200, description = "Counts of erased data", body = ErasedBody)))]
pub(crate) async fn erase_user(
    State(copies): State<CopySettings>,
    call: AdminCall,
    user: PathParam,
) -> ApiResult<ErasedBody> {
    let user = params::read_id("user_id", user, UserId::new)?;
    let erased = call.engine.privacy.erase_user(call.scope(), &user, &copies).await?;
    Ok(Json(ErasedBody::from(erased)))
}

#[utoipa::path(get, path = "/api/v1/users/{user_id}", tag = "users",
    summary = "Show the attributes of a user",
    params(("user_id" = String, Path)),
    responses((status = 200, description = "The attributes", body = Object)))]
pub(crate) async fn show_profile(call: ReadCall, user: PathParam) -> ApiResult<Value> {
    let user = params::read_id("user_id", user, UserId::new)?;
    load_profile(&call, &user).await
}

async fn load_profile<P>(call: &Call<P>, user: &UserId) -> ApiResult<Value> {
    let detail = format!("user {user} not found: no attributes in this tenant and project");
    let found = call.engine.privacy.profile(call.scope(), user).await?;
    let attributes = found.ok_or_else(|| Problem::not_found(detail))?;
    Ok(Json(json!({"user_id": user.as_str(), "attributes": attributes})))
}
