//! Reads events.

use model::{
    Category, ConversationId, Event, EventId, Kind, Position, Project, Scope, Severity, Source,
    Tenant, Timestamp, TurnId, Type, UserId,
};

use super::Store;
use super::keys::{Key, PackedId, find_project};
use crate::error::StoreError;
use crate::log::Task;
use crate::read::events::{EventPage, KindFilter, StoredEvent};
use sql::{Connection, OptionalExtension, Row};

impl Store {
    /// One event by its id.
    pub fn event(&self, scope: &Scope, id: &EventId) -> Task<'_, Option<StoredEvent>> {
        let (scope, id) = (scope.clone(), id.clone());
        self.pool.run_short(move |connection| self::by_id(connection, &scope, &id))
    }

    /// The matching events of a page, by position; fewer than asked for if they are large.
    pub fn events(&self, page: EventPage) -> Task<'_, Vec<StoredEvent>> {
        // Who follows the log asks for the few events that were just stored.
        let behind = self.head().0.saturating_sub(page.after.0);
        let most = usize::try_from(behind).unwrap_or(usize::MAX).min(page.limit);
        self.pool.run_some(most, move |connection| self::page(connection, &page))
    }

    /// The newest matching events of a scope before a position, the newest first; fewer than asked for if they
    /// are large.
    pub fn newest_events(
        &self,
        scope: &Scope,
        kind: KindFilter,
        before: Position,
        limit: usize,
    ) -> Task<'_, Vec<StoredEvent>> {
        let scope = scope.clone();
        self.pool.run(move |connection| newest_of(connection, &scope, &kind, before, limit))
    }

    /// The log of every scope behind a position, in order: for those who read along.
    pub fn tail(&self, after: Position, limit: usize) -> Task<'_, Vec<StoredEvent>> {
        self.pool.run(move |connection| self::tail(connection, after, limit))
    }

    /// The events at some positions, of whatever scope, in order. What is gone is left out.
    pub fn events_at(&self, positions: Vec<Position>) -> Task<'_, Vec<StoredEvent>> {
        self.pool.run_some(positions.len(), move |connection| at_each(connection, &positions))
    }

    /// Questions that were asked and came in since a moment, of every scope, and what was set about users
    /// meanwhile, in order. Looks at so many of the newest events at the most.
    pub fn recent_questions(&self, since: Timestamp, newest: u64) -> Task<'_, Vec<StoredEvent>> {
        self.pool.run(move |connection| self::recent_questions(connection, since, newest))
    }
}

/// Data that one stretch brings at the most (and one event more): many large events at once are
/// more than a reader wants to hold.
const MOST_BYTES: usize = 4 << 20;

// Everything but the ids of user, conversation and turn is in the event's own row.
pub(super) const SELECT: &str =
    "SELECT e.position, e.type, e.source, e.severity, e.category, e.id, u.id, c.id,
        t.id, e.ts, e.received_at, e.tags, e.data
    FROM events e
    LEFT JOIN users u ON u.key = e.user
    LEFT JOIN conversations c ON c.key = e.conversation
    LEFT JOIN turns t ON t.key = e.turn";

/// One event by its id.
pub(super) fn by_id(
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
        .query_row((project, space, PackedId::of(id.as_str())), |row| Ok(read_event(row, scope)))
        .optional()?;
    found.transpose()
}

/// The event at a position.
pub(super) fn at(
    connection: &Connection,
    scope: &Scope,
    position: i64,
) -> Result<Option<StoredEvent>, StoreError> {
    let sql = format!("{SELECT} WHERE e.position = ?1");
    let found = connection
        .prepare_cached(&sql)?
        .query_row([position], |row| Ok(read_event(row, scope)))
        .optional()?;
    found.transpose()
}

/// The position of the newest event, even if it was dropped since; 0 when there never was one.
pub(super) fn newest(connection: &Connection) -> Result<Position, StoreError> {
    if connection.sqlite().is_none() {
        // Several write there: the number is kept, and whoever changes it holds it.
        let newest: i64 = connection
            .prepare_cached("SELECT position FROM log_head")?
            .query_row((), |row| row.get(0))?;
        return Ok(Position(newest as u64));
    }
    let newest: i64 = connection
        .prepare_cached("SELECT coalesce(max(position), 0) FROM events")?
        .query_row((), |row| row.get(0))?;
    let dropped = super::retain::baseline(connection)?.unwrap_or_default();
    let removed = super::remove::removed(connection)?.unwrap_or_default();
    Ok(Position(newest as u64).max(dropped).max(removed))
}

/// A stretch of the whole log, of every scope.
pub(super) fn tail(
    connection: &Connection,
    after: Position,
    limit: usize,
) -> Result<Vec<StoredEvent>, StoreError> {
    let with_keys = tail_with_keys(connection, after, limit)?;
    Ok(with_keys.into_iter().map(|(stored, _)| stored).collect())
}

/// The keys of what an event names, which outlive the names.
pub(super) struct Named {
    pub(super) project: Key,
    pub(super) user: Option<Key>,
    pub(super) conversation: Option<Key>,
    pub(super) turn: Option<Key>,
}

/// The same with the keys of what they name.
pub(super) fn tail_with_keys(
    connection: &Connection,
    after: Position,
    limit: usize,
) -> Result<Vec<(StoredEvent, Named)>, StoreError> {
    let sql = format!("{} WHERE e.position > ?1 ORDER BY e.position LIMIT ?2", of_every_scope());
    let mut select = connection.prepare_cached(&sql)?;
    let mut rows = select.query((after.0 as i64, limit as i64))?;
    let (mut found, mut bytes) = (Vec::new(), 0);
    while bytes < MOST_BYTES
        && let Some(row) = &rows.next()?
    {
        bytes += text(row, 12)?.len();
        let named = Named {
            project: row.get(15)?,
            user: row.get(16)?,
            conversation: row.get(17)?,
            turn: row.get(18)?,
        };
        found.push((read_event(row, &read_scope(row)?)?, named));
    }
    Ok(found)
}

/// Behind the columns of `SELECT` come the scope's names, and the keys of what an event names.
fn of_every_scope() -> String {
    let more = "e.data, p.tenant, p.project, e.project, e.user, e.conversation, e.turn";
    let columns = SELECT.replacen("e.data", more, 1);
    format!("{columns} JOIN projects p ON p.key = e.project")
}

/// The events at some positions, of whatever scope, in order; what is gone is left out.
pub(super) fn at_each(
    connection: &Connection,
    positions: &[Position],
) -> Result<Vec<StoredEvent>, StoreError> {
    if positions.is_empty() {
        return Ok(Vec::new());
    }
    // Numbers of ours.
    let numbers: Vec<String> = positions.iter().map(Position::to_string).collect();
    let sql = format!(
        "{} WHERE e.position IN ({}) ORDER BY e.position",
        of_every_scope(),
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

/// Questions that came in since a moment, of every scope, and rules about users among them, in order.
pub(super) fn recent_questions(
    connection: &Connection,
    since: Timestamp,
    newest_events: u64,
) -> Result<Vec<StoredEvent>, StoreError> {
    let after = newest(connection)?.0.saturating_sub(newest_events);
    let sql = format!(
        "{} WHERE e.position > ?1 AND e.received_at >= ?2 AND e.ts >= ?2
             AND (e.source = ?3 OR (e.source = ?4 AND e.type = ?5 AND e.user IS NOT NULL))
             AND (e.source <> ?3 OR t.opened = e.position)
         ORDER BY e.position",
        of_every_scope()
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

fn read_scope(row: &Row<'_>) -> Result<Scope, StoreError> {
    let unreadable = |_| StoreError::Corrupt("a scope's name does not fit".into());
    let (tenant, project): (String, String) = (row.get(13)?, row.get(14)?);
    Ok(Scope {
        tenant: Tenant::new(tenant).map_err(unreadable)?,
        project: Project::new(project).map_err(unreadable)?,
    })
}

/// The numbers come from our own enums, never from a request.
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

/// A stretch of a scope's log.
pub(super) fn page(
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
    while bytes < MOST_BYTES
        && let Some(row) = &rows.next()?
    {
        bytes += text(row, 12)?.len();
        found.push(read_event(row, &page.scope)?);
    }
    Ok(found)
}

/// The newest events of a kind before a position.
fn newest_of(
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
    while bytes < MOST_BYTES
        && let Some(row) = &rows.next()?
    {
        bytes += text(row, 12)?.len();
        found.push(read_event(row, scope)?);
    }
    Ok(found)
}

pub(super) fn read_event(row: &Row<'_>, scope: &Scope) -> Result<StoredEvent, StoreError> {
    let position: i64 = row.get(0)?;
    let unreadable = |what: &str| StoreError::Corrupt(format!("event {position}: {what}"));
    let kind = Kind {
        event_type: Type::from_code(row.get(1)?).ok_or_else(|| unreadable("type"))?,
        source: Source::from_code(row.get(2)?).ok_or_else(|| unreadable("source"))?,
    };
    let id = |column| row.get::<_, Option<String>>(column);
    let tags: Option<String> = row.get(11)?;
    let data = text(row, 12)?;
    let event = Event {
        id: read_id(row).ok_or_else(|| unreadable("id"))?,
        scope: scope.clone(),
        kind,
        severity: Severity::from_code(row.get(3)?).ok_or_else(|| unreadable("severity"))?,
        category: Category::from_code(row.get(4)?).ok_or_else(|| unreadable("category"))?,
        user: id(6)?.map(UserId::new).transpose().map_err(|_| unreadable("user"))?,
        conversation: id(7)?
            .map(ConversationId::new)
            .transpose()
            .map_err(|_| unreadable("conversation"))?,
        turn: id(8)?.map(TurnId::new).transpose().map_err(|_| unreadable("turn"))?,
        ts: Timestamp::from_micros(row.get(9)?),
        received_at: Timestamp::from_micros(row.get(10)?),
        tags: match tags {
            None => Vec::new(),
            Some(json) => serde_json::from_str(&json).map_err(|_| unreadable("tags"))?,
        },
        data: serde_json::from_str(data).map_err(|_| unreadable("data"))?,
    };
    Ok(StoredEvent { position: Position(position as u64), event })
}

fn read_id(row: &Row<'_>) -> Option<EventId> {
    EventId::new(PackedId::read(row, 5).ok()??).ok()
}

fn text<'row>(row: &'row Row<'_>, column: usize) -> Result<&'row str, StoreError> {
    let value = row.get_ref(column)?;
    value.as_str().map_err(|_| StoreError::Corrupt(format!("column {column} is not a text")))
}
