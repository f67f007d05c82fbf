//! Events by id, page and position.

use model::{ClaimSpace, EventId, Kind, Position, Scope, Source, Timestamp, Type};
use sql::Connection;

use crate::error::{StoreError, Task};
use crate::event_rows::{
    MAX_PAGE_BYTES, SELECT, StoredEvent, event_at, newest_position, read_event, read_scope,
    read_tail, select_all_scopes, text,
};
use crate::row_keys::{Key, PackedId, find_project};
use crate::store::Store;

/// A page of one scope's log.
#[derive(Clone, Debug)]
pub struct EventPage {
    pub scope: Scope,
    /// Only events after this position.
    pub after: Position,
    pub limit: usize,
    /// Only events of one of these kinds; all when empty.
    pub any_of: Vec<KindFilter>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KindFilter {
    /// All types when empty.
    pub types: Vec<Type>,
    pub source: Option<Source>,
}

impl KindFilter {
    pub fn holds(&self, kind: Kind) -> bool {
        (self.types.is_empty() || self.types.contains(&kind.event_type))
            && self.source.is_none_or(|source| source == kind.source)
    }
}

impl Store {
    pub fn event(&self, scope: &Scope, id: &EventId) -> Task<'_, Option<StoredEvent>> {
        let (scope, id) = (scope.clone(), id.clone());
        self.pool.run_short(move |connection| {
            let Some(project) = find_project(connection, &scope)? else { return Ok(None) };
            let Some(position) = find_event(connection, project, &id)? else { return Ok(None) };
            event_at(connection, &scope, position)
        })
    }

    /// The matching events of a page, in log order. Fewer than the limit when they are large.
    pub fn events(&self, page: EventPage) -> Task<'_, Vec<StoredEvent>> {
        // A follower of the log reads the few newest events.
        let behind = self.head().0.saturating_sub(page.after.0);
        let most = usize::try_from(behind).unwrap_or(usize::MAX).min(page.limit);
        self.pool.run_some(most, move |connection| {
            let EventPage { scope, after, limit, any_of } = &page;
            let kinds: Vec<String> = any_of.iter().map(condition).collect();
            let by_kind = match kinds.as_slice() {
                [] => String::new(),
                some => format!("AND ({})", some.join(" OR ")),
            };
            let wanted = format!("position > ?2 {by_kind}");
            read_page(connection, scope, &wanted, "", (after.0 as i64, *limit))
        })
    }

    /// The newest matching events of a scope before a position, newest first. Fewer than the limit
    /// when they are large.
    pub fn newest_events(
        &self,
        scope: &Scope,
        kind: KindFilter,
        before: Position,
        limit: usize,
    ) -> Task<'_, Vec<StoredEvent>> {
        let scope = scope.clone();
        self.pool.run(move |connection| {
            let wanted = format!("position < ?2 AND {}", condition(&kind));
            let before = i64::try_from(before.0).unwrap_or(i64::MAX);
            read_page(connection, &scope, &wanted, " DESC", (before, limit))
        })
    }

    /// Events of every scope after a position, in log order.
    pub fn tail(&self, after: Position, limit: usize) -> Task<'_, Vec<StoredEvent>> {
        self.pool.run(move |connection| read_tail(connection, after, limit))
    }

    /// The events at some positions, in log order. Missing ones are skipped.
    pub fn events_at(&self, positions: Vec<Position>) -> Task<'_, Vec<StoredEvent>> {
        self.pool.run_some(positions.len(), move |connection| {
            if positions.is_empty() {
                return Ok(Vec::new());
            }
            // The numbers are positions, not input.
            let numbers: Vec<String> = positions.iter().map(Position::to_string).collect();
            let sql = format!(
                "{} WHERE e.position IN ({}) ORDER BY e.position",
                select_all_scopes(),
                numbers.join(",")
            );
            connection.prepare(&sql)?.read_rows_with((), |row| read_event(row, &read_scope(row)?))
        })
    }

    /// Questions received since a time, of every scope, and rules about users among them, in log
    /// order. Examines at most `newest` of the newest events.
    pub fn recent_questions(&self, since: Timestamp, newest: u64) -> Task<'_, Vec<StoredEvent>> {
        self.pool.run(move |connection| {
            let after = newest_position(connection)?.0.saturating_sub(newest);
            let sql = format!(
                "{} WHERE e.position > ?1 AND e.received_at >= ?2 AND e.ts >= ?2
                     AND (e.source = ?3 OR (e.source = ?4 AND e.type = ?5 AND e.user IS NOT NULL))
                     AND (e.source <> ?3 OR t.opened = e.position)
                 ORDER BY e.position",
                select_all_scopes()
            );
            let (asked, ours) = (Source::Turn.code(), Source::Engine.code());
            let values = (after as i64, since.as_micros(), asked, ours, Type::Log.code());
            connection.read_rows_with(&sql, values, |row| read_event(row, &read_scope(row)?))
        })
    }
}

/// The position of an event that is in the log.
fn find_event(
    connection: &Connection,
    project: Key,
    id: &EventId,
) -> Result<Option<i64>, StoreError> {
    if let Some(position) = find_claim(connection, project, id)? {
        return Ok(Some(position));
    }
    // A further event of a write is found by the claim of the first.
    let Some((first, number)) = id.first_of_write() else { return Ok(None) };
    let Some(start) = find_claim(connection, project, &first)? else { return Ok(None) };
    let position = start + i64::from(number);
    let select = "SELECT 1 FROM events WHERE position = ?1 AND project = ?2 AND id = ?3";
    let is_there = connection.exists(select, (position, project, PackedId::pack(id.as_str())))?;
    Ok(is_there.then_some(position))
}

fn find_claim(connection: &Connection, project: Key, id: &EventId) -> sql::Result<Option<i64>> {
    connection.find_row(
        "SELECT position FROM claims WHERE project = ?1 AND space = ?2 AND id = ?3",
        (project, ClaimSpace::Event.code(), PackedId::pack(id.as_str())),
    )
}

/// The numbers come from our enums, not from a request.
fn condition(kind: &KindFilter) -> String {
    let types: Vec<String> = kind.types.iter().map(|kind| kind.code().to_string()).collect();
    let by_type = match types.as_slice() {
        [] => "TRUE".to_owned(),
        some => format!("type IN ({})", some.join(",")),
    };
    let by_source = match kind.source {
        None => "TRUE".to_owned(),
        Some(source) => format!("source = {}", source.code()),
    };
    format!("{by_type} AND {by_source}")
}

/// Events of a scope that are `wanted` from a position on, until the page is large.
fn read_page(
    connection: &Connection,
    scope: &Scope,
    wanted: &str,
    order: &str,
    (from, limit): (i64, usize),
) -> Result<Vec<StoredEvent>, StoreError> {
    let Some(project) = find_project(connection, scope)? else { return Ok(Vec::new()) };
    let sql = format!(
        "{SELECT} WHERE e.position IN (
            SELECT position FROM events INDEXED BY events_by_project
            WHERE project = ?1 AND {wanted}
            ORDER BY position{order} LIMIT ?3)
         ORDER BY e.position{order}"
    );
    let mut select = connection.prepare_cached(&sql)?;
    let mut rows = select.query((project, from, limit as i64))?;
    let (mut found, mut bytes) = (Vec::new(), 0);
    while bytes < MAX_PAGE_BYTES
        && let Some(row) = &rows.next()?
    {
        bytes += text(row, 12)?.len();
        found.push(read_event(row, scope)?);
    }
    Ok(found)
}
