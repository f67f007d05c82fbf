//! API keys: create, list, revoke.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use engine::{Engine, NewKey, StoredKey};
use model::{Project, Role, Tenant};

use crate::body::{self, Payload};
use crate::error::{Problem, quote};
use crate::middleware::auth::{AdminAccess, Authorized, Caller};
use crate::params::{self, PathParams};
use crate::wire::key::{KeyBody, KeyRequest, KeysBody, NewKeyBody, RevokedBody};

#[utoipa::path(post, path = "/api/v1/keys", tag = "management",
    summary = "Create a key; its secret is shown only in this response",
    request_body(content = KeyRequest, example = json!({"tenant": "default", "role": "read"})),
    responses((status = 201, description = "The key with its secret", body = NewKeyBody)))]
pub(crate) async fn create_key(
    State(engine): State<Arc<Engine>>,
    scope: Authorized<AdminAccess>,
    payload: Payload,
) -> Result<(StatusCode, Json<NewKeyBody>), Problem> {
    let request: KeyRequest = body::decode_json(&payload)?;
    let new = parse_request(request)?;
    if !may_manage(scope.caller(), &new.tenant, new.project.as_ref()) {
        return Err(Problem::forbidden(
            "the new key is outside the tenant or project of the caller's key",
        ));
    }
    let (key, text) = engine.access.create_key(new).await?;
    Ok((StatusCode::CREATED, Json(NewKeyBody { key: text, record: KeyBody::from(&key) })))
}

#[utoipa::path(get, path = "/api/v1/keys", tag = "management",
    summary = "List keys, without their secrets",
    responses((status = 200, description = "The keys", body = KeysBody)))]
pub(crate) async fn list_keys(
    State(engine): State<Arc<Engine>>,
    scope: Authorized<AdminAccess>,
) -> Json<KeysBody> {
    let own = |key: &Arc<StoredKey>| may_manage(scope.caller(), &key.tenant, key.project.as_ref());
    let keys =
        engine.access.keys().into_iter().filter(own).map(|key| KeyBody::from(&*key)).collect();
    Json(KeysBody { keys })
}

#[utoipa::path(delete, path = "/api/v1/keys/{id}", tag = "management",
    summary = "Revoke a key",
    params(("id" = String, Path)),
    responses((status = 200, description = "The key is revoked", body = RevokedBody)))]
pub(crate) async fn revoke_key(
    State(engine): State<Arc<Engine>>,
    scope: Authorized<AdminAccess>,
    id: PathParams<String>,
) -> Result<Json<RevokedBody>, Problem> {
    let id = params::read_path(id)?;
    let unknown = || Problem::not_found(format!("key {} not found", quote(&id)));
    let key = engine.access.keys().into_iter().find(|key| key.id == id).ok_or_else(unknown)?;
    if !may_manage(scope.caller(), &key.tenant, key.project.as_ref()) {
        return Err(unknown());
    }
    let revoked = engine.access.revoke_key(&id).await?;
    Ok(Json(RevokedBody { id, revoked }))
}

/// True when the caller may manage keys of this tenant and project (`None`: all projects).
fn may_manage(caller: &Caller, tenant: &Tenant, project: Option<&Project>) -> bool {
    match caller {
        Caller::Open | Caller::Owner => true,
        Caller::Key(key) => {
            key.tenant == *tenant && (key.project.is_none() || key.project.as_ref() == project)
        }
    }
}

fn parse_request(request: KeyRequest) -> Result<NewKey, Problem> {
    let role = params::parse_word("role", Some(request.role), Role::from_word, Role::WORDS)?;
    if request.rate == Some(0) {
        return Err(Problem::invalid("rate", "rate is 0, expected at least 1 request per second"));
    }
    let origin = match request.origin {
        None => None,
        Some(text) => Some(normalize_origin(&text).ok_or_else(|| {
            let detail =
                format!("origin is {}, expected one such as https://example.org", quote(&text));
            Problem::invalid("origin", detail)
        })?),
    };
    Ok(NewKey {
        tenant: params::parse_id("tenant", request.tenant, Tenant::new)?,
        project: params::parse_optional_id("project", request.project, Project::new)?,
        role: role.ok_or_else(|| {
            Problem::invalid("role", "role is missing, expected one of widget, ingest, read, admin")
        })?,
        rate: request.rate,
        origin,
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
