//! Events by id, page and position.

use model::{EventId, Kind, Position, Scope, Source, Timestamp, Type};
use sql::{Connection, OptionalExtension};

use crate::error::{StoreError, Task};
use crate::event_rows::{
    MAX_PAGE_BYTES, SELECT, StoredEvent, newest_position, read_event, read_scope, read_tail,
    select_all_scopes, text,
};
use crate::row_keys::{PackedId, find_project};
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
        self.pool.run_short(move |connection| self::by_id(connection, &scope, &id))
    }

    /// The matching events of a page, in log order. Fewer than the limit when they are large.
    pub fn events(&self, page: EventPage) -> Task<'_, Vec<StoredEvent>> {
        // A follower of the log reads the few newest events.
        let behind = self.head().0.saturating_sub(page.after.0);
        let most = usize::try_from(behind).unwrap_or(usize::MAX).min(page.limit);
        self.pool.run_some(most, move |connection| self::page(connection, &page))
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
        self.pool.run(move |connection| newest_of_kind(connection, &scope, &kind, before, limit))
    }

    /// Events of every scope after a position, in log order.
    pub fn tail(&self, after: Position, limit: usize) -> Task<'_, Vec<StoredEvent>> {
        self.pool.run(move |connection| read_tail(connection, after, limit))
    }

    /// The events at some positions, in log order. Missing ones are skipped.
    pub fn events_at(&self, positions: Vec<Position>) -> Task<'_, Vec<StoredEvent>> {
        self.pool.run_some(positions.len(), move |connection| at_each(connection, &positions))
    }

    /// Questions received since a time, of every scope, and rules about users among them, in log
    /// order. Examines at most `newest` of the newest events.
    pub fn recent_questions(&self, since: Timestamp, newest: u64) -> Task<'_, Vec<StoredEvent>> {
        self.pool.run(move |connection| self::recent_questions(connection, since, newest))
    }
}

pub(crate) fn by_id(
    connection: &Connection,
    scope: &Scope,
    id: &EventId,
) -> Result<Option<StoredEvent>, StoreError> {
    let Some(project) = find_project(connection, scope)? else { return Ok(None) };
    let space = model::ClaimSpace::Event.code();
    let sql = format!(
        "{SELECT} WHERE e.position =
            (SELECT position FROM claims WHERE project = ?1 AND space = ?2 AND id = ?3)"
    );
    let found = connection
        .prepare_cached(&sql)?
        .query_row((project, space, PackedId::pack(id.as_str())), |row| Ok(read_event(row, scope)))
        .optional()?;
    found.transpose()
}

pub(crate) fn at_each(
    connection: &Connection,
    positions: &[Position],
) -> Result<Vec<StoredEvent>, StoreError> {
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
    let mut select = connection.prepare(&sql)?;
    let mut rows = select.query(())?;
    let mut found = Vec::with_capacity(positions.len());
    while let Some(row) = &rows.next()? {
        found.push(read_event(row, &read_scope(row)?)?);
    }
    Ok(found)
}

pub(crate) fn recent_questions(
    connection: &Connection,
    since: Timestamp,
    newest_events: u64,
) -> Result<Vec<StoredEvent>, StoreError> {
    let after = newest_position(connection)?.0.saturating_sub(newest_events);
    let sql = format!(
        "{} WHERE e.position > ?1 AND e.received_at >= ?2 AND e.ts >= ?2
             AND (e.source = ?3 OR (e.source = ?4 AND e.type = ?5 AND e.user IS NOT NULL))
             AND (e.source <> ?3 OR t.opened = e.position)
         ORDER BY e.position",
        select_all_scopes()
    );
    let mut select = connection.prepare_cached(&sql)?;
    let (asked, ours, rule) = (Source::Turn.code(), Source::Engine.code(), Type::Log.code());
    let mut rows = select.query((after as i64, since.as_micros(), asked, ours, rule))?;
    let mut found = Vec::new();
    while let Some(row) = &rows.next()? {
        found.push(read_event(row, &read_scope(row)?)?);
    }
    Ok(found)
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

pub(crate) fn page(
    connection: &Connection,
    page: &EventPage,
) -> Result<Vec<StoredEvent>, StoreError> {
    let Some(project) = find_project(connection, &page.scope)? else { return Ok(Vec::new()) };
    let kinds: Vec<String> = page.any_of.iter().map(condition).collect();
    let by_kind = match kinds.as_slice() {
        [] => String::new(),
        some => format!("AND ({})", some.join(" OR ")),
    };
    let sql = format!(
        "{SELECT} WHERE e.position IN (
            SELECT position FROM events INDEXED BY events_by_project
            WHERE project = ?1 AND position > ?2 {by_kind}
            ORDER BY position LIMIT ?3)
         ORDER BY e.position"
    );
    let mut select = connection.prepare_cached(&sql)?;
    let mut rows = select.query((project, page.after.0 as i64, page.limit as i64))?;
    let (mut found, mut bytes) = (Vec::new(), 0);
    while bytes < MAX_PAGE_BYTES
        && let Some(row) = &rows.next()?
    {
        bytes += text(row, 12)?.len();
        found.push(read_event(row, &page.scope)?);
    }
    Ok(found)
}

fn newest_of_kind(
    connection: &Connection,
    scope: &Scope,
    kind: &KindFilter,
    before: Position,
    limit: usize,
) -> Result<Vec<StoredEvent>, StoreError> {
    let Some(project) = find_project(connection, scope)? else { return Ok(Vec::new()) };
    let by_kind = condition(kind);
    let sql = format!(
        "{SELECT} WHERE e.position IN (
            SELECT position FROM events INDEXED BY events_by_project
            WHERE project = ?1 AND position < ?2 AND {by_kind}
            ORDER BY position DESC LIMIT ?3)
         ORDER BY e.position DESC"
    );
    let before = i64::try_from(before.0).unwrap_or(i64::MAX);
    let mut select = connection.prepare_cached(&sql)?;
    let mut rows = select.query((project, before, limit as i64))?;
    let (mut found, mut bytes) = (Vec::new(), 0);
    while bytes < MAX_PAGE_BYTES
        && let Some(row) = &rows.next()?
    {
        bytes += text(row, 12)?.len();
        found.push(read_event(row, scope)?);
    }
    Ok(found)
}
