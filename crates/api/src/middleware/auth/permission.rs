//! What a caller may do: a handler asks for the proof.

use std::marker::PhantomData;
use std::ops::Deref;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use engine::StoredKey;
use model::Role;

use super::{Caller, Identity, LoopbackCall};
use crate::error::Problem;
use crate::scope::RequestScope;

/// What a handler is for.
pub(crate) trait Permission: Send + Sync {
    /// Who may do that.
    const ROLES: &[Role];
}

/// Writes of a trusted backend.
#[derive(Debug)]
pub(crate) struct WriteAccess;
/// What a published page may write too.
#[derive(Debug)]
pub(crate) struct FeedbackAccess;
/// Reading.
#[derive(Debug)]
pub(crate) struct ReadAccess;
/// What a running application asks for in order to use it.
#[derive(Debug)]
pub(crate) struct UseAccess;
/// Keys, privacy and whatever else changes the rules.
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

/// The proof that a caller may do it, with the scope it is for.
#[derive(Debug)]
pub(crate) struct Authorized<P> {
    scope: RequestScope,
    caller: Caller,
    purpose: PhantomData<P>,
}

impl<P> Authorized<P> {
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

impl<P> Deref for Authorized<P> {
    type Target = RequestScope;

    fn deref(&self) -> &RequestScope {
        &self.scope
    }
}

impl<S: Send + Sync, P: Permission> FromRequestParts<S> for Authorized<P> {
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
        if let Some(key) = key.filter(|_| parts.extensions.get::<LoopbackCall>().is_none()) {
            identity.count(key, identity.auth.engine.now())?;
        }
        let scope = RequestScope::from_headers(&parts.headers, key)?;
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
