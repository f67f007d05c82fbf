//! Verifies a commit whose confirmation was lost with the connection.

use model::{Outcome, Position};
use sql::Connection;

use crate::log::packed_write::PackedWrite;
use crate::log::queue::Submission;

/// True when the group was committed. The transaction waits for the lock on the log head, which the
/// lost commit may still hold.
pub(crate) fn verify_commit(
    connection: &mut Connection,
    group: &[Submission],
    answers: &[Vec<Outcome>],
) -> sql::Result<bool> {
    let Some((position, write)) = witness(group, answers) else {
        // A group that stored nothing needs no retry, unless it has dead letters.
        let is_set_aside = |outcome: &Outcome| matches!(outcome, Outcome::SetAside);
        return Ok(!answers.iter().flatten().any(is_set_aside));
    };
    let transaction = connection.transaction()?;
    let select = "SELECT 1 FROM events WHERE position = ?1 AND id = ?2";
    transaction.exists(select, (position.0 as i64, write.event_id()))
}

/// An event that is in the log exactly when the group is.
fn witness<'g>(
    group: &'g [Submission],
    answers: &[Vec<Outcome>],
) -> Option<(Position, &'g PackedWrite)> {
    let writes = group.iter().flat_map(|submission| &submission.writes);
    writes.zip(answers.iter().flatten()).find_map(|(write, outcome)| match outcome {
        Outcome::Stored(position) | Outcome::StoredElsewhere(position) => Some((*position, write)),
        Outcome::Replayed { .. }
        | Outcome::Unchanged
        | Outcome::Conflict(_)
        | Outcome::Missing(_)
        | Outcome::SetAside
        | Outcome::Failed => None,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use model::Scope;
    use testkit::write;
    use tokio::sync::{Semaphore, oneshot};

    use super::*;
    use crate::log::Limits;
    use crate::metrics::Stopwatch;
    use crate::store::Store;

    fn group(ids: &[&str]) -> Vec<Submission> {
        let writes =
            ids.iter().map(|id| PackedWrite::new(write(&Scope::default(), id, 1))).collect();
        let room = Arc::new(Semaphore::new(1)).try_acquire_owned().unwrap();
        vec![Submission { writes, reply: oneshot::channel().0, room, queued: Stopwatch::start() }]
    }

    #[tokio::test]
    async fn group_is_committed_when_its_event_is_stored() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), Limits::default(), [7; 32]).unwrap();
        store.commit(vec![write(&Scope::default(), "a", 1)]).await.unwrap();
        drop(store);
        let file = rusqlite::Connection::open(folder.path().join("uptake.db")).unwrap();
        let mut connection = Connection::Sqlite(file);
        let stored = |position| Outcome::Stored(Position(position));
        let rows = [
            (&["a"][..], vec![stored(1)], true),
            (&["b"], vec![stored(1)], false), // another event has its position
            (&["a"], vec![stored(2)], false),
            (&["x", "a"], vec![Outcome::Unchanged, stored(1)], true),
            (&["x", "b"], vec![Outcome::Unchanged, stored(2)], false),
            (&["x"], vec![Outcome::Unchanged], true),
            (&["x"], vec![Outcome::SetAside], false),
        ];
        for (ids, outcomes, expected) in rows {
            let answers = [outcomes];
            let found = verify_commit(&mut connection, &group(ids), &answers).unwrap();
            assert_eq!(found, expected, "{ids:?}: {answers:?}");
        }
    }
}
