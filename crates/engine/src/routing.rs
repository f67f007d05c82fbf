//! Routers: their learnt state in memory, kept up to date with the log.
//!
//! ```text
//! commit --> learn_up_to: the project's new events, in order --> turn records --> routers
//!                                                     \-> checkpoint every 10 s
//! ```
//!
//! A commit in a project with routers is acknowledged after its routers have learnt from it.
//! A checkpoint speeds up the start. Once retention has dropped events, it is the only copy of what
//! was learnt from them.

pub(crate) mod admin;
pub(crate) mod checkpoint;
pub(crate) mod choice_log;
pub(crate) mod choice_queue;
pub(crate) mod choose;
pub(crate) mod credit;
pub(crate) mod decision_token;
pub(crate) mod erase;
pub(crate) mod evaluate;
pub(crate) mod turn_reward;
mod project;
mod recent_choices;
mod peers;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::Arc;

use model::{Position, Scope};
use parking_lot::RwLock;
use store::{Store, StoreError};

use crate::core::Core;
use crate::core::commit::{CommitObserver, CommitSummary, ObserverFuture};
use crate::error::EngineError;
use crate::retriable::log_retriable;
pub(crate) use choice_queue::ChoiceQueue;
pub(crate) use decision_token::DecisionToken;
use peers::{PeerEvents, PendingLearning};
pub(crate) use project::ProjectRouters;

/// Owns the routers' state and the queue of choices on their way into the log.
pub struct Routing {
    pub(crate) core: Arc<Core>,
    pub(crate) states: Arc<RouterStates>,
    pub(crate) choices: ChoiceQueue,
    peer_events: PeerEvents,
}

impl Routing {
    pub(crate) async fn open(core: Arc<Core>) -> Result<Self, EngineError> {
        let states = Arc::new(RouterStates::load(&core.store).await?);
        let (choices, peer_events) = (ChoiceQueue::default(), PeerEvents::default());
        Ok(Self { core, states, choices, peer_events })
    }

    /// The number of numeric faults in routers, and how often `exclude`, `max_cost` or a budget
    /// could not be met.
    pub fn route_fault_counts(&self) -> (u64, u64) {
        self.core.counters.route_counts()
    }

    /// Routers of this node learn before the commit is acknowledged.
    async fn learn_from_commit(&self, commit: &CommitSummary) -> Result<(), EngineError> {
        for scope in self.learning_scopes(commit) {
            self.states.learn_up_to(&self.core.store, &scope, commit.upto).await;
        }
        Ok(())
    }

    /// Projects that define a router, or whose existing routers can learn from the commit.
    fn learning_scopes(&self, commit: &CommitSummary) -> Vec<Scope> {
        let mut scopes = commit.router_definitions.clone();
        for scope in &commit.router_events {
            if !scopes.contains(scope) && self.states.find_project(scope).is_some() {
                scopes.push(scope.clone());
            }
        }
        scopes
    }
}

impl CommitObserver for Routing {
    fn on_commit<'a>(&'a self, commit: &'a CommitSummary) -> ObserverFuture<'a> {
        if !commit.is_peer() {
            return Box::pin(self.learn_from_commit(commit));
        }
        // Learning runs in a separate task, so that settings of other nodes apply without waiting.
        let scopes = self.learning_scopes(commit);
        self.peer_events.add(PendingLearning {
            scopes: scopes.into_iter().map(|scope| (scope, commit.upto)).collect(),
            erasures: commit.erasures.clone(),
        });
        Box::pin(std::future::ready(Ok(())))
    }
}

#[derive(Debug)]
pub(crate) struct RouterStates {
    projects: RwLock<HashMap<Scope, Arc<ProjectRouters>>>,
    /// Key of the pseudonyms.
    key: [u8; 32],
}

impl RouterStates {
    /// Loads all checkpoints and learns the rest of the log.
    pub(crate) async fn load(store: &Store) -> Result<Self, StoreError> {
        let key = blake3::derive_key("uptake pseudonyms v1", &store.seal_key());
        let routing = Self { projects: RwLock::default(), key };
        routing.reload(store).await?;
        Ok(routing)
    }

    /// Discards the state in memory and loads it again.
    pub(crate) async fn reload(&self, store: &Store) -> Result<(), StoreError> {
        let mut projects = HashMap::new();
        for router_scope in store.router_scopes().await? {
            let scope = router_scope.scope.clone();
            projects.insert(
                scope,
                Arc::new(ProjectRouters::load(store, router_scope, self.key).await?),
            );
        }
        *self.projects.write() = projects;
        Ok(())
    }

    pub(crate) fn find_project(&self, scope: &Scope) -> Option<Arc<ProjectRouters>> {
        let projects = self.projects.read();
        projects.get(scope).cloned()
    }

    /// Loads the routers of a project that has defined its first one.
    async fn start_project(
        &self,
        store: &Store,
        scope: &Scope,
        position: Position,
    ) -> Result<(), StoreError> {
        let scopes = store.router_scopes().await?;
        let Some(router_scope) = scopes.into_iter().find(|known| known.scope == *scope) else {
            return Ok(());
        };
        let begun = Arc::new(ProjectRouters::load(store, router_scope, self.key).await?);
        let project = {
            let mut projects = self.projects.write();
            Arc::clone(projects.entry(scope.clone()).or_insert(begun))
        };
        // A concurrent call may have inserted a state that is further behind.
        project.learn_up_to(store, position).await
    }

    /// Brings a project's routers up to date with the log up to a position. Returns `false` on
    /// failure: the entries stay committed, and the next commit retries.
    pub(crate) async fn learn_up_to(
        &self,
        store: &Store,
        scope: &Scope,
        position: Position,
    ) -> bool {
        let reached = match self.find_project(scope) {
            Some(project) => project.learn_up_to(store, position).await,
            None => self.start_project(store, scope, position).await,
        };
        if let Err(error) = reached {
            log_retriable(
                error,
                "routers could not learn from a commit; retrying with the next one",
            );
            return false;
        }
        true
    }

    /// Saves a checkpoint of every project with changes.
    pub(crate) async fn save_checkpoints(&self, store: &Store) -> Result<(), StoreError> {
        let all: Vec<Arc<ProjectRouters>> = {
            let projects = self.projects.read();
            projects.values().cloned().collect()
        };
        for project in all {
            project.save_checkpoint(store).await?;
        }
        Ok(())
    }
}
