//! Limits how many batches are in memory at once, in total and per tenant. Further batches wait
//! before their bodies are read.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use model::Tenant;
use parking_lot::Mutex;
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};

use crate::error::Problem;
use crate::middleware::auth::{Caller, Identity};

const MAX_BATCHES: usize = 8;
/// Below `MAX_BATCHES`, so that one tenant with slow uploads cannot block all others.
const MAX_TENANT_BATCHES: usize = 6;
const QUEUE_TIMEOUT: Duration = Duration::from_secs(2);

#[derive(Clone, Debug)]
pub(crate) struct BatchLimiter {
    total: Arc<Semaphore>,
    /// One entry per tenant that has keys, so the map stays small.
    by_tenant: Arc<Mutex<HashMap<Tenant, Arc<Semaphore>>>>,
}

impl BatchLimiter {
    pub(crate) fn new() -> Self {
        Self { total: Arc::new(Semaphore::new(MAX_BATCHES)), by_tenant: Arc::default() }
    }

    /// Acquires the tenant's permit first, then one of the total.
    async fn acquire(&self, tenant: Option<Tenant>) -> Result<BatchPermits, AcquireError> {
        let semaphore = tenant.map(|tenant| {
            let mut all = self.by_tenant.lock();
            let new = || Arc::new(Semaphore::new(MAX_TENANT_BATCHES));
            Arc::clone(all.entry(tenant).or_insert_with(new))
        });
        let tenant = match semaphore {
            Some(semaphore) => Some(semaphore.acquire_owned().await?),
            None => None,
        };
        Ok(BatchPermits { _tenant: tenant, _total: Arc::clone(&self.total).acquire_owned().await? })
    }
}

struct BatchPermits {
    _tenant: Option<OwnedSemaphorePermit>,
    _total: OwnedSemaphorePermit,
}

/// Middleware that runs a batch once it has its permits, or answers 503.
pub(crate) async fn limit_batches(
    State(limiter): State<BatchLimiter>,
    request: Request,
    next: Next,
) -> Response {
    let identity = request.extensions().get::<Identity>();
    let caller = identity.and_then(|identity| identity.caller.as_ref().ok());
    let tenant = caller.and_then(Caller::key).map(|key| key.tenant.clone());
    match tokio::time::timeout(QUEUE_TIMEOUT, limiter.acquire(tenant)).await {
        Ok(Ok(_permits)) => next.run(request).await,
        Ok(Err(_)) | Err(_) => {
            let detail = "the server is processing the maximum number of batches; nothing was \
                          stored, send the batch again";
            Problem::unavailable(detail).into_response()
        }
    }
}
