//! Writes that were accepted and could not be stored: listed with the reason, tried again on demand.

use event::{Outcome, Scope, Write};
use store::DeadLetter;

use crate::engine::Engine;
use crate::error::FlowError;

impl Engine {
    /// Those of a scope behind a number, oldest first.
    pub async fn dead_letters(
        &self,
        scope: &Scope,
        after: u64,
        limit: usize,
    ) -> Result<Vec<DeadLetter>, FlowError> {
        Ok(self.store.dead_letters(scope, after, limit).await?)
    }

    /// Tries one again. If it can be stored now, or was stored meanwhile, it goes off the list.
    pub async fn replay_dead_letter(&self, scope: &Scope, id: &str) -> Result<(), FlowError> {
        let letter = self.store.dead_letter(scope, id).await?;
        let write = letter.ok_or(FlowError::Unknown("dead letter"))?.write;
        let writes = match self.read_letter(&write.entry.event) {
            Some(writes) => writes?,
            None => vec![with_changes(write)],
        };
        match self.store_writes(writes).await?.pop().unwrap_or(Outcome::Failed) {
            Outcome::Stored(_) | Outcome::Replayed { .. } | Outcome::Unchanged => {
                Ok(self.store.drop_dead_letter(scope, id).await?)
            }
            Outcome::Conflict(space) => Err(FlowError::Conflict(space)),
            Outcome::SetAside => Err(FlowError::SetAside),
            Outcome::Missing(_) | Outcome::Failed => Err(FlowError::NotStored),
        }
    }
}

/// A letter does not hold what follows from its events.
fn with_changes(mut write: Write) -> Write {
    for entry in std::iter::once(&mut write.entry).chain(&mut write.more) {
        entry.changes = crate::changes::changes_of(&entry.event);
    }
    write
}
