//! Lets only so many batches in at a time, and never those of one tenant alone; the others wait before their bodies are
//! read.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use model::Tenant;
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};

use crate::error::Problem;
use crate::middleware::auth::{Caller, Identity};

/// Batches whose bodies are in memory at once.
const AT_ONCE: usize = 8;
/// Those of one tenant among them: whoever sends slowly has a place for as long as a body may take.
const OF_ONE: usize = 6;
/// How long a batch waits for a place.
const PATIENCE: Duration = Duration::from_secs(2);

/// Where batches wait.
#[derive(Clone, Debug)]
pub(crate) struct Turnstile {
    places: Arc<Semaphore>,
    /// By tenants that have keys, so there are not many.
    own: Arc<Mutex<HashMap<Tenant, Arc<Semaphore>>>>,
}

impl Turnstile {
    /// Nobody is in yet.
    pub(crate) fn new() -> Self {
        Self { places: Arc::new(Semaphore::new(AT_ONCE)), own: Arc::default() }
    }

    /// Waits for a place among the tenant's own, if it is one's, and then among all.
    async fn enter(&self, tenant: Option<Tenant>) -> Result<Places, AcquireError> {
        let own = tenant.map(|tenant| {
            let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(own.entry(tenant).or_insert_with(|| Arc::new(Semaphore::new(OF_ONE))))
        });
        let own = match own {
            Some(own) => Some(own.acquire_owned().await?),
            None => None,
        };
        Ok(Places { _own: own, _one: Arc::clone(&self.places).acquire_owned().await? })
    }
}

/// What a batch has while it is in.
struct Places {
    _own: Option<OwnedSemaphorePermit>,
    _one: OwnedSemaphorePermit,
}

/// Waits for a place.
pub(crate) async fn wait(
    State(turnstile): State<Turnstile>,
    request: Request,
    next: Next,
) -> Response {
    let caller = request.extensions().get::<Identity>().map(|identity| &identity.caller);
    let tenant = match caller {
        Some(Ok(Caller::Key(key))) => Some(key.tenant.clone()),
        Some(Ok(Caller::Open | Caller::Owner) | Err(_)) | None => None,
    };
    match tokio::time::timeout(PATIENCE, turnstile.enter(tenant)).await {
        Ok(Ok(_places)) => next.run(request).await,
        Ok(Err(_)) | Err(_) => {
            Problem::unavailable("too many batches at once; nothing was stored").into_response()
        }
    }
}
