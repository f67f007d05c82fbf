//! What one of several nodes does for all: sweeps, alerts, moves of experiments, retention, copies. Whoever
//! holds the lease does it; a node that has its store for itself always does.

use std::time::Duration;

use store::{Lease, Stopwatch};
use tokio::sync::watch;

use crate::tasks::StopSignal;

/// How long a node that died keeps others from going on.
pub(crate) const LEASE_TTL: Duration = Duration::from_secs(6);

/// Whether this node is the one.
#[derive(Debug)]
pub(crate) struct Leadership {
    is_shared: bool,
    held: watch::Sender<Option<HeldLease>>,
}

#[derive(Debug)]
struct HeldLease {
    lease: Lease,
    since: Stopwatch,
}

impl HeldLease {
    /// By this node's own clock, which was started before the lease was asked for: it is over here before it is
    /// over for others, also when the node was asleep in between.
    fn is_valid(&self) -> bool {
        self.since.elapsed() < LEASE_TTL
    }
}

impl Leadership {
    pub(crate) fn new(is_shared: bool) -> Self {
        Self { is_shared, held: watch::channel(None).0 }
    }

    /// Whether it is now.
    pub(crate) fn is_leader(&self) -> bool {
        !self.is_shared || self.held.borrow().as_ref().is_some_and(HeldLease::is_valid)
    }

    /// Waits until it is. `false` when the engine stops before.
    pub(crate) async fn wait_until_leader(&self, stop: &mut StopSignal) -> bool {
        let mut held = self.held.subscribe();
        loop {
            if *stop.borrow_and_update() {
                return false;
            }
            held.mark_unchanged();
            if self.is_leader() {
                return true;
            }
            tokio::select! {
                _ = stop.changed() => {}
                _ = held.changed() => {}
            }
        }
    }

    /// Whether there can be others.
    pub(crate) fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// What was answered when the lease was asked for: held since this moment, or not. Answers what was held
    /// before.
    pub(crate) fn record_lease(&self, lease: Option<Lease>, since: Stopwatch) -> Option<Lease> {
        let held = lease.map(|lease| HeldLease { lease, since });
        self.held.send_replace(held).map(|held| held.lease)
    }

    /// By what right it is done here now: a lease, by which whoever does it is stopped when another node has a
    /// newer one, or no lease where none is needed. Nothing when it is not this node's to do.
    pub(crate) fn authority(&self) -> Option<Option<Lease>> {
        if !self.is_shared {
            return Some(None);
        }
        self.held
            .borrow()
            .as_ref()
            .filter(|held| held.is_valid())
            .map(|held| Some(held.lease.clone()))
    }
}
