//! API keys.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use engine::{Engine, NewKey, StoredKey};
use model::{Project, Role, Tenant};

use crate::address::{self, Parts};
use crate::auth::{Caller, Managing, May};
use crate::body::{self, Sent};
use crate::error::Problem;
use crate::wire::key::{KeyBody, KeyRequest, KeysBody, NewKeyBody, RevokedBody};

/// `POST /api/v1/keys`
#[utoipa::path(
    post,
    path = "/api/v1/keys",
    tag = "management",
    summary = "Make a key; it is shown this once",
    request_body(content = KeyRequest, example = json!({"tenant": "default", "role": "read"})),
    responses((status = 201, description = "The key", body = NewKeyBody))
)]
pub(crate) async fn create(
    State(engine): State<Arc<Engine>>,
    scope: May<Managing>,
    sent: Sent,
) -> Result<(StatusCode, Json<NewKeyBody>), Problem> {
    let request: KeyRequest = body::shape(body::json(&sent)?)?;
    let new = read(request)?;
    if !covers(scope.caller(), &new.tenant, new.project.as_ref()) {
        return Err(Problem::forbidden("a key can only make keys for its own tenant and project"));
    }
    let (key, text) = engine.access.create_key(new).await?;
    Ok((StatusCode::CREATED, Json(NewKeyBody { key: text, record: KeyBody::from(&key) })))
}

/// `GET /api/v1/keys`
#[utoipa::path(
    get,
    path = "/api/v1/keys",
    tag = "management",
    summary = "Keys without their secrets",
    responses((status = 200, description = "The keys", body = KeysBody))
)]
pub(crate) async fn list(
    State(engine): State<Arc<Engine>>,
    scope: May<Managing>,
) -> Json<KeysBody> {
    let own = |key: &Arc<StoredKey>| covers(scope.caller(), &key.tenant, key.project.as_ref());
    let keys =
        engine.access.list_keys().into_iter().filter(own).map(|key| KeyBody::from(&*key)).collect();
    Json(KeysBody { keys })
}

/// `DELETE /api/v1/keys/{id}`
#[utoipa::path(
    delete,
    path = "/api/v1/keys/{id}",
    tag = "management",
    summary = "Revoke a key",
    params(("id" = String, Path)),
    responses((status = 200, description = "It is not valid now", body = RevokedBody))
)]
pub(crate) async fn revoke(
    State(engine): State<Arc<Engine>>,
    scope: May<Managing>,
    id: Parts<String>,
) -> Result<Json<RevokedBody>, Problem> {
    let id = address::parts(id)?;
    let unknown = || Problem::not_found("there is no key with this id here");
    let key = engine.access.list_keys().into_iter().find(|key| key.id == id).ok_or_else(unknown)?;
    if !covers(scope.caller(), &key.tenant, key.project.as_ref()) {
        return Err(unknown());
    }
    let revoked = engine.access.revoke_key(&id).await?;
    Ok(Json(RevokedBody { id, revoked }))
}

/// Whether somebody may manage keys of this tenant and project (`None`: of all its projects).
fn covers(caller: &Caller, tenant: &Tenant, project: Option<&Project>) -> bool {
    match caller {
        Caller::Open | Caller::Owner => true,
        Caller::Key(key) => {
            key.tenant == *tenant && (key.project.is_none() || key.project.as_ref() == project)
        }
    }
}

fn read(request: KeyRequest) -> Result<NewKey, Problem> {
    let role = address::word("role", Some(request.role), Role::from_word, Role::WORDS)?;
    if request.rate == Some(0) {
        return Err(Problem::invalid("rate", "rate is 0, expected at least 1 request per second"));
    }
    let origin = match request.origin {
        None => None,
        Some(text) => Some(as_browsers_send(&text).ok_or_else(|| {
            let detail = format!("origin is {text:?}, expected one like https://example.org");
            Problem::invalid("origin", detail)
        })?),
    };
    Ok(NewKey {
        tenant: address::id("tenant", request.tenant, Tenant::new)?,
        project: request
            .project
            .map(|name| address::id("project", name, Project::new))
            .transpose()?,
        role: role.ok_or_else(|| Problem::invalid("role", "role: missing"))?,
        rate: request.rate,
        origin,
    })
}

/// An origin in the one form in which browsers send it: small letters, no default port.
fn as_browsers_send(text: &str) -> Option<String> {
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
    fn an_origin_is_kept_as_browsers_send_it() {
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
            assert_eq!(as_browsers_send(given).as_deref(), expected, "{given}");
        }
    }
}
