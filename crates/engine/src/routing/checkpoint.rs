//! Keeps what routers have learnt, in one place for all nodes.
//!
//! Every node learns the same from the same log, so a state that another node kept is one that this node
//! had or will have. If it is of an earlier position, this node goes on from its own; records that it reads
//! from the store are still right, since a turn that was spoken of in between is in its memory. If it is of a
//! later position, or somebody was forgotten in it, this node goes on from that one.

use std::sync::PoisonError;

use learn::{Router, RouterDefinition, RouterRule, RouterState, Routers, TurnRecord};
use model::{Position, Timestamp, TurnId};
use store::{
    CheckpointVersion, Keeping, NextCheckpoint, RouterCheckpoint, RouterTurn, Store, StoreError,
    StoredRouter,
};

use crate::routing::project::{Progress, Project};

impl Progress {
    /// Goes on beside another state that was kept, if that may be.
    pub(super) fn passes(&mut self, at: CheckpointVersion) -> bool {
        let passes = at.version == self.from.version
            || at.forgets == self.from.forgets
                && at.position.is_some_and(|position| position <= self.position);
        if passes {
            self.from = at;
        }
        passes
    }
}

impl Project {
    /// Goes on from what was kept last, by whichever node.
    pub(super) async fn take_up(
        &self,
        store: &Store,
        progress: &mut Progress,
    ) -> Result<(), StoreError> {
        let (at, kept) = store.router_checkpoint(&self.with.scope).await?;
        let Some(kept) = kept else {
            return self.start_over(store, progress, at, "nothing is kept yet").await;
        };
        match restored(&kept) {
            Ok(routers) => {
                *progress = Progress { position: kept.position, from: at, ..Progress::default() };
                *self.routers.write().unwrap_or_else(PoisonError::into_inner) = routers;
                Ok(())
            }
            Err(why) => self.drop_kept(store, progress, at.version, &why).await,
        }
    }

    /// What is kept is of no use: begins again, unless another node has done so already.
    pub(super) async fn drop_kept(
        &self,
        store: &Store,
        progress: &mut Progress,
        version: u64,
        why: &str,
    ) -> Result<(), StoreError> {
        store.forget_routers(&self.with.scope, version).await?;
        let (at, kept) = store.router_checkpoint(&self.with.scope).await?;
        match kept.as_ref().map(|kept| (kept.position, restored(kept))) {
            None => self.start_over(store, progress, at, why).await,
            Some((position, Ok(routers))) => {
                *progress = Progress { position, from: at, ..Progress::default() };
                *self.routers.write().unwrap_or_else(PoisonError::into_inner) = routers;
                Ok(())
            }
            Some((_, Err(why))) => Err(StoreError::Corrupt(why)),
        }
    }

    /// Begins where the first router was set.
    async fn start_over(
        &self,
        store: &Store,
        progress: &mut Progress,
        at: CheckpointVersion,
        why: &str,
    ) -> Result<(), StoreError> {
        let scope = &self.with.scope;
        tracing::info!(tenant = %scope.tenant, project = %scope.project, why, "learning from the log");
        let before = Position(self.with.since.0.saturating_sub(1));
        *progress = Progress { position: before, changed: true, from: at, ..Progress::default() };
        let mut routers = Routers::default();
        let first = store.events(self.page(before, 1)).await?;
        if first.first().is_none_or(|stored| stored.position != self.with.since) {
            // Their settings were dropped from the log when they were old.
            for (name, definition) in &self.with.definitions {
                if let Ok(definition) = serde_json::from_str(definition) {
                    routers.define_router(name, &definition);
                }
            }
        }
        *self.routers.write().unwrap_or_else(PoisonError::into_inner) = routers;
        Ok(())
    }

    /// Keeps what was learnt since the last time, or goes on from what another node kept.
    pub(crate) async fn keep(&self, store: &Store) -> Result<(), StoreError> {
        let mut progress = self.progress.lock().await;
        if self.keep_now(store, &mut progress).await? {
            return Ok(());
        }
        self.take_up(store, &mut progress).await?;
        drop(progress);
        self.reach(store, store.head()).await
    }

    /// Keeps what was learnt since the last time. Not if another node kept what this one must go on from.
    pub(super) async fn keep_now(
        &self,
        store: &Store,
        progress: &mut Progress,
    ) -> Result<bool, StoreError> {
        while progress.changed {
            let state = self.next_state(progress);
            match store.save_routers(&self.with.scope, state).await? {
                Keeping::Kept(at) => progress.have_kept(at),
                Keeping::Moved(at) if !progress.passes(at) => return Ok(false),
                Keeping::Moved(at) => {
                    if at.position == Some(progress.position) && !progress.forgot {
                        progress.have_kept(at); // another node, but the same
                    }
                }
            }
        }
        Ok(true)
    }

    fn next_state(&self, progress: &Progress) -> NextCheckpoint {
        let position = progress.position;
        let routers = self.with(|routers| {
            let stored = |(name, router): (&str, &Router)| StoredRouter {
                name: name.to_owned(),
                definition: serde_json::json!(router.rule.definition()).to_string(),
                state: router.state.to_bytes(position.0),
            };
            routers.iter().map(stored).collect()
        });
        let turn = |(turn, record): (&TurnId, &TurnRecord)| RouterTurn {
            turn: turn.clone(),
            router: record.served.as_ref().map(|served| served.router.clone()),
            ts: record.served.as_ref().map_or(Timestamp::from_micros(0), |served| served.ts),
            record: serde_json::json!(record).to_string(),
            features: record.feature_bytes(),
        };
        NextCheckpoint {
            from: progress.from.version,
            forgets: progress.forgot,
            checkpoint: RouterCheckpoint { position, routers },
            turns: progress.waiting.iter().map(turn).collect(),
        }
    }
}

impl Progress {
    fn have_kept(&mut self, at: CheckpointVersion) {
        self.from = at;
        self.kept = std::mem::take(&mut self.waiting);
        (self.changed, self.forgot) = (false, false);
    }
}

fn restored(kept: &RouterCheckpoint) -> Result<Routers, String> {
    let mut routers = Routers::default();
    for stored in &kept.routers {
        let wrong = |what: &dyn std::fmt::Display| format!("router {}: {what}", stored.name);
        let written: RouterDefinition =
            serde_json::from_str(&stored.definition).map_err(|error| wrong(&error))?;
        let rule = RouterRule::new(written).map_err(|error| wrong(&error))?;
        let (state, position) =
            RouterState::from_bytes(&stored.state).map_err(|error| wrong(&error))?;
        if position != kept.position.0 {
            return Err(wrong(&"kept at another position"));
        }
        routers.restore(stored.name.clone(), Router { rule, state });
    }
    Ok(routers)
}
