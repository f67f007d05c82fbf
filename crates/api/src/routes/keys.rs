//! API keys: create, list, revoke.

use std::sync::Arc;

use axum::Json;
use axum::http::StatusCode;
use engine::{NewKey, StoredKey};
use model::{Project, Role, Tenant};

use super::StoredResult;
use crate::body::{self, Payload};
use crate::error::{ApiResult, Problem, quote};
use crate::middleware::auth::{AdminCall, Caller};
use crate::params::{self, PathParam};
use crate::wire::tenant::{KeyBody, KeyRequest, KeysBody, NewKeyBody, RevokedBody};

#[utoipa::path(post, path = "/api/v1/keys", tag = "management",
    summary = "Create a key; its secret is shown only in this response",
    request_body(content = KeyRequest, example = json!({"tenant": "default", "role": "read"})),
    responses((status = 201, description = "The key with its secret", body = NewKeyBody)))]
pub(crate) async fn create_key(call: AdminCall, payload: Payload) -> StoredResult<NewKeyBody> {
    let request: KeyRequest = body::decode_json(&payload)?;
    let new = parse_request(request)?;
    if !may_manage(call.caller(), &new.tenant, new.project.as_ref()) {
        return Err(Problem::forbidden(
            "the new key is outside the tenant or project of the caller's key",
        ));
    }
    let (key, text) = call.engine.access.create_key(new).await?;
    Ok((StatusCode::CREATED, Json(NewKeyBody { key: text, record: KeyBody::from(&key) })))
}

#[utoipa::path(get, path = "/api/v1/keys", tag = "management",
    summary = "List keys, without their secrets",
    responses((status = 200, description = "The keys", body = KeysBody)))]
pub(crate) async fn list_keys(call: AdminCall) -> Json<KeysBody> {
    let own = |key: &Arc<StoredKey>| may_manage(call.caller(), &key.tenant, key.project.as_ref());
    let keys = call
        .engine
        .access
        .list_keys()
        .into_iter()
        .filter(own)
        .map(|key| KeyBody::from(&*key))
        .collect();
    Json(KeysBody { keys })
}

#[utoipa::path(delete, path = "/api/v1/keys/{id}", tag = "management",
    summary = "Revoke a key",
    params(("id" = String, Path)),
    responses((status = 200, description = "The key is revoked", body = RevokedBody)))]
pub(crate) async fn revoke_key(call: AdminCall, id: PathParam) -> ApiResult<RevokedBody> {
    let id = params::read_path(id)?;
    let unknown = || Problem::not_found(format!("key {} not found", quote(&id)));
    let key =
        call.engine.access.list_keys().into_iter().find(|key| key.id == id).ok_or_else(unknown)?;
    if !may_manage(call.caller(), &key.tenant, key.project.as_ref()) {
        return Err(unknown());
    }
    let revoked = call.engine.access.revoke_key(&id).await?;
    Ok(Json(RevokedBody { id, revoked }))
}

/// True when the caller may manage keys of this tenant and project (`None`: all projects).
fn may_manage(caller: &Caller, tenant: &Tenant, project: Option<&Project>) -> bool {
    caller.key().is_none_or(|key| {
        key.tenant == *tenant && (key.project.is_none() || key.project.as_ref() == project)
    })
}

fn parse_request(request: KeyRequest) -> Result<NewKey, Problem> {
    let role = params::parse_word("role", &request.role, Role::from_word, Role::WORDS)?;
    if request.rate == Some(0) {
        return Err(Problem::invalid("rate", "rate is 0, expected at least 1 request per second"));
    }
    let parse_origin = |text: String| {
        let shown = quote(&text);
        let detail = format!("origin is {shown}, expected one such as https://example.org");
        normalize_origin(&text).ok_or_else(|| Problem::invalid("origin", detail))
    };
    Ok(NewKey {
        tenant: params::parse_id("tenant", request.tenant, Tenant::new)?,
        project: params::parse_optional_id("project", request.project, Project::new)?,
        role,
        rate: request.rate,
        origin: request.origin.map(parse_origin).transpose()?,
    })
}

/// Normalizes an origin to the form that browsers send: lower case, no default port.
fn normalize_origin(text: &str) -> Option<String> {
    let text = text.to_ascii_lowercase();
    let (scheme, rest) = text.split_once("://")?;
    let default_port = match scheme {
        "https" => ":443",
        "http" => ":80",
        _ => return None,
    };
    let rest = rest.strip_suffix(default_port).unwrap_or(rest);
    let (host, port) = rest.split_once(':').unwrap_or((rest, "1"));
    let in_host = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-');
    let fits = !host.is_empty() && host.bytes().all(in_host) && port.parse::<u16>().is_ok();
    fits.then(|| format!("{scheme}://{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origin_is_normalized_to_the_form_browsers_send() {
        let rows = [
            ("https://Shop.Example", Some("https://shop.example")),
            ("https://shop.example:443", Some("https://shop.example")),
            ("http://localhost:3000", Some("http://localhost:3000")),
            ("shop.example", None),
            ("https://*.example", None),
            ("https://a@b", None),
            ("https://shop.example/path", None),
            ("https://", None),
            ("ftp://shop.example", None),
        ];
        for (given, expected) in rows {
            assert_eq!(normalize_origin(given).as_deref(), expected, "{given}");
        }
    }
}
