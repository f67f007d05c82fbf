//! Checkpoints the WAL on a thread of its own, so that the writer does not pause for it.
//!
//! SQLite's automatic checkpoint in the writer remains as a fallback for a very long WAL.

use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use model::Position;
use rusqlite::Connection;
use tokio::sync::watch;

use crate::error::StoreError;
use crate::sqlite;

const POLL_INTERVAL: Duration = Duration::from_millis(250);
/// Checkpoint after this many new events,
const MIN_EVENTS: u64 = 50;
/// or after this many polls when there is any new event.
const MAX_IDLE_POLLS: u32 = 20;

/// Runs until it is dropped.
pub(crate) struct Checkpointer {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Checkpointer {
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

/// A passive checkpoint, which never blocks the writer.
fn checkpoint(connection: &Connection) {
    let moved = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
    if let Err(error) = moved {
        // The frames stay in the WAL, and the next commit reports a disk error.
        tracing::warn!(%error, "the WAL checkpoint failed");
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
