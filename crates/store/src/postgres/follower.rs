//! Follows the writes of other nodes and creates partitions in time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use model::Position;
use sql::Connection;
use tokio::sync::watch;

use crate::background_thread::BackgroundThread;
use crate::error::StoreError;
use crate::event_rows::newest_position;
use crate::postgres::{PartitionMaker, Server};

/// The delay until readers on this node see the writes of another node.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Polls until it is dropped.
pub(crate) struct Follower {
    went_back: Arc<AtomicBool>,
    _thread: BackgroundThread,
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
        let went_back = Arc::new(AtomicBool::new(false));
        let shorter = Arc::clone(&went_back);
        let follow = move |stop: &AtomicBool| {
            let (mut connection, mut told): (Option<Connection>, _) = (None, Position(0));
            while !stop.load(Ordering::Acquire) {
                // Read before the head, because a later commit may not be visible yet.
                let known = told.max(*committed.borrow());
                match read_head(&mut connection, &server) {
                    Ok(head) if head < known => {
                        shorter.store(true, Ordering::Release);
                        let (head, known) = (head.0, known.0);
                        return tracing::error!(
                            head,
                            known,
                            "the log head is behind the newest position seen: the database lost committed entries"
                        );
                    }
                    // Also when this node has committed more: others may have written before.
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
                    partitions.run_if_due(connection, told);
                }
                std::thread::park_timeout(POLL_INTERVAL);
            }
        };
        Ok(Self { went_back, _thread: BackgroundThread::spawn("uptake-follower", follow)? })
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
