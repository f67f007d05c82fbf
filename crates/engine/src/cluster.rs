//! Several nodes on one store: leadership, following the log of other nodes, publishing to Kafka.

pub(crate) mod follow;
pub(crate) mod leader_election;
pub(crate) mod leadership;
pub(crate) mod publish;
pub(crate) mod publish_progress;

use std::sync::Arc;

use model::Position;
use tokio::sync::watch;

use crate::access::Access;
use crate::cluster::leadership::Leadership;
use crate::cluster::publish_progress::PublishProgress;
use crate::core::Core;

/// Owns this node's part in the cluster.
pub struct Cluster {
    pub(crate) core: Arc<Core>,
    pub(crate) access: Arc<Access>,
    /// The head of the log when the services loaded their state.
    pub(crate) opened_at: Position,
    pub(crate) leadership: Arc<Leadership>,
    pub(crate) publish_progress: Arc<PublishProgress>,
    /// True once the log became shorter than what this node has read.
    pub(crate) outdated: watch::Sender<bool>,
}

impl Cluster {
    pub(crate) fn new(core: Arc<Core>, access: Arc<Access>, opened_at: Position) -> Self {
        let leadership = Arc::new(Leadership::new(core.store.is_shared()));
        let outdated = watch::channel(false).0;
        Self { core, access, opened_at, leadership, publish_progress: Arc::default(), outdated }
    }

    /// Resolves when the log became shorter: a shared database lost entries, for example by a
    /// failover to a lagging replica. The engine's state in memory is then invalid.
    pub fn until_outdated(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut outdated = self.outdated.subscribe();
        async move {
            if outdated.wait_for(|is_so| *is_so).await.is_err() {
                std::future::pending::<()>().await; // the engine is gone
            }
        }
    }

    /// True when the log became shorter: the database lost committed entries.
    pub fn is_outdated(&self) -> bool {
        *self.outdated.borrow()
    }
}
