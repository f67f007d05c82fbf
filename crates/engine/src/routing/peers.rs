//! Routers learn from entries of other nodes, in a task of their own.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use model::{Event, Position, Scope};
use parking_lot::Mutex;
use tokio::sync::Notify;

use super::Routing;
use crate::retriable::log_retriable;
use crate::tasks::StopSignal;

/// Delay after a failed attempt.
const RETRY_DELAY: Duration = Duration::from_millis(500);

/// Entries of other nodes that routers have not learnt from yet.
#[derive(Default)]
pub(super) struct PeerEvents {
    pending: Mutex<PendingLearning>,
    added: Notify,
}

/// Projects with new entries, up to which position, and erasures.
#[derive(Default)]
pub(super) struct PendingLearning {
    pub(super) scopes: HashMap<Scope, Position>,
    pub(super) erasures: Vec<Event>,
}

impl PendingLearning {
    fn is_empty(&self) -> bool {
        self.scopes.is_empty() && self.erasures.is_empty()
    }
}

impl PeerEvents {
    pub(super) fn add(&self, more: PendingLearning) {
        if more.is_empty() {
            return;
        }
        let mut pending = self.pending.lock();
        for (scope, upto) in more.scopes {
            let known = pending.scopes.entry(scope).or_default();
            *known = upto.max(*known);
        }
        pending.erasures.extend(more.erasures);
        self.added.notify_one();
    }

    fn take(&self) -> PendingLearning {
        std::mem::take(&mut *self.pending.lock())
    }
}

impl Routing {
    /// Starts the task that learns from other nodes. Needed only where nodes share a store.
    pub(crate) fn spawn_peer_learning(self: &Arc<Self>) {
        let routing = Arc::clone(self);
        self.core.tasks.spawn_task(|stop| learn_from_peers(routing, stop));
    }

    /// Returns the part that failed.
    async fn learn_pending(&self, pending: PendingLearning) -> PendingLearning {
        let mut left = PendingLearning::default();
        let store = &self.core.store;
        for (scope, upto) in pending.scopes {
            // Not the head: this node may know the head before it has read the entries up to it.
            if !self.states.learn_up_to(store, &scope, upto).await {
                left.scopes.insert(scope, upto);
            }
        }
        for erasure in pending.erasures {
            let Some(project) = self.states.find_project(&erasure.scope) else { continue };
            if let Err(error) = project.erase_late_turns(store, None, &erasure).await {
                log_retriable(error, "erasure pending: routers still hold data of an erased user");
                left.erasures.push(erasure);
            }
        }
        left
    }
}

async fn learn_from_peers(routing: Arc<Routing>, mut stop: StopSignal) {
    loop {
        tokio::select! {
            _ = stop.changed() => return,
            () = routing.peer_events.added.notified() => {}
        }
        let left = routing.learn_pending(routing.peer_events.take()).await;
        if !left.is_empty() {
            tokio::time::sleep(RETRY_DELAY).await;
            routing.peer_events.add(left);
        }
    }
}
