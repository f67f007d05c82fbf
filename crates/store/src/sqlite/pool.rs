//! Connections for reading. SQLite blocks, so each read runs on a blocking thread.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;
use tokio::sync::Semaphore;

use super::connect;
use crate::error::StoreError;
use crate::log::Task;

/// As many reads at once as there are connections; the others wait their turn.
pub(super) struct ReadPool {
    idle: Arc<Mutex<Vec<Connection>>>,
    permits: Arc<Semaphore>,
}

impl ReadPool {
    /// Opens all connections.
    pub(super) fn open(file: &Path, size: usize) -> Result<Self, StoreError> {
        let size = size.max(1);
        let idle = (0..size).map(|_| connect::reader(file)).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { idle: Arc::new(Mutex::new(idle)), permits: Arc::new(Semaphore::new(size)) })
    }

    /// Runs a read that looks up a row or two. That takes some microseconds, less than handing it
    /// to another thread would; only when all connections are taken it waits its turn there.
    pub(super) fn run_short<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Task<'_, T> {
        let Ok(_permit) = self.permits.try_acquire() else { return self.run(read) };
        let lock = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(connection) = lock().pop() else { return self.run(read) };
        let result = read(&connection);
        lock().push(connection);
        Box::pin(std::future::ready(result))
    }

    /// Runs a read on the next free connection.
    pub(super) fn run<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Task<'_, T> {
        let idle = Arc::clone(&self.idle);
        let permits = Arc::clone(&self.permits);
        Box::pin(async move {
            let permit = permits.acquire_owned().await.map_err(|_| StoreError::Closed)?;
            let task = move || {
                let lock = || idle.lock().unwrap_or_else(PoisonError::into_inner);
                let connection = lock().pop().ok_or(StoreError::Busy)?;
                let result = read(&connection);
                lock().push(connection);
                drop(permit);
                result
            };
            let joined = tokio::task::spawn_blocking(task).await;
            joined.unwrap_or_else(|_| Err(StoreError::Corrupt("a read panicked".into())))
        })
    }
}
