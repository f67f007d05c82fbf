//! Dead letters: accepted writes that could not be stored, with the reason. They can be replayed.

use model::{Outcome, Scope, Write};
use store::DeadLetter;

use crate::error::EngineError;
use crate::feedback::Feedback;

impl Feedback {
    /// Dead letters of a scope after number `after`, oldest first.
    pub async fn dead_letters(
        &self,
        scope: &Scope,
        after: u64,
        limit: usize,
    ) -> Result<Vec<DeadLetter>, EngineError> {
        Ok(self.core.store.dead_letters(scope, after, limit).await?)
    }

    /// Replays a dead letter. It is removed when its writes are stored, now or earlier.
    pub async fn replay_dead_letter(&self, scope: &Scope, id: &str) -> Result<(), EngineError> {
        let letter = self.core.store.dead_letter(scope, id).await?;
        let write = letter.ok_or(EngineError::NotFound("dead letter"))?.write;
        let writes = match self.parse_dead_letter(&write.entry.event) {
            Some(writes) => writes?,
            None => {
                let mut write = recompute_changes(write);
                self.add_fallback_turns(&mut write)?;
                write.split_answer()
            }
        };
        check_all_stored(self.core.store_writes(writes).await?)?;
        Ok(self.core.store.drop_dead_letter(scope, id).await?)
    }
}

/// An error unless every write is stored: a letter may hold a whole conversation.
fn check_all_stored(outcomes: Vec<Outcome>) -> Result<(), EngineError> {
    if outcomes.is_empty() {
        return Err(EngineError::NotStored);
    }
    for outcome in outcomes {
        match outcome {
            Outcome::Stored(_)
            | Outcome::StoredElsewhere(_)
            | Outcome::Replayed { .. }
            | Outcome::Unchanged => {}
            Outcome::Conflict(space) => return Err(EngineError::Conflict(space)),
            Outcome::SetAside => return Err(EngineError::DeadLettered),
            Outcome::Missing(_) | Outcome::Failed => return Err(EngineError::NotStored),
        }
    }
    Ok(())
}

/// Dead letters hold events without their changes.
fn recompute_changes(mut write: Write) -> Write {
    for entry in std::iter::once(&mut write.entry).chain(&mut write.more) {
        entry.changes = crate::changes::changes_of(&entry.event);
    }
    write
}

#[cfg(test)]
mod tests {
    use model::Position;

    use super::*;

    #[test]
    fn dead_letter_is_removed_only_when_all_writes_are_stored() {
        let stored = || Outcome::Stored(Position(1));
        let rows = [
            (vec![stored()], true),
            (vec![stored(), Outcome::Unchanged], true),
            (vec![Outcome::Failed, stored()], false),
            (vec![Outcome::SetAside, stored()], false),
            (Vec::new(), false),
        ];
        for (outcomes, expected) in rows {
            assert_eq!(check_all_stored(outcomes).is_ok(), expected);
        }
    }
}
