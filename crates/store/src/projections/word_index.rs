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

/// Rebuilds the index from all events.
pub(crate) fn rebuild_word_index(connection: &Connection) -> sql::Result<()> {
    if connection.sqlite().is_none() {
        return Ok(());
    }
    let empty = "INSERT INTO event_words (event_words) VALUES ('delete-all');
        UPDATE event_words_upto SET position = 0;";
    connection.execute_batch(empty)?;
    connection.execute_batch(REST)
}
