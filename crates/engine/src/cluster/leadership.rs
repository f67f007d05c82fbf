//! Leadership: the node that holds the lease runs leader-only jobs (see `jobs.rs`). A node with
//! a store of its own is always the leader.

use std::time::Duration;

use store::{Lease, Stopwatch};
use tokio::sync::watch;

use crate::tasks::StopSignal;

/// Time until another node can take over from a leader that died.
pub(crate) const LEASE_TTL: Duration = Duration::from_secs(6);

/// This node's view of the leader lease.
#[derive(Debug)]
pub(crate) struct Leadership {
    is_shared: bool,
    held: watch::Sender<Option<HeldLease>>,
}

/// The right to run a leader-only job.
#[derive(Clone, Debug)]
pub(crate) enum Authority {
    /// No other node uses the store.
    Sole,
    /// Writes under this lease are refused once another node has a newer one.
    Lease(Lease),
}

impl Authority {
    pub(crate) fn into_lease(self) -> Option<Lease> {
        match self {
            Self::Sole => None,
            Self::Lease(lease) => Some(lease),
        }
    }
}

#[derive(Debug)]
struct HeldLease {
    lease: Lease,
    since: Stopwatch,
}

impl HeldLease {
    /// Measured from before the lease was requested. The lease therefore expires here before it
    /// expires for other nodes, even when this node was suspended.
    fn is_valid(&self) -> bool {
        self.since.elapsed() < LEASE_TTL
    }
}

impl Leadership {
    pub(crate) fn new(is_shared: bool) -> Self {
        Self { is_shared, held: watch::channel(None).0 }
    }

    /// True while this node may run leader-only jobs.
    pub(crate) fn is_leader(&self) -> bool {
        !self.is_shared || self.held.borrow().as_ref().is_some_and(HeldLease::is_valid)
    }

    /// Returns `false` when the engine stops first.
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

    /// True when other nodes can use the same store.
    pub(crate) fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// Records the result of a lease request that began at `since`. Returns the lease held before.
    pub(crate) fn record_lease(&self, lease: Option<Lease>, since: Stopwatch) -> Option<Lease> {
        let held = lease.map(|lease| HeldLease { lease, since });
        self.held.send_replace(held).map(|held| held.lease)
    }

    /// The authority under which this node runs leader-only jobs. `None` when it is not the leader.
    pub(crate) fn authority(&self) -> Option<Authority> {
        if !self.is_shared {
            return Some(Authority::Sole);
        }
        self.held
            .borrow()
            .as_ref()
            .filter(|held| held.is_valid())
            .map(|held| Authority::Lease(held.lease.clone()))
    }
}
