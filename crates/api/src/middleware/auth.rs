//! Who is asking, what that one may do, and in which scope.
//!
//! Every handler says what it is for (`Authorized<WriteAccess>` and so on), so none can be without a check.

mod api_key;
mod permission;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{ConnectInfo, FromRequest, Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use engine::{Engine, StoredKey};
use model::{Role, Timestamp};

use crate::body::Payload;
use crate::error::Problem;
use crate::middleware::RateLimits;
use crate::middleware::origin::{is_local_host, is_same_origin};
use api_key::given_key;
pub(crate) use permission::{
    AdminAccess, Authorized, FeedbackAccess, Permission, ReadAccess, UseAccess, WriteAccess,
    check_origin,
};

/// RequestMetrics per second that one client address may make with one widget key.
const WIDGET_RATE: u32 = 10;

/// Who is asking.
#[derive(Clone, Debug)]
pub(crate) enum Caller {
    /// There are no keys: everybody on this machine may do everything.
    Open,
    /// The owner of the data folder, by the token in its lock file.
    Owner,
    /// Whoever has this key.
    Key(Arc<StoredKey>),
}

impl Caller {
    /// What it may do.
    pub(crate) fn role(&self) -> Role {
        match self {
            Self::Open | Self::Owner => Role::Admin,
            Self::Key(key) => key.role,
        }
    }
}

/// What is needed to know callers.
#[derive(Clone, Debug)]
pub(crate) struct AuthState {
    pub(crate) engine: Arc<Engine>,
    pub(crate) owner_token: Arc<str>,
    pub(crate) limits: RateLimits,
}

/// The result of looking, for the handler that needs it.
#[derive(Clone)]
pub(crate) struct Identity {
    /// Who it is by the headers, or why nobody.
    pub(crate) caller: Result<Caller, Problem>,
    /// Where it comes from.
    pub(crate) client: Option<IpAddr>,
    /// What is needed to know more.
    pub(crate) auth: AuthState,
}

impl Identity {
    /// Counts a request of a key, unless it makes too many.
    pub(crate) fn count(&self, key: &StoredKey, now: Timestamp) -> Result<(), Problem> {
        let limits = &self.auth.limits;
        if let Some(rate) = key.rate {
            limits.take(&key.id, None, rate, now)?;
        }
        if key.role == Role::Widget {
            limits.take(&key.id, self.client, WIDGET_RATE, now)?;
        }
        Ok(())
    }
}

/// Looks at every request; refuses none, because some addresses are for everybody.
pub(crate) async fn identify(
    State(auth): State<AuthState>,
    mut request: Request,
    next: Next,
) -> Response {
    let caller = auth.caller(request.method(), request.headers());
    let client = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|info| info.0.ip());
    request.extensions_mut().insert(Identity { caller, client, auth });
    next.run(request).await
}

/// A call that a face of the API makes for a request that was counted already.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoopbackCall;

/// Lets in whoever may do something on the other side, where each thing is asked for again. The face would
/// wait for a body for ever, so it gets one that has come. What it refuses in words of its own is said in ours.
pub(crate) async fn let_in(_: Authorized<UseAccess>, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let coming = Request::from_parts(parts.clone(), body);
    let request = match Payload::from_request(coming, &()).await {
        Ok(Payload { bytes, .. }) => Request::from_parts(parts, Body::from(bytes)),
        Err(problem) => return problem.into_response(),
    };
    let media = |headers: &HeaderMap| {
        let media = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        media.is_some_and(|media| media.starts_with("application/json"))
    };
    let sent_json = media(request.headers());
    let response = next.run(request).await;
    if media(response.headers()) {
        return response;
    }
    match response.status() {
        StatusCode::UNSUPPORTED_MEDIA_TYPE if sent_json => {
            let detail = "expected one JSON-RPC message of the Model Context Protocol";
            Problem::malformed(detail).into_response()
        }
        StatusCode::UNSUPPORTED_MEDIA_TYPE => {
            Problem::wrong_media_type("expected application/json").into_response()
        }
        _ => response,
    }
}

impl AuthState {
    fn caller(&self, method: &Method, headers: &HeaderMap) -> Result<Caller, Problem> {
        let given = given_key(headers);
        if let Some(text) = &given
            && same(text, &self.owner_token)
        {
            return Ok(Caller::Owner);
        }
        if self.engine.is_open() {
            return open_caller(method, headers);
        }
        let Some(text) = given else {
            let detail = "send an API key, as Authorization: Bearer uk_… or X-API-Key: uk_…";
            return Err(Problem::unauthorized(detail));
        };
        let key = self.engine.authenticate(&text);
        key.map(Caller::Key).ok_or_else(|| Problem::unauthorized("this API key is not valid"))
    }
}

/// Whoever is on this machine. A web page that somebody has open on it is not: a browser sends what a page
/// elsewhere wants without asking, unless it is more than a form could send.
fn open_caller(method: &Method, headers: &HeaderMap) -> Result<Caller, Problem> {
    if !is_local_host(headers) {
        let detail = "without keys this server answers to this machine's own names only";
        return Err(Problem::forbidden(detail));
    }
    if !method.is_safe() && !is_same_origin(headers) {
        let detail = "without keys this server takes nothing from web pages of another origin; for such a page \
            make a key of its origin (uptake keys create … --role widget --origin …)";
        return Err(Problem::forbidden(detail));
    }
    Ok(Caller::Open)
}

/// Compares in constant time.
fn same(one: &str, other: &str) -> bool {
    let difference = one.bytes().zip(other.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b));
    one.len() == other.len() && difference == 0 && !other.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_equal_texts_are_the_same() {
        assert!(same("token", "token"));
        for (one, other) in [("token", "tokem"), ("token", "toke"), ("toke", "token"), ("", "")] {
            assert!(!same(one, other), "{one} {other}");
        }
    }
}
