//! Asks for the duty, where nodes share a store.

use std::sync::Arc;
use std::time::Duration;

use store::{Stopwatch, StoreError};

use crate::cluster::Cluster;
use crate::cluster::leadership::LASTS;
use crate::tasks::Stop;

const LEASE: &str = "chores";
/// How often it is renewed, or asked for.
const RENEW: Duration = Duration::from_millis(1500);

impl Cluster {
    /// Starts asking for the duty, where nodes share a store. Call it once, before what waits for it.
    pub fn keep_duty(self: &Arc<Self>) {
        if self.duty.is_shared() {
            let engine = Arc::clone(self);
            self.core.tasks.start(|stop| ask_on(engine, stop));
        }
    }

    async fn ask_for_duty(&self, node: &str) -> Result<(), StoreError> {
        let since = Stopwatch::start();
        let lease = self.core.store.hold(LEASE, node, self.core.clock.now(), LASTS).await?;
        let has = lease.is_some();
        match (self.duty.note(lease, since).is_some(), has) {
            (false, true) => tracing::info!("this node sweeps, watches and copies for all"),
            (true, false) => tracing::warn!("another node sweeps, watches and copies now"),
            (true, true) | (false, false) => {}
        }
        Ok(())
    }

    /// Lets another node have it at once.
    pub(crate) async fn give_duty_back(&self) {
        let Some(lease) = self.duty.note(None, Stopwatch::start()) else { return };
        if let Err(error) = self.core.store.release(&lease).await {
            tracing::debug!(%error, "the lease was not given back; it runs out");
        }
    }
}

async fn ask_on(engine: Arc<Cluster>, mut stop: Stop) {
    let node = engine.core.mint.event_id(engine.core.clock.now()).to_string();
    while !*stop.borrow_and_update() {
        if let Err(error) = engine.ask_for_duty(&node).await {
            // What was held runs out by itself.
            tracing::debug!(%error, "the lease is unknown");
        }
        tokio::select! {
            _ = stop.changed() => {}
            () = tokio::time::sleep(RENEW) => {}
        }
    }
}
