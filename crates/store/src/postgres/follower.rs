//! Follows the writes of other nodes and creates partitions in time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use model::Position;
use sql::Connection;
use tokio::sync::watch;

use crate::error::StoreError;
use crate::event_rows::newest_position;
use crate::postgres::{PartitionMaker, Server};

/// The delay until readers on this node see the writes of another node.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Polls until it is dropped.
pub(crate) struct Follower {
    stop: Arc<AtomicBool>,
    went_back: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Follower {
    /// Starts a thread that calls `notify` whenever the head moves. `committed` is the newest
    /// position this node has committed.
    pub(crate) fn start(
        server: Server,
        mut partitions: PartitionMaker,
        committed: watch::Receiver<Position>,
        mut notify: impl FnMut(Position) + Send + 'static,
    ) -> Result<Self, StoreError> {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let went_back = Arc::new(AtomicBool::new(false));
        let shorter = Arc::clone(&went_back);
        let follow = move || {
            let (mut connection, mut told): (Option<Connection>, _) = (None, Position(0));
            while !stopped.load(Ordering::Acquire) {
                // Read before the head, because a later commit may not be visible yet.
                let known = told.max(*committed.borrow());
                match read_head(&mut connection, &server) {
                    Ok(head) if head < known => {
                        shorter.store(true, Ordering::Release);
                        tracing::error!(
                            head = head.0,
                            known = known.0,
                            "the log is shorter than it was"
                        );
                        return;
                    }
                    // Also when this node has committed more since: other nodes may have written
                    // before.
                    Ok(head) if head > told => {
                        told = head;
                        notify(head);
                    }
                    Ok(_) => {}
                    Err(error) => {
                        tracing::debug!(%error, "reading the log head failed; retrying");
                        connection = None;
                    }
                }
                if let Some(connection) = &connection {
                    partitions.run_if_due(connection);
                }
                std::thread::park_timeout(POLL_INTERVAL);
            }
        };
        let thread = std::thread::Builder::new()
            .name("uptake-follower".into())
            .spawn(follow)
            .map_err(|error| StoreError::Unavailable(error.to_string()))?;
        Ok(Self { stop, went_back, thread: Some(thread) })
    }

    /// True when the log was once shorter than before.
    pub(crate) fn went_back(&self) -> bool {
        self.went_back.load(Ordering::Acquire)
    }
}

fn read_head(connection: &mut Option<Connection>, server: &Server) -> Result<Position, StoreError> {
    match connection {
        Some(connection) => newest_position(connection),
        None => newest_position(connection.insert(server.open()?)),
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            if thread.join().is_err() {
                tracing::error!("the follower thread panicked");
            }
        }
    }
}
