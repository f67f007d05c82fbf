//! Commits one group of writes in one transaction.

use std::panic::{AssertUnwindSafe, catch_unwind};

use model::{Outcome, Position};
use sql::Connection;

use crate::log::append::append;
use crate::log::dead_letters;
use crate::log::packed_write::PackedWrite;
#[cfg(feature = "scaled")]
use crate::log::prefetch;
use crate::log::queue::Submission;
use crate::log::writer_state::WriterState;

#[derive(Clone, Copy)]
pub(crate) enum Isolation {
    Group,
    PerWrite,
}

pub(crate) enum GroupOutcome {
    Done(Vec<Vec<Outcome>>),
    InDoubt(Vec<Vec<Outcome>>, sql::Error),
}

/// Writes the group. `join` adds writes that arrived while this node waited for other nodes.
pub(crate) fn attempt(
    connection: &mut Connection,
    cursor: &mut WriterState,
    group: &mut Vec<Submission>,
    #[cfg_attr(
        not(feature = "scaled"),
        expect(unused_variables, reason = "SQLite has one writer")
    )]
    join: impl FnOnce(&mut Vec<Submission>),
    isolation: Isolation,
) -> sql::Result<GroupOutcome> {
    let mut transaction = connection.transaction()?;
    #[cfg(feature = "scaled")]
    if let Some(session) = transaction.postgres() {
        if cursor.others_write() {
            // Waits for the lock on the log head. A sole writer skips this round trip.
            transaction.flush()?;
            join(group);
        }
        let writes = group.iter().flat_map(|submission| &submission.writes);
        cursor.head = prefetch::prefetch_group(&transaction, session, cursor, writes)?;
    }
    let mut answers = Vec::with_capacity(group.len());
    for submission in &*group {
        let mut outcomes = Vec::with_capacity(submission.writes.len());
        for write in &submission.writes {
            outcomes.push(match isolation {
                Isolation::Group => append(&transaction, cursor, write)?,
                Isolation::PerWrite => append_in_savepoint(&mut transaction, cursor, write)?,
            });
        }
        answers.push(outcomes);
    }
    store_head(&transaction, cursor.head)?;
    match transaction.commit() {
        Ok(()) => Ok(GroupOutcome::Done(answers)),
        Err(error) if connection.is_lost() => Ok(GroupOutcome::InDoubt(answers, error)),
        Err(error) => Err(error),
    }
}

/// Stores the newest position on Postgres, where several nodes write. The transaction locks it.
fn store_head(connection: &Connection, head: Position) -> sql::Result<()> {
    if connection.sqlite().is_some() {
        return Ok(());
    }
    #[cfg(feature = "scaled")]
    if let Some(session) = connection.postgres() {
        session.keys().wrote(head.0);
    }
    connection.run("UPDATE log_head SET position = ?1", [head.0 as i64])
}

fn append_in_savepoint(
    transaction: &mut sql::Transaction<'_>,
    cursor: &mut WriterState,
    write: &PackedWrite,
) -> sql::Result<Outcome> {
    let before = cursor.head;
    let savepoint = transaction.savepoint()?;
    // Pending statements must succeed before the savepoint is released.
    let work = AssertUnwindSafe(|| {
        let outcome = append(&savepoint, cursor, write)?;
        savepoint.flush().map(|()| outcome)
    });
    match catch_unwind(work).unwrap_or(Err(sql::Error::Panicked)) {
        Ok(outcome) => savepoint.commit().map(|()| outcome),
        Err(error) if error.is_unavailable() => Err(error),
        Err(error) => {
            tracing::error!(%error, "a write could not be stored");
            savepoint.finish()?; // rolls back, since it was not committed
            cursor.head = before;
            cursor.forget();
            set_aside(transaction, cursor, write, &error)
        }
    }
}

/// Stores a failed write as a dead letter.
fn set_aside(
    transaction: &mut sql::Transaction<'_>,
    cursor: &mut WriterState,
    write: &PackedWrite,
    error: &sql::Error,
) -> sql::Result<Outcome> {
    let Some(event) = write.first() else { return Ok(Outcome::Failed) };
    let project = cursor.projects.resolve_key(transaction, &event.scope)?;
    let reason = error.to_string();
    // In a savepoint: on Postgres a failed statement aborts the whole transaction.
    let savepoint = transaction.savepoint()?;
    match dead_letters::insert(&savepoint, project, event, &reason, &write.to_dead_letter()) {
        Ok(()) => savepoint.commit().map(|()| Outcome::SetAside),
        Err(error) if error.is_unavailable() => Err(error),
        Err(error) => {
            tracing::error!(%error, "a failed write could not be stored as a dead letter");
            savepoint.finish()?; // rolls back, since it was not committed
            Ok(Outcome::Failed)
        }
    }
}
