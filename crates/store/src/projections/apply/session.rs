//! Sessions: stretches of a conversation between silences.

use model::Timestamp;
use sql::Connection;

use super::{Subject, turn};
use crate::row_keys::Key;

pub(crate) fn open(connection: &Connection, subject: &Subject, turn: Key) -> sql::Result<()> {
    let Some(conversation) = subject.conversation else { return Ok(()) };
    connection.run(
        "INSERT INTO open_sessions (conversation, project, started_ts, last_ts, last_turn, turns)
         VALUES (?1, ?2, ?3, ?3, ?4, 1)
         ON CONFLICT (conversation) DO UPDATE SET
             started_ts = min(open_sessions.started_ts, excluded.started_ts),
             last_turn = CASE WHEN excluded.last_ts >= open_sessions.last_ts
                 THEN excluded.last_turn ELSE open_sessions.last_turn END,
             last_ts = max(open_sessions.last_ts, excluded.last_ts),
             turns = open_sessions.turns + 1",
        (conversation, subject.project, subject.ts.as_micros(), turn),
    )
}

/// An answer counts as activity.
pub(crate) fn record_answer(
    connection: &Connection,
    subject: &Subject,
    turn: Key,
) -> sql::Result<()> {
    if let Some(row) = connection.recall::<turn::Row>(turn) {
        return connection.run(
            "UPDATE open_sessions SET last_ts = max(last_ts, ?2) WHERE conversation = ?1",
            (row.conversation, subject.ts.as_micros()),
        );
    }
    connection.run(
        "UPDATE open_sessions SET last_ts = max(last_ts, ?2)
         WHERE conversation = (SELECT conversation FROM turns WHERE key = ?1)",
        (turn, subject.ts.as_micros()),
    )
}

/// Ends the session after this turn, unless there was activity since.
pub(crate) fn end(
    connection: &Connection,
    subject: &Subject,
    turn: Key,
    last_at: Timestamp,
) -> sql::Result<()> {
    connection.run("UPDATE turn_index SET silent = 1 WHERE turn = ?1", [turn])?;
    connection.run(
        "DELETE FROM open_sessions WHERE conversation = ?1 AND last_ts <= ?2",
        (subject.conversation, last_at.as_micros()),
    )
}

/// The last turn of the open session in the event's conversation. Without an open session, the
/// newest turn: quoted turns open none, and the session may have ended before the report.
pub(crate) fn last_turn(connection: &Connection, subject: &Subject) -> sql::Result<Option<Key>> {
    let conversation = subject.conversation;
    let open = connection
        .find_row("SELECT last_turn FROM open_sessions WHERE conversation = ?1", [conversation])?;
    if open.is_some() {
        return Ok(open);
    }
    connection.find_row(
        "SELECT key FROM turns WHERE conversation = ?1 AND opened IS NOT NULL
         ORDER BY ts DESC, opened DESC LIMIT 1",
        [conversation],
    )
}

/// Ends the open session whose last turn this is.
pub(crate) fn leave(connection: &Connection, turn: Key) -> sql::Result<()> {
    connection.run("UPDATE turn_index SET silent = 1 WHERE turn = ?1", [turn])?;
    connection.run(
        "DELETE FROM open_sessions WHERE last_turn = ?1
             AND conversation = (SELECT conversation FROM turns WHERE key = ?1)",
        [turn],
    )
}
