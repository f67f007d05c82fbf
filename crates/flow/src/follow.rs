//! Hears of what other nodes write, where several share a store: what this one keeps in memory to answer
//! quickly is read again when the log says that it changed.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use event::{Change, Position};

use crate::calibrate::Curves;
use crate::changes::changes_of;
use crate::engine::Engine;
use crate::error::FlowError;
use crate::key_ring::KeyRing;
use crate::redactors::Redactors;
use crate::targets::AllTargets;
use crate::tasks::Stop;

/// Events that are read at once.
const PAGE: usize = 1_000;
/// Keys are in no log; a key that another node made or revoked is heard of within this.
const KEYS_EVERY: Duration = Duration::from_secs(1);

/// What has to be read again.
#[derive(Debug, Default, PartialEq, Eq)]
struct Changed {
    privacy: bool,
    targets: bool,
    curves: bool,
    erased: bool,
}

impl Engine {
    /// Keeps up with other nodes, if there can be any.
    pub fn keep_following(self: &Arc<Self>) {
        if self.store.is_shared() {
            let engine = Arc::clone(self);
            self.tasks.start(|stop| follow_on(engine, stop));
        }
    }

    /// Hears everything behind a position. Answers how far that is.
    async fn catch_up(&self, mut after: Position) -> Result<Position, FlowError> {
        loop {
            let page = self.store.tail(after, PAGE).await?;
            let Some(last) = page.last() else { return Ok(after) };
            let last = last.position;
            let (mut changed, mut scopes) = (Changed::default(), HashSet::new());
            for stored in &page {
                changes_of(&stored.event).iter().for_each(|change| changed.note(change));
                if !scopes.contains(&stored.event.scope) {
                    scopes.insert(stored.event.scope.clone());
                }
            }
            self.read_again(&changed).await?;
            scopes.iter().for_each(|scope| self.labels.note(scope));
            self.for_targets.note(scopes.clone());
            self.for_experiments.note(scopes);
            after = last;
        }
    }

    async fn read_again(&self, changed: &Changed) -> Result<(), FlowError> {
        if changed.privacy {
            self.privacy.take_over(Redactors::load(&*self.store).await?);
        }
        if changed.targets {
            self.targets.take_over(AllTargets::load(&*self.store).await?);
        }
        if changed.curves {
            self.curves.take_over(Curves::load(&*self.store).await?);
        }
        if changed.erased {
            self.patterns.clear();
            self.drafts.clear();
        }
        Ok(())
    }
}

impl Changed {
    fn note(&mut self, change: &Change) {
        match change {
            Change::SetPrivacy(_) => self.privacy = true,
            Change::SetTargets(_) => self.targets = true,
            Change::Calibrate(_) => self.curves = true,
            Change::EraseUser(_) => self.erased = true,
            // Read from the store whenever it is asked for, or followed by those who learn.
            Change::OpenTurn { .. }
            | Change::SetVector(_)
            | Change::CompleteTurn { .. }
            | Change::React { .. }
            | Change::ClearReaction
            | Change::Judge { .. }
            | Change::Review(_)
            | Change::Note(_)
            | Change::Count(_)
            | Change::EndSession { .. }
            | Change::Decide { .. }
            | Change::Settle { .. }
            | Change::Alert { .. }
            | Change::SetProfile(_)
            | Change::SetRouter { .. }
            | Change::Experiment(_)
            | Change::Return { .. }
            | Change::Weigh { .. } => {}
        }
    }
}

async fn follow_on(engine: Arc<Engine>, mut stop: Stop) {
    let mut heads = engine.store.watch();
    let mut heard = engine.opened_at;
    let mut keys = tokio::time::interval(KEYS_EVERY);
    loop {
        tokio::select! {
            _ = stop.changed() => return,
            told = heads.changed() => {
                if told.is_err() {
                    return; // the store is closed
                }
                match engine.catch_up(heard).await {
                    Ok(head) => heard = head,
                    Err(error) => tracing::warn!(%error, "what other nodes wrote is heard later"),
                }
            }
            _ = keys.tick() => match KeyRing::load(&*engine.store).await {
                Ok(ring) => engine.keys.take_over(ring),
                Err(error) => tracing::warn!(%error, "keys of other nodes are heard of later"),
            },
        }
    }
}
