//! Traces that wait to be assembled into turns.

use model::{Position, TraceChange};
use sql::Connection;

use super::Subject;
use crate::row_keys::Key;

pub(crate) fn apply(
    connection: &Connection,
    subject: &Subject,
    turn: Key,
    change: TraceChange,
) -> sql::Result<()> {
    match change {
        TraceChange::Receive { root } => receive(connection, subject, turn, root),
        TraceChange::Assemble { upto } => assemble(connection, turn, upto),
    }
}

fn receive(connection: &Connection, subject: &Subject, turn: Key, root: bool) -> sql::Result<()> {
    let at = subject.received_at.as_micros();
    connection.run(
        "INSERT INTO pending_traces (turn, project, first_at, last_at, position, has_root)
         VALUES (?1, ?2, ?3, ?3, ?4, ?5)
         ON CONFLICT (turn) DO UPDATE SET
             first_at = min(pending_traces.first_at, excluded.first_at),
             last_at = max(pending_traces.last_at, excluded.last_at),
             position = excluded.position,
             has_root = max(pending_traces.has_root, excluded.has_root)",
        (turn, subject.project, at, subject.row_position(), i64::from(root)),
    )
}

/// Spans that arrived since keep the trace pending.
fn assemble(connection: &Connection, turn: Key, upto: Position) -> sql::Result<()> {
    connection
        .run("DELETE FROM pending_traces WHERE turn = ?1 AND position <= ?2", (turn, upto.0 as i64))
}
