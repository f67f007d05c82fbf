//! Permissions as extractors: a handler states the access it requires in its signature.

use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use engine::{Engine, StoredKey, set_reader};
use model::{Role, Scope};

use super::{Caller, Identity, LoopbackCall};
use crate::error::Problem;
use crate::scope::RequestScope;

/// A kind of access that a handler requires.
pub(crate) trait Permission: Send + Sync {
    /// Roles that have this access.
    const ROLES: &[Role];
}

/// Writes of a trusted backend.
#[derive(Debug)]
pub(crate) struct WriteAccess;
/// Writes that a widget on a public web page may send too.
#[derive(Debug)]
pub(crate) struct FeedbackAccess;
#[derive(Debug)]
pub(crate) struct ReadAccess;
/// Lookups that an application makes while it serves requests.
#[derive(Debug)]
pub(crate) struct UseAccess;
/// Changes of keys, privacy settings and other rules.
#[derive(Debug)]
pub(crate) struct AdminAccess;

impl Permission for WriteAccess {
    const ROLES: &[Role] = &[Role::Ingest, Role::Admin];
}
impl Permission for FeedbackAccess {
    const ROLES: &[Role] = &[Role::Widget, Role::Ingest, Role::Admin];
}
impl Permission for ReadAccess {
    const ROLES: &[Role] = &[Role::Read, Role::Admin];
}
impl Permission for UseAccess {
    const ROLES: &[Role] = &[Role::Ingest, Role::Read, Role::Admin];
}
impl Permission for AdminAccess {
    const ROLES: &[Role] = &[Role::Admin];
}

/// A request whose caller has the access `P`, with its scope.
#[derive(Debug)]
pub(crate) struct Call<P> {
    pub(crate) engine: Arc<Engine>,
    scope: RequestScope,
    caller: Caller,
    access: PhantomData<P>,
}

pub(crate) type WriteCall = Call<WriteAccess>;
pub(crate) type FeedbackCall = Call<FeedbackAccess>;
pub(crate) type ReadCall = Call<ReadAccess>;
pub(crate) type UseCall = Call<UseAccess>;
pub(crate) type AdminCall = Call<AdminAccess>;

impl<P> Call<P> {
    pub(crate) fn scope(&self) -> &Scope {
        self.scope.get()
    }

    pub(crate) fn caller(&self) -> &Caller {
        &self.caller
    }

    /// True for keys on public web pages, whose data is trusted less.
    pub(crate) fn is_widget(&self) -> bool {
        self.caller.role() == Role::Widget
    }
}

impl<P> Deref for Call<P> {
    type Target = RequestScope;

    fn deref(&self) -> &RequestScope {
        &self.scope
    }
}

impl<S: Send + Sync, P: Permission> FromRequestParts<S> for Call<P> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Problem> {
        let Some(identity) = parts.extensions.get::<Identity>().cloned() else {
            return Err(Problem::unauthorized("the request was not authenticated"));
        };
        let caller = identity.caller.clone()?;
        if !P::ROLES.contains(&caller.role()) {
            let role = caller.role().as_word();
            let roles: Vec<&str> = P::ROLES.iter().map(|role| role.as_word()).collect();
            let expected = roles.join(", ");
            let detail = format!("the key has the role {role}, expected one of {expected}");
            return Err(Problem::forbidden(detail));
        }
        let key = caller.key();
        if let Some(key) = key {
            check_origin(key, &parts.headers)?;
        }
        if let Some(key) = key.filter(|_| parts.extensions.get::<LoopbackCall>().is_none()) {
            identity.check_rate_limit(key, identity.auth.engine.now())?;
        }
        let scope = RequestScope::from_headers(&parts.headers, key)?;
        set_reader(&scope.get().tenant);
        let engine = Arc::clone(&identity.auth.engine);
        Ok(Self { engine, scope, caller, access: PhantomData })
    }
}

/// A key with an origin is valid only in requests from web pages of that origin.
pub(crate) fn check_origin(key: &StoredKey, headers: &HeaderMap) -> Result<(), Problem> {
    let Some(origin) = &key.origin else { return Ok(()) };
    let given = headers.get(header::ORIGIN).and_then(|value| value.to_str().ok());
    if given == Some(origin.as_str()) {
        return Ok(());
    }
    // The origin is not named: a leaked key must not say which origin to forge.
    Err(Problem::forbidden("the key is restricted to web pages of another origin"))
}
