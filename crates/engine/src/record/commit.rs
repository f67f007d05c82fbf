//! Writes to the store, and what follows when they are on disk: receipts, and who learns from them.

use model::{Change, EventId, Need, Origin, Outcome, Scope, Write};

use super::Receipt;
use crate::attention::scopes_of;
use crate::engine::Engine;
use crate::error::FlowError;
use crate::routing::concerns_routers;

impl Engine {
    /// Stores one write and says what became of it.
    pub(crate) async fn commit_one(&self, write: Write) -> Result<Receipt, FlowError> {
        self.commit_last(vec![write]).await
    }

    /// Stores writes together and says what became of the last of them.
    pub(crate) async fn commit_last(&self, writes: Vec<Write>) -> Result<Receipt, FlowError> {
        let mut receipts = self.commit(writes).await?;
        receipts.pop().unwrap_or(Err(FlowError::NotStored))
    }

    /// Stores writes together and says how many of them were new.
    pub(crate) async fn commit_writes(&self, writes: Vec<Write>) -> Result<usize, FlowError> {
        if writes.is_empty() {
            return Ok(0);
        }
        let receipts = self.commit(writes).await?;
        Ok(receipts.iter().filter(|receipt| matches!(receipt, Ok(r) if !r.replayed)).count())
    }

    /// Stores writes together and says of each what became of it; a failure of the store is everybody's.
    pub(crate) async fn commit(
        &self,
        writes: Vec<Write>,
    ) -> Result<Vec<Result<Receipt, FlowError>>, FlowError> {
        let ids: Vec<EventId> = writes.iter().map(|write| write.entry.event.id.clone()).collect();
        let outcomes = self.store_writes(writes).await?;
        Ok(ids.into_iter().zip(outcomes).map(|(id, outcome)| receipt(id, outcome)).collect())
    }

    /// The one way to the store's door: when it returns, what was stored is learnt from.
    pub(crate) async fn store_writes(&self, writes: Vec<Write>) -> Result<Vec<Outcome>, FlowError> {
        let labelled = labelled(&writes);
        let taught = self.taught(&writes);
        let scopes = scopes_of(&writes);
        let outcomes = self.store.commit(writes).await?;
        labelled.iter().for_each(|scope| self.labels.note(scope));
        self.for_targets.note(scopes.clone());
        self.for_experiments.note(scopes);
        for scope in taught {
            self.routing.reach(&*self.store, &scope, self.head()).await;
        }
        Ok(outcomes)
    }

    /// The projects whose routers can learn from writes, or that may get their first router.
    fn taught(&self, writes: &[Write]) -> Vec<Scope> {
        let entries =
            writes.iter().flat_map(|write| std::iter::once(&write.entry).chain(&write.more));
        let taught = entries.filter(|entry| {
            let begins =
                entry.changes.iter().any(|change| matches!(change, Change::SetRouter { .. }));
            let has_routers = || self.routing.of(&entry.event.scope).is_some();
            begins || (concerns_routers(&entry.event) && has_routers())
        });
        let mut scopes: Vec<Scope> = Vec::new();
        for entry in taught {
            if !scopes.contains(&entry.event.scope) {
                scopes.push(entry.event.scope.clone());
            }
        }
        scopes
    }
}

/// The projects in which the writes say what people think of turns: something to calibrate by.
fn labelled(writes: &[Write]) -> Vec<Scope> {
    let labels = writes.iter().filter(|write| write.entry.changes.iter().any(is_label));
    let mut scopes: Vec<Scope> = labels.map(|write| write.entry.event.scope.clone()).collect();
    scopes.dedup();
    scopes
}

/// Whether a person says in it what they think of a turn.
fn is_label(change: &Change) -> bool {
    match change {
        Change::React { origin: Origin::User, .. } | Change::ClearReaction | Change::Review(_) => {
            true
        }
        Change::React { origin: Origin::Machine, .. }
        | Change::OpenTurn { .. }
        | Change::SetVector(_)
        | Change::CompleteTurn { .. }
        | Change::Judge { .. }
        | Change::EndSession { .. }
        | Change::Calibrate(_)
        | Change::SetRouter { .. }
        | Change::Experiment(_)
        | Change::Return { .. }
        | Change::Weigh { .. }
        | Change::Note(_)
        | Change::Count(_)
        | Change::Decide { .. }
        | Change::Settle { .. }
        | Change::SetPrivacy(_)
        | Change::SetTargets(_)
        | Change::Alert { .. }
        | Change::SetProfile(_)
        | Change::EraseUser(_) => false,
    }
}

fn receipt(id: EventId, outcome: Outcome) -> Result<Receipt, FlowError> {
    match outcome {
        Outcome::Stored(position) => Ok(Receipt { id, position, replayed: false }),
        Outcome::Replayed { position, id } => Ok(Receipt { id, position, replayed: true }),
        Outcome::Conflict(space) => Err(FlowError::Conflict(space)),
        Outcome::Missing(need) => Err(FlowError::Unknown(need_word(&need))),
        // Only a reaction can be there already, and it has a door of its own.
        Outcome::Unchanged | Outcome::Failed => Err(FlowError::NotStored),
        Outcome::SetAside => Err(FlowError::SetAside),
    }
}

fn need_word(need: &Need) -> &'static str {
    match need {
        Need::Turn(_) => "turn",
        Need::Decision(_) | Need::OutcomeAt(..) | Need::OtherOutcome(_) => "decision",
        Need::OtherReaction { .. } => "reaction",
        Need::SilentSince(_) => "open session",
        Need::Experiment { .. } | Need::OtherVariant(..) => "experiment",
    }
}
