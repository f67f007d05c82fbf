//! Authentication: identifies the caller, checks its role and resolves the scope.
//!
//! Every handler takes a [`permission::Call`], so no route lacks a permission check.

mod api_key;
mod permission;

use std::net::IpAddr;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{FromRequest, Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use engine::{Engine, StoredKey, Warning, with_reader};
use model::{Role, Timestamp};

use crate::body::Payload;
use crate::error::Problem;
use crate::middleware::RateLimits;
use crate::middleware::client_address::ClientAddress;
use crate::middleware::origin::{is_local_host, is_same_origin};
use crate::middleware::response_warning::add_warning;
use api_key::{find_key_header, read_api_key};
pub(crate) use permission::{
    AdminAccess, AdminCall, Call, FeedbackCall, Permission, ReadAccess, ReadCall, UseCall,
    WriteAccess, WriteCall, check_origin,
};

/// Requests per second that one client address may make with one widget key.
const WIDGET_RATE: u32 = 10;

#[derive(Clone, Debug)]
pub(crate) enum Caller {
    /// No keys exist: every local client has full access.
    Open,
    /// The owner of the data folder, identified by the token in its lock file.
    Owner,
    Key(Arc<StoredKey>),
}

impl Caller {
    pub(crate) fn role(&self) -> Role {
        match self {
            Self::Open | Self::Owner => Role::Admin,
            Self::Key(key) => key.role,
        }
    }

    pub(crate) fn key(&self) -> Option<&StoredKey> {
        match self {
            Self::Open | Self::Owner => None,
            Self::Key(key) => Some(key),
        }
    }
}

/// State of the authentication middleware.
#[derive(Clone, Debug)]
pub(crate) struct AuthState {
    pub(crate) engine: Arc<Engine>,
    pub(crate) owner_token: Arc<str>,
    pub(crate) limits: RateLimits,
}

/// The result of authentication, stored as an extension of the request.
#[derive(Clone)]
pub(crate) struct Identity {
    /// The caller, or the reason why authentication failed.
    pub(crate) caller: Result<Caller, Problem>,
    pub(crate) client: Option<IpAddr>,
    pub(crate) auth: AuthState,
}

impl Identity {
    /// Charges one request to the rate limits of a key.
    pub(crate) fn check_rate_limit(&self, key: &StoredKey, now: Timestamp) -> Result<(), Problem> {
        let limits = &self.auth.limits;
        if let Some(rate) = key.rate {
            limits.take_token(&key.id, None, rate, now)?;
        }
        if key.role == Role::Widget {
            limits.take_token(&key.id, self.client, WIDGET_RATE, now)?;
        }
        Ok(())
    }
}

/// Attaches an [`Identity`] to every request. Refuses none, because some routes are public.
pub(crate) async fn identify_caller(
    State(auth): State<AuthState>,
    mut request: Request,
    next: Next,
) -> Response {
    let client = request.extensions().get::<ClientAddress>().copied().unwrap_or_default();
    let caller = auth.find_caller(request.method(), request.headers(), client);
    let warning = match &caller {
        Ok(Caller::Open) => find_key_header(request.headers()).map(Warning::unknown_key),
        Ok(Caller::Owner | Caller::Key(_)) | Err(_) => None,
    };
    let client = client.address;
    let engine = Arc::clone(&auth.engine);
    request.extensions_mut().insert(Identity { caller, client, auth });
    let response = with_reader(next.run(request)).await;
    match warning {
        None => response,
        Some(warning) => add_warning(response, &engine, warning).await,
    }
}

/// Marks an in-process call for a request that the rate limit has already counted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoopbackCall;

/// Authorizes requests to a mounted service such as MCP. Each API call of the service is checked
/// separately.
///
/// The body is read here because the service has no read timeout. Its plain-text refusals become
/// problem responses.
pub(crate) async fn authorize_service(_: UseCall, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let unread = Request::from_parts(parts.clone(), body);
    let request = match Payload::from_request(unread, &()).await {
        Ok(Payload { bytes, .. }) => Request::from_parts(parts, Body::from(bytes)),
        Err(problem) => return problem.into_response(),
    };
    let is_json = |headers: &HeaderMap| {
        let media = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        media.is_some_and(|media| media.starts_with("application/json"))
    };
    let request_is_json = is_json(request.headers());
    let response = next.run(request).await;
    if is_json(response.headers()) {
        return response;
    }
    match response.status() {
        StatusCode::UNSUPPORTED_MEDIA_TYPE if request_is_json => {
            let detail = "the body is not a JSON-RPC message, expected one message of the Model \
                          Context Protocol";
            Problem::malformed(detail).into_response()
        }
        StatusCode::UNSUPPORTED_MEDIA_TYPE => {
            let detail = "the Content-Type is not JSON; send Content-Type: application/json";
            Problem::wrong_media_type(detail).into_response()
        }
        _ => response,
    }
}

impl AuthState {
    fn find_caller(
        &self,
        method: &Method,
        headers: &HeaderMap,
        client: ClientAddress,
    ) -> Result<Caller, Problem> {
        let api_key = read_api_key(headers);
        if let Some(text) = &api_key
            && constant_time_eq(text, &self.owner_token)
        {
            return Ok(Caller::Owner);
        }
        if self.engine.access.is_open() {
            return check_local_caller(method, headers, client);
        }
        let Some(text) = api_key else {
            let detail = "the request has no API key; send one as Authorization: Bearer uk_… or \
                          X-API-Key: uk_…";
            return Err(Problem::unauthorized(detail));
        };
        let invalid = || {
            let detail = "the API key is unknown or revoked; create one with uptake keys create";
            Problem::unauthorized(detail)
        };
        self.engine.access.authenticate(&text).map(Caller::Key).ok_or_else(invalid)
    }
}

/// Accepts local programs only. A web page of another origin open in a local browser is not one:
/// browsers send form-like requests across origins without asking the server first.
fn check_local_caller(
    method: &Method,
    headers: &HeaderMap,
    client: ClientAddress,
) -> Result<Caller, Problem> {
    if client.is_forwarded {
        let detail = "this server has no API keys, so it accepts no requests that passed through a \
                      proxy (the request has a forwarded header); create a key with uptake keys \
                      create";
        return Err(Problem::forbidden(detail));
    }
    if !is_local_host(headers) {
        let detail = "this server has no API keys, so it accepts requests only when the Host \
                      header names this machine; create a key with uptake keys create";
        return Err(Problem::forbidden(detail));
    }
    if !method.is_safe() && !is_same_origin(headers) {
        let detail = "this server has no API keys, so it accepts no writes from web pages of \
                      another origin; create a key for the page's origin (uptake keys create … \
                      --role widget --origin …)";
        return Err(Problem::forbidden(detail));
    }
    Ok(Caller::Open)
}

/// Empty texts never match, so that an unset owner token grants nothing.
fn constant_time_eq(one: &str, other: &str) -> bool {
    let difference = one.bytes().zip(other.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b));
    one.len() == other.len() && difference == 0 && !other.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constant_time_eq_accepts_only_equal_non_empty_texts() {
        assert!(constant_time_eq("token", "token"));
        for (one, other) in [("token", "tokem"), ("token", "toke"), ("toke", "token"), ("", "")] {
            assert!(!constant_time_eq(one, other), "{one} {other}");
        }
    }
}
