//! Who is asking, what that one may do, and in which scope.
//!
//! Every handler says what it is for (`May<Writing>` and so on), so none can be without a check.

use std::marker::PhantomData;
use std::net::{IpAddr, SocketAddr};
use std::ops::Deref;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{ConnectInfo, FromRequest, FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use event::{Role, Timestamp};
use flow::{Engine, StoredKey};

use crate::body::Sent;
use crate::error::Problem;
use crate::limits::RateLimits;
use crate::origin::{is_from_here, is_this_machine};
use crate::scope::RequestScope;

/// Requests per second that one client address may make with one widget key.
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
pub(crate) struct Doorman {
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
    pub(crate) doorman: Doorman,
}

impl Identity {
    /// Counts a request of a key, unless it makes too many.
    pub(crate) fn count(&self, key: &StoredKey, now: Timestamp) -> Result<(), Problem> {
        let limits = &self.doorman.limits;
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
    State(doorman): State<Doorman>,
    mut request: Request,
    next: Next,
) -> Response {
    let caller = doorman.caller(request.method(), request.headers());
    let client = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|info| info.0.ip());
    request.extensions_mut().insert(Identity { caller, client, doorman });
    next.run(request).await
}

/// A call that a face of the API makes for a request that was counted already.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FromWithin;

/// Lets in whoever may do something on the other side, where each thing is asked for again. The face would
/// wait for a body for ever, so it gets one that has come. What it refuses in words of its own is said in ours.
pub(crate) async fn let_in(_: May<Using>, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let coming = Request::from_parts(parts.clone(), body);
    let request = match Sent::from_request(coming, &()).await {
        Ok(Sent { bytes, .. }) => Request::from_parts(parts, Body::from(bytes)),
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

impl Doorman {
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
    if !is_this_machine(headers) {
        let detail = "without keys this server answers to this machine's own names only";
        return Err(Problem::forbidden(detail));
    }
    if !method.is_safe() && !is_from_here(headers) {
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

/// The key a request brings: Bearer, `X-API-Key`, or either half of Basic, for clients that know
/// nothing else.
fn given_key(headers: &HeaderMap) -> Option<String> {
    if let Some(key) = headers.get("x-api-key") {
        return key.to_str().ok().map(str::to_owned);
    }
    let text = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, rest) = text.split_once(' ')?;
    if scheme.eq_ignore_ascii_case("bearer") {
        return Some(rest.trim().to_owned());
    }
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let decoded = String::from_utf8(from_base64(rest.trim())?).ok()?;
    let (user, password) = decoded.split_once(':')?;
    let key = if password.starts_with("uk_") { password } else { user };
    Some(key.to_owned())
}

fn from_base64(text: &str) -> Option<Vec<u8>> {
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    };
    let (mut bytes, mut bits, mut held) = (Vec::new(), 0_u32, 0);
    for byte in text.trim_end_matches('=').bytes() {
        bits = (bits << 6) | u32::from(value(byte)?);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
    }
    Some(bytes)
}

/// What a handler is for.
pub(crate) trait Permission: Send + Sync {
    /// Who may do that.
    const ROLES: &[Role];
}

/// Writes of a trusted backend.
#[derive(Debug)]
pub(crate) struct Writing;
/// What a published page may write too.
#[derive(Debug)]
pub(crate) struct Reacting;
/// Reading.
#[derive(Debug)]
pub(crate) struct Reading;
/// What a running application asks for in order to use it.
#[derive(Debug)]
pub(crate) struct Using;
/// Keys, privacy and whatever else changes the rules.
#[derive(Debug)]
pub(crate) struct Managing;

impl Permission for Writing {
    const ROLES: &[Role] = &[Role::Ingest, Role::Admin];
}
impl Permission for Reacting {
    const ROLES: &[Role] = &[Role::Widget, Role::Ingest, Role::Admin];
}
impl Permission for Reading {
    const ROLES: &[Role] = &[Role::Read, Role::Admin];
}
impl Permission for Using {
    const ROLES: &[Role] = &[Role::Ingest, Role::Read, Role::Admin];
}
impl Permission for Managing {
    const ROLES: &[Role] = &[Role::Admin];
}

/// The proof that a caller may do it, with the scope it is for.
#[derive(Debug)]
pub(crate) struct May<P> {
    scope: RequestScope,
    caller: Caller,
    purpose: PhantomData<P>,
}

impl<P> May<P> {
    /// The scope, when the proof itself is no longer needed.
    pub(crate) fn into_scope(self) -> RequestScope {
        self.scope
    }

    /// Who it is.
    pub(crate) fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Whether it is a published page, whose word counts for less.
    pub(crate) fn is_widget(&self) -> bool {
        self.caller.role() == Role::Widget
    }
}

impl<P> Deref for May<P> {
    type Target = RequestScope;

    fn deref(&self) -> &RequestScope {
        &self.scope
    }
}

impl<S: Send + Sync, P: Permission> FromRequestParts<S> for May<P> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Problem> {
        let Some(identity) = parts.extensions.get::<Identity>().cloned() else {
            return Err(Problem::unauthorized("nobody looked at this request"));
        };
        let caller = identity.caller.clone()?;
        if !P::ROLES.contains(&caller.role()) {
            let role = caller.role().as_word();
            return Err(Problem::forbidden(format!("a key with the role {role} may not do this")));
        }
        let key = match &caller {
            Caller::Open | Caller::Owner => None,
            Caller::Key(key) => Some(&**key),
        };
        if let Some(key) = key {
            check_origin(key, &parts.headers)?;
        }
        if let Some(key) = key.filter(|_| parts.extensions.get::<FromWithin>().is_none()) {
            identity.count(key, identity.doorman.engine.now())?;
        }
        let scope = RequestScope::of(&parts.headers, key)?;
        Ok(Self { scope, caller, purpose: PhantomData })
    }
}

/// A key that belongs to a web page works from there only.
pub(crate) fn check_origin(key: &StoredKey, headers: &HeaderMap) -> Result<(), Problem> {
    let Some(origin) = &key.origin else { return Ok(()) };
    let given = headers.get(header::ORIGIN).and_then(|value| value.to_str().ok());
    if given == Some(origin.as_str()) {
        return Ok(());
    }
    Err(Problem::forbidden("this key may not be used from this origin"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &'static str, value: &'static str, expected: Option<&str>) {
        let mut headers = HeaderMap::new();
        headers.insert(name, value.parse().unwrap());
        assert_eq!(given_key(&headers).as_deref(), expected, "{name}: {value}");
    }

    #[test]
    fn a_key_comes_in_one_of_three_ways() {
        check("authorization", "Bearer uk_a_b", Some("uk_a_b"));
        check("authorization", "bearer  uk_a_b", Some("uk_a_b"));
        check("x-api-key", "uk_a_b", Some("uk_a_b"));
        check("authorization", "Basic dWtfYV9iOg==", Some("uk_a_b"));
        check("authorization", "Basic cHVibGljOnVrX2FfYg==", Some("uk_a_b"));
        check("authorization", "Basic %%%", None);
        check("authorization", "Digest uk_a_b", None);
        check("authorization", "uk_a_b", None);
    }

    #[test]
    fn only_equal_texts_are_the_same() {
        assert!(same("token", "token"));
        for (one, other) in [("token", "tokem"), ("token", "toke"), ("toke", "token"), ("", "")] {
            assert!(!same(one, other), "{one} {other}");
        }
    }
}
