//! Turns: opened once, completed once.

use sql::{CachedFact, Connection, RowBatch};

use super::Subject;
use crate::row_keys::Key;

/// Labels copied onto a turn's reactions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Labels<'a> {
    pub(crate) track: Option<&'a str>,
    pub(crate) bundle: Option<&'a str>,
    pub(crate) user_type: Option<&'a str>,
}

/// Fills in the turn's row.
pub(crate) fn open(
    connection: &Connection,
    subject: &Subject,
    turn: Key,
    labels: Labels<'_>,
) -> sql::Result<()> {
    let Subject { conversation, user, .. } = *subject;
    let Labels { track, bundle, user_type } = labels;
    let (ts, opened) = (subject.ts.as_micros(), subject.row_position());
    let mut update = connection.prepare_cached(
        "UPDATE turns SET conversation = ?2, user = ?3, ts = ?4, opened = ?5, track = ?6,
             bundle = ?7, user_type = ?8
         WHERE key = ?1",
    )?;
    let values = (turn, conversation, user, ts, opened, track, bundle, user_type);
    match connection.recall::<Row>(turn) {
        Some(row) if !row.opened => update.add(RowBatch::First(MANY_OPENED), values)?,
        Some(_) | None => update.run(values)?,
    }
    connection.remember(turn, || Row { conversation, user, opened: true });
    Ok(())
}

/// Stores the position of the answer.
pub(crate) fn complete(connection: &Connection, subject: &Subject, turn: Key) -> sql::Result<()> {
    connection.add_row(
        "UPDATE turns SET completed = ?2 WHERE key = ?1",
        RowBatch::Each(MANY_COMPLETED),
        (turn, subject.row_position()),
    )
}

const MANY_OPENED: &str = "
    UPDATE turns SET conversation = given.conversation, user = given.user, ts = given.ts,
        opened = given.opened, track = given.track, bundle = given.bundle, user_type = given.user_type
    FROM unnest($1::BIGINT[], $2::BIGINT[], $3::BIGINT[], $4::BIGINT[], $5::BIGINT[], $6::TEXT[], $7::TEXT[],
        $8::TEXT[]) AS given (key, conversation, user, ts, opened, track, bundle, user_type)
    WHERE turns.key = given.key";
const MANY_COMPLETED: &str = "
    UPDATE turns SET completed = given.completed
    FROM (SELECT key, max(completed) AS completed FROM unnest($1::BIGINT[], $2::BIGINT[]) AS one (key, completed)
          GROUP BY key) given
    WHERE turns.key = given.key";

/// A turn's row, as far as other rows depend on it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Row {
    pub(crate) conversation: Option<Key>,
    /// `None` after erasure.
    pub(crate) user: Option<Key>,
    pub(crate) opened: bool,
}

impl CachedFact for Row {
    const TABLE: &'static str = "turns";

    fn for_new_row() -> Option<Self> {
        Some(Self::default())
    }
}

/// Reads the turn's row. An event from before an erasure is not attributed to the erased user.
pub(crate) fn row(connection: &Connection, subject: &Subject, turn: Key) -> sql::Result<Row> {
    if let Some(row) = connection.recall(turn) {
        return Ok(row);
    }
    let (conversation, user, opened) = connection.read_row(
        "SELECT t.conversation, u.key, t.opened IS NOT NULL
         FROM turns t LEFT JOIN users u ON u.key = t.user AND (u.erased IS NULL OR u.erased > ?2)
         WHERE t.key = ?1",
        (turn, subject.row_position()),
    )?;
    Ok(Row { conversation, user, opened })
}
