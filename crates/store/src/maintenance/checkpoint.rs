//! Moves the write-ahead log into the database, on a thread of its own: the writer would make
//! everybody wait for it.
//!
//! The writer still does it itself should the log grow very long.

use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use model::Position;
use rusqlite::Connection;
use tokio::sync::watch;

use crate::error::StoreError;
use crate::sqlite;

/// How often it looks.
const POLL_INTERVAL: Duration = Duration::from_millis(250);
/// It acts when there are so many new events,
const MIN_EVENTS: u64 = 50;
/// or any after so many looks.
const MAX_IDLE_POLLS: u32 = 20;

/// Does so until it is dropped.
pub(crate) struct Checkpointer {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Checkpointer {
    /// Starts the thread on a connection of its own.
    pub(crate) fn start(file: &Path, head: watch::Receiver<Position>) -> Result<Self, StoreError> {
        let connection = sqlite::checkpointer(file)?;
        let (stop, stopped) = channel();
        let work = move || {
            let (mut done, mut looks) = (*head.borrow(), 0);
            while stopped.recv_timeout(POLL_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                let now = *head.borrow();
                looks += 1;
                if now.0 >= done.0 + MIN_EVENTS || (now > done && looks >= MAX_IDLE_POLLS) {
                    checkpoint(&connection);
                    (done, looks) = (now, 0);
                }
            }
        };
        let thread = std::thread::Builder::new()
            .name("uptake-checkpoint".into())
            .spawn(work)
            .map_err(|error| StoreError::Unavailable(error.to_string()))?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }
}

/// As much as can be moved without anybody waiting.
fn checkpoint(connection: &Connection) {
    let moved = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
    if let Err(error) = moved {
        // Nothing is lost: it stays in the log, and the next commit tells of trouble with the disk.
        tracing::warn!(%error, "the write-ahead log could not be moved into the database");
    }
}

impl Drop for Checkpointer {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the checkpoint thread panicked");
        }
    }
}
