//! The full-text index of messages. Triggers maintain `event_words` in SQLite, and an index of
//! `events` does in Postgres. This file covers what SQLite needs beside its triggers.

use sql::Connection;

use crate::error::StoreError;

/// Indexes the queued messages.
const REST: &str = "
    INSERT INTO event_words (rowid, said) SELECT position, said FROM event_unread;
    UPDATE event_words_upto SET position = (SELECT coalesce(max(position), 0) FROM events);";

/// Indexes messages that are not in the index yet.
pub(crate) fn catch_up(connection: &mut Connection) -> Result<(), StoreError> {
    let transaction = connection.transaction()?;
    transaction.execute_batch(REST)?;
    Ok(transaction.commit()?)
}

/// Messages are indexed in batches of this many events.
const BATCH_EVENTS: i64 = 5_000;

/// Empties the index. A search indexes all messages, if [`index_batch`] has not before.
pub(crate) fn clear(connection: &Connection) -> sql::Result<()> {
    if connection.sqlite().is_none() {
        return Ok(());
    }
    let empty = "INSERT INTO event_words (event_words) VALUES ('delete-all');
        UPDATE event_words_upto SET position = 0;";
    connection.execute_batch(&format!("BEGIN; {empty} COMMIT;"))
}

/// Indexes the next messages. Returns true when more are left.
pub(crate) fn index_batch(connection: &mut Connection) -> Result<bool, StoreError> {
    if connection.sqlite().is_none() {
        return Ok(false);
    }
    let transaction = connection.transaction()?;
    let last: Option<i64> = transaction.query_row(
        "SELECT max(position) FROM (
             SELECT position FROM events
             WHERE position > (SELECT position FROM event_words_upto)
             ORDER BY position LIMIT ?1)",
        [BATCH_EVENTS],
        |row| row.get(0),
    )?;
    let Some(last) = last else { return Ok(false) };
    transaction.execute(
        "INSERT INTO event_words (rowid, said)
         SELECT position, said FROM event_unread WHERE position <= ?1",
        [last],
    )?;
    transaction.execute("UPDATE event_words_upto SET position = ?1", [last])?;
    transaction.commit()?;
    Ok(true)
}
