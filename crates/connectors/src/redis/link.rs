//! The connection to Redis.
//!
//! ```text
//!          a request or a health check fails
//!     up ------------------------------------> down: requests fail at once
//!      ^                                         |
//!      +------- the keeper task reconnects <-----+  (at once, then every second)
//! ```
//!
//! Requests never connect: each waits for one reply, up to the timeout. A keeper task in the
//! background reconnects, and pings every second so that the health metric is current.
//!
//! Hand-written because requests on `redis::aio::ConnectionManager` wait for the reconnection, and
//! it reports no health.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, ErrorKind, RedisError, RedisResult, ServerErrorKind};
use tokio::sync::Notify;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use crate::error::ConnectorError;
use crate::query_history::HistoryHealth;

/// Between connection attempts, and between health checks.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);
/// For connecting, and for the reply to a health check.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
const WARN_INTERVAL: Duration = Duration::from_secs(60);
/// Deletions remembered while Redis is unavailable. Beyond them, questions expire by themselves.
const MAX_PENDING_DELETES: usize = 10_000;

/// A connection that reconnects by itself.
pub(super) struct Link {
    shared: Arc<Shared>,
    keeper: AbortHandle,
}

struct Shared {
    state: Mutex<State>,
    failed: Notify,
    missed: AtomicU64,
    timeout: Duration,
}

#[derive(Default)]
struct State {
    connection: Option<MultiplexedConnection>,
    /// Identifies the connection, so that a late error of an earlier one is ignored.
    number: u64,
    warned: Option<Instant>,
    warned_since_up: bool,
    /// Keys to delete after reconnecting.
    pending_deletes: Vec<String>,
}

impl Link {
    /// Connects once, and keeps trying in the background.
    pub(super) async fn open(address: &str, timeout: Duration) -> Result<Self, ConnectorError> {
        let client = Client::open(address).map_err(|error| {
            // The error omits the address, which may contain a password.
            ConnectorError::Unavailable(format!("the address of Redis is invalid ({error})"))
        })?;
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            failed: Notify::new(),
            missed: AtomicU64::new(0),
            timeout,
        });
        shared.connect(&client).await;
        let keeping = Arc::clone(&shared).keep_connected(client);
        #[expect(
            clippy::disallowed_methods,
            reason = "aborted with the link; it has nothing to finish"
        )]
        let keeper = tokio::spawn(keeping).abort_handle();
        Ok(Self { shared, keeper })
    }

    /// Sends one request. Fails at once while Redis is unavailable.
    pub(super) async fn ask<T>(
        &self,
        ask: impl AsyncFnOnce(MultiplexedConnection) -> RedisResult<T>,
    ) -> Result<T, ConnectorError> {
        let shared = &self.shared;
        let (connection, number) = {
            let state = shared.state.lock();
            (state.connection.clone(), state.number)
        };
        let Some(connection) = connection else {
            shared.missed.fetch_add(1, Ordering::Relaxed);
            return Err(ConnectorError::Unavailable("Redis is unavailable".to_owned()));
        };
        ask(connection).await.map_err(|error| {
            shared.missed.fetch_add(1, Ordering::Relaxed);
            match is_of_the_connection(&error) {
                true => shared.lost(number, &error),
                false => shared.warn(&error),
            }
            ConnectorError::Unavailable(format!("Redis: {error}"))
        })
    }

    pub(super) fn delete_later(&self, key: String) {
        let mut state = self.shared.state.lock();
        if state.pending_deletes.len() < MAX_PENDING_DELETES {
            state.pending_deletes.push(key);
        }
    }

    pub(super) fn health(&self) -> HistoryHealth {
        let away = self.shared.state.lock().connection.is_none();
        HistoryHealth { away, missed: self.shared.missed.load(Ordering::Relaxed) }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.keeper.abort();
    }
}

impl Shared {
    async fn keep_connected(self: Arc<Self>, client: Client) {
        loop {
            let lived = Instant::now();
            self.watch().await;
            // Waits before reconnecting when the connection was lost at once.
            if lived.elapsed() < RETRY_INTERVAL {
                tokio::time::sleep(RETRY_INTERVAL).await;
            }
            self.connect(&client).await;
        }
    }

    /// Returns when the connection is lost.
    async fn watch(&self) {
        loop {
            let (connection, number) = {
                let state = self.state.lock();
                (state.connection.clone(), state.number)
            };
            let Some(mut connection) = connection else { return };
            // Woken by a failed request, otherwise by the interval.
            if tokio::time::timeout(RETRY_INTERVAL, self.failed.notified()).await.is_ok() {
                continue;
            }
            connection.set_response_timeout(CONNECT_TIMEOUT);
            if let Err(error) = ping(&mut connection).await {
                self.lost(number, &error);
            }
        }
    }

    /// Connects once and runs pending deletions.
    async fn connect(&self, client: &Client) {
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(CONNECT_TIMEOUT))
            .set_response_timeout(Some(self.timeout));
        let connected = async {
            let mut connection =
                client.get_multiplexed_async_connection_with_config(&config).await?;
            // A suspended server still accepts connections, so ping it.
            ping(&mut connection).await?;
            self.delete_pending(&mut connection).await?;
            Ok::<_, RedisError>(connection)
        };
        match connected.await {
            Ok(connection) => {
                let mut state = self.state.lock();
                state.number += 1;
                state.connection = Some(connection);
                if std::mem::take(&mut state.warned_since_up) {
                    tracing::info!("Redis is available again; retry detection is on");
                }
            }
            Err(error) => self.warn(&error),
        }
    }

    async fn delete_pending(&self, connection: &mut MultiplexedConnection) -> RedisResult<()> {
        let pending_deletes = self.state.lock().pending_deletes.clone();
        if pending_deletes.is_empty() {
            return Ok(());
        }
        redis::cmd("DEL").arg(&pending_deletes).query_async::<()>(connection).await?;
        self.state.lock().pending_deletes.drain(..pending_deletes.len());
        Ok(())
    }

    fn lost(&self, number: u64, error: &RedisError) {
        {
            let mut state = self.state.lock();
            if state.number != number || state.connection.take().is_none() {
                return;
            }
        }
        self.failed.notify_one();
        self.warn(error);
    }

    /// Logs a warning, at most one per interval.
    fn warn(&self, error: &RedisError) {
        let mut state = self.state.lock();
        if state.warned.as_ref().is_some_and(|warned| warned.elapsed() < WARN_INTERVAL) {
            return;
        }
        state.warned = Some(Instant::now());
        state.warned_since_up = true;
        tracing::warn!(%error, "Redis is unavailable; retry detection is off");
    }
}

async fn ping(connection: &mut MultiplexedConnection) -> RedisResult<()> {
    redis::cmd("PING").query_async::<()>(connection).await
}

/// True when a new connection may help. Errors of a single key must not drop the connection.
fn is_of_the_connection(error: &RedisError) -> bool {
    error.is_io_error()
        || matches!(
            error.kind(),
            ErrorKind::Parse
                | ErrorKind::Client
                | ErrorKind::AuthenticationFailed
                | ErrorKind::Server(
                    ServerErrorKind::BusyLoading
                        | ServerErrorKind::ReadOnly
                        | ServerErrorKind::MasterDown
                        | ServerErrorKind::ClusterDown
                        // Rejected before the key was examined: no memory, no permission,
                        // read-only.
                        | ServerErrorKind::ExecAbort
                )
        )
}
