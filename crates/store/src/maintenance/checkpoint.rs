//! Checkpoints the WAL on a thread of its own, so that the writer does not pause for it.
//!
//! SQLite's automatic checkpoint in the writer remains as a fallback for a very long WAL.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

use model::Position;
use rusqlite::Connection;
use tokio::sync::watch;

use crate::background_thread::BackgroundThread;
use crate::error::StoreError;
use crate::sqlite;

const POLL_INTERVAL: Duration = Duration::from_millis(250);
/// New events that trigger a checkpoint.
const MIN_EVENTS: u64 = 50;
/// Polls after which a single new event triggers a checkpoint.
const MAX_IDLE_POLLS: u32 = 20;

pub(crate) fn spawn_checkpointer(
    file: &Path,
    head: watch::Receiver<Position>,
) -> Result<BackgroundThread, StoreError> {
    let connection = sqlite::checkpointer(file)?;
    BackgroundThread::spawn("uptake-checkpoint", move |stop| {
        let (mut done, mut looks) = (*head.borrow(), 0);
        loop {
            std::thread::park_timeout(POLL_INTERVAL);
            if stop.load(Ordering::Acquire) {
                return;
            }
            let now = *head.borrow();
            looks += 1;
            if now.0 >= done.0 + MIN_EVENTS || (now > done && looks >= MAX_IDLE_POLLS) {
                checkpoint(&connection);
                (done, looks) = (now, 0);
            }
        }
    })
}

/// A passive checkpoint, which never blocks the writer.
fn checkpoint(connection: &Connection) {
    let moved = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
    if let Err(error) = moved {
        // The frames stay in the WAL, and the next commit reports a disk error.
        tracing::warn!(%error, "the WAL checkpoint failed");
    }
}
