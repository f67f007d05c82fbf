//! Sessions: stretches of a conversation between silences.

use model::Timestamp;
use sql::{CachedFact, Connection, RowBatch, RowPart};

use super::{Subject, index, turn};
use crate::row_keys::Key;

const SILENCE: &str = "UPDATE turn_index SET silent = 1 WHERE turn = ?1";

/// Cached session of a conversation.
#[derive(Clone, Debug)]
pub(crate) struct Known(pub(in super::super) Option<Row>);

/// A row of `open_sessions`.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) started: i64,
    pub(crate) last: i64,
    pub(crate) last_turn: Key,
    pub(crate) turns: i64,
}

impl CachedFact for Known {
    const TABLE: &'static str = "conversations";

    fn for_new_row() -> Option<Self> {
        Some(Self(None))
    }
}

pub(crate) fn open(connection: &Connection, subject: &Subject, turn: Key) -> sql::Result<()> {
    let Some(conversation) = subject.conversation else { return Ok(()) };
    let ts = subject.ts.as_micros();
    if let Some(Known(known)) = connection.recall(conversation) {
        let is_new = known.is_none();
        let row = match known {
            None => Row { started: ts, last: ts, last_turn: turn, turns: 1 },
            Some(row) => Row {
                started: row.started.min(ts),
                last: row.last.max(ts),
                last_turn: if ts >= row.last { turn } else { row.last_turn },
                turns: row.turns + 1,
            },
        };
        return write(connection, (conversation, subject.project), is_new, row);
    }
    connection.run(
        "INSERT INTO open_sessions (conversation, project, started_ts, last_ts, last_turn, turns)
         VALUES (?1, ?2, ?3, ?3, ?4, 1)
         ON CONFLICT (conversation) DO UPDATE SET
             started_ts = min(open_sessions.started_ts, excluded.started_ts),
             last_turn = CASE WHEN excluded.last_ts >= open_sessions.last_ts
                 THEN excluded.last_turn ELSE open_sessions.last_turn END,
             last_ts = max(open_sessions.last_ts, excluded.last_ts),
             turns = open_sessions.turns + 1",
        (conversation, subject.project, ts, turn),
    )
}

/// Writes a session whose earlier state is known.
fn write(
    connection: &Connection,
    (conversation, project): (Key, Key),
    is_new: bool,
    row: Row,
) -> sql::Result<()> {
    let columns = &["conversation", "project", "started_ts", "last_ts", "last_turn", "turns"];
    connection.add_row(
        "INSERT INTO open_sessions (conversation, project, started_ts, last_ts, last_turn, turns)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        RowBatch::Part(RowPart { table: "open_sessions", is_new, columns }),
        (conversation, project, row.started, row.last, row.last_turn, row.turns),
    )?;
    connection.remember(conversation, || Known(Some(row)));
    Ok(())
}

/// An answer counts as activity.
pub(crate) fn record_answer(
    connection: &Connection,
    subject: &Subject,
    turn: Key,
) -> sql::Result<()> {
    let ts = subject.ts.as_micros();
    let Some(turn::Row { conversation, .. }) = connection.recall(turn) else {
        return connection.run(
            "UPDATE open_sessions SET last_ts = max(last_ts, ?2)
             WHERE conversation = (SELECT conversation FROM turns WHERE key = ?1)",
            (turn, ts),
        );
    };
    let Some(conversation) = conversation else { return Ok(()) };
    match connection.recall(conversation) {
        Some(Known(None)) => Ok(()),
        Some(Known(Some(row))) if ts <= row.last => Ok(()),
        Some(Known(Some(row))) => {
            write(connection, (conversation, subject.project), false, Row { last: ts, ..row })
        }
        None => connection.run(
            "UPDATE open_sessions SET last_ts = max(last_ts, ?2) WHERE conversation = ?1",
            (conversation, ts),
        ),
    }
}

/// Ends the session after this turn, unless there was activity since.
pub(crate) fn end(
    connection: &Connection,
    subject: &Subject,
    turn: Key,
    last_at: Timestamp,
) -> sql::Result<()> {
    index::change_row(connection, turn, SILENCE, [turn])?;
    connection.run(
        "DELETE FROM open_sessions WHERE conversation = ?1 AND last_ts <= ?2",
        (subject.conversation, last_at.as_micros()),
    )?;
    forget(connection, subject.conversation);
    Ok(())
}

/// After a deletion. A session that is opened later must not be sent before it.
fn forget(connection: &Connection, conversation: Option<Key>) {
    connection.fence_pending();
    if let Some(conversation) = conversation {
        connection.unlearn::<Known>(conversation);
    }
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
    index::change_row(connection, turn, SILENCE, [turn])?;
    let conversation: Option<Option<Key>> =
        connection.find_row("SELECT conversation FROM turns WHERE key = ?1", [turn])?;
    let Some(conversation) = conversation.flatten() else { return Ok(()) };
    connection.run(
        "DELETE FROM open_sessions WHERE last_turn = ?1 AND conversation = ?2",
        (turn, conversation),
    )?;
    forget(connection, Some(conversation));
    Ok(())
}
