//! Traces that wait to be assembled into turns, with their spans.

use model::{Position, Scope, Source, Timestamp, TurnId, Type};
use sql::{Connection, Row};

use crate::error::{StoreError, Task};
use crate::event_rows::{self, StoredEvent, newest_position};
use crate::row_keys::{Key, read_project_scope};
use crate::store::Store;

/// Bytes of spans that are read of one trace, plus one page. Later spans stay in the log only.
const MAX_TRACE_BYTES: usize = 8 << 20;
/// Bytes of spans that are read of all traces, plus one trace. Later traces wait.
const MAX_READ_BYTES: usize = 32 << 20;
/// Events that are read at a time. One may hold the spans of a whole request.
const PAGE_EVENTS: i64 = 4;

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
    /// The head of the log when they were read.
    pub read_at: Position,
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
    /// Traces whose root arrived, oldest first, then traces past a deadline. Fewer than the limit
    /// when they are large.
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
            let read_at = newest_position(connection)?;
            let (mut traces, mut bytes) = (Vec::with_capacity(found.len()), 0);
            for row in found {
                if bytes > MAX_READ_BYTES {
                    break;
                }
                let (trace, size) = read_trace(connection, row, read_at)?;
                bytes += size;
                traces.push(trace);
            }
            Ok(traces)
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

/// Reads a trace. Returns it with the size of its spans in bytes.
fn read_trace(
    connection: &Connection,
    row: PendingRow,
    read_at: Position,
) -> Result<(PendingTrace, usize), StoreError> {
    let scope = read_project_scope(connection, row.project)?;
    let unreadable = |_| StoreError::Corrupt("a pending trace has an invalid id".into());
    let turn = TurnId::new(row.id).map_err(unreadable)?;
    let select = format!(
        "{} WHERE e.turn = ?1 AND e.type = ?2 AND e.source = ?3 AND e.position > ?4
         ORDER BY e.position LIMIT ?5",
        event_rows::SELECT
    );
    let (mut batches, mut bytes, mut newest) = (Vec::<StoredEvent>::new(), 0, 0);
    loop {
        let values = (row.turn, Type::Log.code(), Source::Trace.code(), newest, PAGE_EVENTS);
        let page = connection.read_rows_with(&select, values, |row| {
            let size = event_rows::text(row, 12)?.len();
            Ok::<_, StoreError>((event_rows::read_event(row, &scope)?, size))
        })?;
        let is_last = page.len() < PAGE_EVENTS as usize;
        bytes += page.iter().map(|(_, size)| size).sum::<usize>();
        batches.extend(page.into_iter().map(|(event, _)| event));
        newest = batches.last().map_or(0, |stored| stored.position.0 as i64);
        if is_last || bytes >= MAX_TRACE_BYTES {
            break;
        }
    }
    let upto = Position(newest.max(row.position) as u64);
    Ok((PendingTrace { scope, turn, batches, upto, read_at }, bytes))
}
