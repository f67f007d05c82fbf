//! A commit that was not confirmed: the connection broke before it was heard whether it came to pass.

use event::{Outcome, Position};

use super::super::prepared::Prepared;
use super::Submission;
use crate::sql::{self, Connection};

/// Whether a group is committed that was answered so. What holds the log is waited for, and that may be the
/// very commit in question.
pub(super) fn came_to_pass(
    connection: &mut Connection,
    group: &[Submission],
    answers: &[Vec<Outcome>],
) -> sql::Result<bool> {
    let Some((position, write)) = witness(group, answers) else {
        // A group that stored nothing has nothing to lose, but for what it set aside: that is sent again.
        let is_set_aside = |outcome: &Outcome| matches!(outcome, Outcome::SetAside);
        return Ok(!answers.iter().flatten().any(is_set_aside));
    };
    let transaction = connection.transaction()?;
    let mut select =
        transaction.prepare_cached("SELECT 1 FROM events WHERE position = ?1 AND id = ?2")?;
    select.exists((position.0 as i64, write.event_id()))
}

/// An event of a group that is in the log if the group is.
fn witness<'g>(
    group: &'g [Submission],
    answers: &[Vec<Outcome>],
) -> Option<(Position, &'g Prepared)> {
    let writes = group.iter().flat_map(|submission| &submission.writes);
    writes.zip(answers.iter().flatten()).find_map(|(write, outcome)| match outcome {
        Outcome::Stored(position) => Some((*position, write)),
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
    use super::*;

    #[test]
    fn a_group_that_stored_nothing_is_done_unless_it_set_something_aside() {
        let mut connection = Connection::Sqlite(rusqlite::Connection::open_in_memory().unwrap());
        for (answers, expected) in [
            (vec![Outcome::Unchanged, Outcome::Failed], true),
            (vec![Outcome::Unchanged, Outcome::SetAside], false),
        ] {
            assert_eq!(came_to_pass(&mut connection, &[], &[answers]).unwrap(), expected);
        }
    }
}
