//! Follows the writes of other nodes and creates partitions in time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use model::Position;
use sql::Connection;
use tokio::sync::watch;

use crate::background_thread::BackgroundThread;
use crate::error::StoreError;
use crate::meta;
use crate::peer_news::PeerNews;
use crate::postgres::{PartitionMaker, Server};

/// The delay until readers on this node see the writes of another node.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Polls until it is dropped.
pub(crate) struct Follower {
    _thread: BackgroundThread,
}

impl Follower {
    /// Starts a thread that calls `notify` whenever the head moves. `committed` is the newest
    /// position this node has committed. `news` gets what other nodes do without a log entry.
    pub(crate) fn start(
        server: Server,
        mut partitions: PartitionMaker,
        committed: watch::Receiver<Position>,
        (news, mut notify): (watch::Sender<PeerNews>, impl FnMut(Position) + Send + 'static),
    ) -> Result<Self, StoreError> {
        let follow = move |stop: &AtomicBool| {
            let (mut connection, mut told): (Option<Connection>, _) = (None, Position(0));
            while !stop.load(Ordering::Acquire) {
                // Read before the head, because a later commit may not be visible yet.
                let known = told.max(*committed.borrow());
                let read = read_head(&mut connection, &server);
                if let Ok((_, access_version)) = read {
                    news.send_if_modified(|news| {
                        let before = std::mem::replace(&mut news.access_version, access_version);
                        before != access_version
                    });
                }
                match read.map(|(head, _)| head) {
                    Ok(head) if head < known => {
                        news.send_modify(|news| news.went_back = true);
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
        Ok(Self { _thread: BackgroundThread::spawn("uptake-follower", follow)? })
    }
}

/// The log head and the access version.
fn read_head(
    connection: &mut Option<Connection>,
    server: &Server,
) -> Result<(Position, u64), StoreError> {
    let connection = match connection {
        Some(connection) => connection,
        None => connection.insert(server.open()?),
    };
    Ok(meta::head_and_access_version(connection)?)
}
