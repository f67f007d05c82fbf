//! The index of words that were said. The databases keep it by themselves (`event_words` in SQLite, an index of
//! `events` in Postgres); here is what SQLite has to be told.

use sql::Connection;

use crate::error::StoreError;

/// Puts in what waits to be put in with others.
const REST: &str = "
    INSERT INTO event_words (rowid, said) SELECT position, said FROM event_unread;
    UPDATE event_words_upto SET position = (SELECT coalesce(max(position), 0) FROM events);";

/// Puts in what is not in the index yet.
pub(crate) fn catch_up(connection: &mut Connection) -> Result<(), StoreError> {
    let transaction = connection.transaction()?;
    transaction.execute_batch(REST)?;
    Ok(transaction.commit()?)
}

/// Makes the index again from the events there are.
pub(crate) fn rebuild_word_index(connection: &Connection) -> sql::Result<()> {
    if connection.sqlite().is_none() {
        return Ok(());
    }
    let empty = "INSERT INTO event_words (event_words) VALUES ('delete-all');
        UPDATE event_words_upto SET position = 0;";
    connection.execute_batch(empty)?;
    connection.execute_batch(REST)
}
