//! Leader election by a lease in the shared store.

use std::sync::Arc;
use std::time::Duration;

use store::{Stopwatch, StoreError};

use crate::cluster::Cluster;
use crate::cluster::leadership::LEASE_TTL;
use crate::tasks::StopSignal;

const LEADER_LEASE: &str = "chores";
/// Period of lease requests and renewals.
const RENEW_INTERVAL: Duration = Duration::from_millis(1500);

impl Cluster {
    /// Spawns leader election where nodes share a store. Call it once, before leader-only jobs.
    pub fn spawn_leader_election(self: &Arc<Self>) {
        if self.leadership.is_shared() {
            let cluster = Arc::clone(self);
            self.core.tasks.spawn_task(|stop| run_election(cluster, stop));
        }
    }

    async fn request_lease(&self, node: &str) -> Result<(), StoreError> {
        let since = Stopwatch::start();
        let lease = self
            .core
            .store
            .acquire_lease(LEADER_LEASE, node, self.core.clock.now(), LEASE_TTL)
            .await?;
        let has = lease.is_some();
        match (self.leadership.record_lease(lease, since).is_some(), has) {
            (false, true) => tracing::info!("this node is the leader"),
            (true, false) => tracing::warn!("leadership lost to another node"),
            (true, true) | (false, false) => {}
        }
        Ok(())
    }

    /// Releases the lease, so that another node can take over at once.
    pub(crate) async fn release_leadership(&self) {
        let Some(lease) = self.leadership.record_lease(None, Stopwatch::start()) else { return };
        if let Err(error) = self.core.store.release(&lease).await {
            tracing::debug!(%error, "leader lease could not be released; it will expire");
        }
    }
}

async fn run_election(cluster: Arc<Cluster>, mut stop: StopSignal) {
    let node = cluster.core.ids.event_id(cluster.core.clock.now()).to_string();
    while !*stop.borrow_and_update() {
        if let Err(error) = cluster.request_lease(&node).await {
            // A lease that is held expires by itself.
            tracing::debug!(%error, "leader lease could not be requested");
        }
        tokio::select! {
            _ = stop.changed() => {}
            () = tokio::time::sleep(RENEW_INTERVAL) => {}
        }
    }
}
