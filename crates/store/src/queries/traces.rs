//! Traces that wait to be assembled into turns, with their spans.

use model::{Position, Scope, Source, Timestamp, TurnId, Type};
use sql::{Connection, Row};

use crate::error::{StoreError, Task};
use crate::event_rows::{self, StoredEvent};
use crate::row_keys::{Key, read_project_scope};
use crate::store::Store;

/// Bytes of spans that are read of one trace, plus one event. Later spans stay in the log only.
const MAX_TRACE_BYTES: usize = 8 << 20;

/// A trace, with the events that hold its spans.
#[derive(Clone, Debug, PartialEq)]
pub struct PendingTrace {
    pub scope: Scope,
    /// The turn that is named after the trace.
    pub turn: TurnId,
    /// In log order. Empty when retention has dropped them.
    pub batches: Vec<StoredEvent>,
    /// The position up to which the spans were read.
    pub upto: Position,
}

/// The times before which an incomplete trace is not waited for any longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceDeadlines {
    /// Arrival of the newest spans.
    pub last_before: Timestamp,
    /// Arrival of the first spans.
    pub first_before: Timestamp,
}

struct PendingRow {
    turn: Key,
    project: Key,
    id: String,
    position: i64,
}

impl Store {
    /// Traces whose root arrived, oldest first, then traces past a deadline.
    pub fn due_traces(
        &self,
        deadlines: TraceDeadlines,
        limit: usize,
    ) -> Task<'_, Vec<PendingTrace>> {
        self.pool.run(move |connection| {
            let mut found = read_complete(connection, limit)?;
            if found.len() < limit {
                let left = limit - found.len();
                found.extend(read_overdue(connection, deadlines, left)?);
            }
            found.into_iter().map(|row| read_trace(connection, row)).collect()
        })
    }

    /// Number of traces that wait to be assembled.
    pub fn pending_traces(&self) -> Task<'_, u64> {
        self.pool.run(|connection| {
            let count: i64 = connection.read_row("SELECT count(*) FROM pending_traces", ())?;
            Ok(count as u64)
        })
    }
}

fn read_complete(connection: &Connection, limit: usize) -> Result<Vec<PendingRow>, StoreError> {
    connection.read_rows_with(
        "SELECT p.turn, p.project, t.id, p.position FROM (
             SELECT * FROM pending_traces WHERE has_root = 1 ORDER BY first_at LIMIT ?1) p
         JOIN turns t ON t.key = p.turn",
        [limit as i64],
        PendingRow::read,
    )
}

fn read_overdue(
    connection: &Connection,
    deadlines: TraceDeadlines,
    limit: usize,
) -> Result<Vec<PendingRow>, StoreError> {
    let TraceDeadlines { last_before, first_before } = deadlines;
    connection.read_rows_with(
        "SELECT p.turn, p.project, t.id, p.position FROM (
             SELECT * FROM pending_traces
             WHERE has_root = 0 AND (last_at < ?1 OR first_at < ?2)
             ORDER BY last_at LIMIT ?3) p
         JOIN turns t ON t.key = p.turn",
        (last_before.as_micros(), first_before.as_micros(), limit as i64),
        PendingRow::read,
    )
}

impl PendingRow {
    fn read(row: &Row<'_>) -> Result<Self, StoreError> {
        let (turn, project, id) = row.read()?;
        Ok(Self { turn, project, id, position: row.get(3)? })
    }
}

fn read_trace(connection: &Connection, row: PendingRow) -> Result<PendingTrace, StoreError> {
    let scope = read_project_scope(connection, row.project)?;
    let unreadable = |_| StoreError::Corrupt("a pending trace has an invalid id".into());
    let turn = TurnId::new(row.id).map_err(unreadable)?;
    let select = format!(
        "{} WHERE e.turn = ?1 AND e.type = ?2 AND e.source = ?3 ORDER BY e.position",
        event_rows::SELECT
    );
    let mut select = connection.prepare_cached(&select)?;
    let mut rows = select.query((row.turn, Type::Log.code(), Source::Trace.code()))?;
    let (mut batches, mut bytes) = (Vec::new(), 0);
    while bytes < MAX_TRACE_BYTES
        && let Some(row) = &rows.next()?
    {
        bytes += event_rows::text(row, 12)?.len();
        batches.push(event_rows::read_event(row, &scope)?);
    }
    let newest = batches.last().map_or(0, |stored| stored.position.0);
    Ok(PendingTrace { scope, turn, batches, upto: Position(newest.max(row.position as u64)) })
}
