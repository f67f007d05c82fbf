//! Asks for the duty, where nodes share a store.

use std::sync::Arc;
use std::time::Duration;

use store::{Stopwatch, StoreError};

use crate::cluster::Cluster;
use crate::cluster::leadership::LEASE_TTL;
use crate::tasks::StopSignal;

const LEADER_LEASE: &str = "chores";
/// How often it is renewed, or asked for.
const RENEW_INTERVAL: Duration = Duration::from_millis(1500);

impl Cluster {
    /// Starts asking for the duty, where nodes share a store. Call it once, before what waits for it.
    pub fn spawn_leader_election(self: &Arc<Self>) {
        if self.leadership.is_shared() {
            let engine = Arc::clone(self);
            self.core.tasks.spawn_task(|stop| run_election(engine, stop));
        }
    }

    async fn request_lease(&self, node: &str) -> Result<(), StoreError> {
        let since = Stopwatch::start();
        let lease =
            self.core.store.hold(LEADER_LEASE, node, self.core.clock.now(), LEASE_TTL).await?;
        let has = lease.is_some();
        match (self.leadership.record_lease(lease, since).is_some(), has) {
            (false, true) => tracing::info!("this node sweeps, watches and copies for all"),
            (true, false) => tracing::warn!("another node sweeps, watches and copies now"),
            (true, true) | (false, false) => {}
        }
        Ok(())
    }

    /// Lets another node have it at once.
    pub(crate) async fn release_leadership(&self) {
        let Some(lease) = self.leadership.record_lease(None, Stopwatch::start()) else { return };
        if let Err(error) = self.core.store.release(&lease).await {
            tracing::debug!(%error, "the lease was not given back; it runs out");
        }
    }
}

async fn run_election(engine: Arc<Cluster>, mut stop: StopSignal) {
    let node = engine.core.ids.event_id(engine.core.clock.now()).to_string();
    while !*stop.borrow_and_update() {
        if let Err(error) = engine.request_lease(&node).await {
            // What was held runs out by itself.
            tracing::debug!(%error, "the lease is unknown");
        }
        tokio::select! {
            _ = stop.changed() => {}
            () = tokio::time::sleep(RENEW_INTERVAL) => {}
        }
    }
}
