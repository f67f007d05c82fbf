//! Hears of what other nodes write, and sees to what a node does for the database now and then.

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

/// How often it looks. Nobody waits for it but those who read what another node has written.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Looks until it is dropped.
pub(crate) struct Follower {
    stop: Arc<AtomicBool>,
    went_back: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Follower {
    /// Starts a thread that tells the newest position whenever it has moved. It knows what this node has
    /// committed, also before it has seen it itself.
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
                // Before it looks: what is committed later need not be seen yet.
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
                    // Also when this node has committed more since: others may have written before it.
                    Ok(head) if head > told => {
                        told = head;
                        notify(head);
                    }
                    Ok(_) => {}
                    Err(error) => {
                        tracing::debug!(%error, "what other nodes write is not heard");
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

    /// Whether the log was shorter once than it had been before.
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
                tracing::error!("the thread that follows other nodes panicked");
            }
        }
    }
}
