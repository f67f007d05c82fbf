//! Checkpoints of the routers' state, shared by all nodes.
//!
//! Nodes learn the same from the same log, so a peer's checkpoint is a state that this node had
//! or will have.
//!
//! - Checkpoint of an earlier position: this node continues with its own state. Records that it
//!   reads from the store stay valid, because turns with newer events are in its memory.
//! - Checkpoint of a later position, or one after an erasure: this node continues from it.

use learn::{Router, RouterDefinition, RouterRule, RouterState, Routers, TurnRecord};
use model::{Position, Timestamp, TurnId};
use store::{
    CheckpointVersion, Keeping, NextCheckpoint, RouterCheckpoint, RouterTurn, Store, StoreError,
    StoredRouter,
};

use crate::routing::project::{LearningProgress, ProjectRouters};

impl LearningProgress {
    /// Accepts a stored checkpoint as the new base, if this node's state is still valid beside it.
    pub(super) fn accept_base(&mut self, at: CheckpointVersion) -> bool {
        let is_accepted = at.version == self.base.version
            || at.forgets == self.base.forgets
                && at.position.is_some_and(|position| position <= self.position);
        if is_accepted {
            self.base = at;
        }
        is_accepted
    }
}

impl ProjectRouters {
    /// Continues from the latest checkpoint of any node.
    pub(super) async fn load_checkpoint(
        &self,
        store: &Store,
        progress: &mut LearningProgress,
    ) -> Result<(), StoreError> {
        let (at, kept) = store.router_checkpoint(&self.router_scope.scope).await?;
        let Some(kept) = kept else {
            return self.relearn_from_log(store, progress, at, "there is no checkpoint").await;
        };
        match restore_routers(&kept) {
            Ok(routers) => {
                self.replace_state(progress, (at, kept.position), routers);
                Ok(())
            }
            Err(why) => self.discard_checkpoint(store, progress, at.version, &why).await,
        }
    }

    /// Discards an unusable checkpoint and relearns, unless another node has done so already.
    pub(super) async fn discard_checkpoint(
        &self,
        store: &Store,
        progress: &mut LearningProgress,
        version: u64,
        why: &str,
    ) -> Result<(), StoreError> {
        store.forget_routers(&self.router_scope.scope, version).await?;
        let (at, kept) = store.router_checkpoint(&self.router_scope.scope).await?;
        match kept.as_ref().map(|kept| (kept.position, restore_routers(kept))) {
            None => self.relearn_from_log(store, progress, at, why).await,
            Some((position, Ok(routers))) => {
                self.replace_state(progress, (at, position), routers);
                Ok(())
            }
            Some((_, Err(why))) => Err(StoreError::Corrupt(why)),
        }
    }

    fn replace_state(
        &self,
        progress: &mut LearningProgress,
        (base, position): (CheckpointVersion, Position),
        routers: Routers,
    ) {
        *progress = LearningProgress { position, base, ..LearningProgress::default() };
        *self.routers.write() = routers;
    }

    /// Starts at the definition of the project's first router.
    async fn relearn_from_log(
        &self,
        store: &Store,
        progress: &mut LearningProgress,
        at: CheckpointVersion,
        why: &str,
    ) -> Result<(), StoreError> {
        let scope = &self.router_scope.scope;
        tracing::info!(tenant = %scope.tenant, project = %scope.project, why, "relearning routers from the log");
        let before = Position(self.router_scope.since.0.saturating_sub(1));
        *progress = LearningProgress {
            position: before,
            changed: true,
            base: at,
            ..LearningProgress::default()
        };
        let mut routers = Routers::default();
        let first = store.events(self.event_page(before, 1)).await?;
        if first.first().is_none_or(|stored| stored.position != self.router_scope.since) {
            // Retention dropped the definitions from the log.
            for (name, definition) in &self.router_scope.definitions {
                if let Ok(definition) = serde_json::from_str(definition) {
                    routers.define_router(name, &definition);
                }
            }
        }
        *self.routers.write() = routers;
        Ok(())
    }

    /// Saves a checkpoint, or continues from a newer one of another node.
    pub(crate) async fn save_checkpoint(&self, store: &Store) -> Result<(), StoreError> {
        let mut progress = self.progress.lock().await;
        if self.try_save(store, &mut progress).await? {
            return Ok(());
        }
        self.load_checkpoint(store, &mut progress).await?;
        drop(progress);
        self.learn_up_to(store, store.head()).await
    }

    /// Saves a checkpoint of the changes. Returns `false` when this node must continue from a
    /// checkpoint of another node.
    pub(super) async fn try_save(
        &self,
        store: &Store,
        progress: &mut LearningProgress,
    ) -> Result<bool, StoreError> {
        while progress.changed {
            let state = self.build_state(progress);
            match store.save_routers(&self.router_scope.scope, state).await? {
                Keeping::Kept(at) => progress.mark_saved(at),
                Keeping::Moved(at) if !progress.accept_base(at) => return Ok(false),
                Keeping::Moved(at) => {
                    if at.position == Some(progress.position) && !progress.erased {
                        progress.mark_saved(at); // another node saved the same state
                    }
                }
            }
        }
        Ok(true)
    }

    fn build_state(&self, progress: &LearningProgress) -> NextCheckpoint {
        let position = progress.position;
        let routers = self.read_routers(|routers| {
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
            from: progress.base.version,
            forgets: progress.erased,
            checkpoint: RouterCheckpoint { position, routers },
            turns: progress.unsaved.iter().map(turn).collect(),
        }
    }
}

impl LearningProgress {
    fn mark_saved(&mut self, at: CheckpointVersion) {
        self.base = at;
        self.saved = std::mem::take(&mut self.unsaved);
        (self.changed, self.erased) = (false, false);
    }
}

fn restore_routers(kept: &RouterCheckpoint) -> Result<Routers, String> {
    let mut routers = Routers::default();
    for stored in &kept.routers {
        let wrong = |what: &dyn std::fmt::Display| format!("router {}: {what}", stored.name);
        let written: RouterDefinition =
            serde_json::from_str(&stored.definition).map_err(|error| wrong(&error))?;
        let rule = RouterRule::new(written).map_err(|error| wrong(&error))?;
        let (state, position) =
            RouterState::from_bytes(&stored.state).map_err(|error| wrong(&error))?;
        if position != kept.position.0 {
            return Err(wrong(&"the state is of another position"));
        }
        routers.restore(stored.name.clone(), Router { rule, state });
    }
    Ok(routers)
}
