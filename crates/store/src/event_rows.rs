//! Reads rows of the table `events`.

use model::{
    Body, Category, ConversationId, Event, EventId, Kind, Position, Project, Redacted, Scope,
    Severity, Source, Tenant, Timestamp, TurnId, Type, UserId,
};
use sql::{Connection, Row, Rows, ValueRef};

use crate::error::StoreError;
use crate::meta;
use crate::row_keys::{Key, PackedId};
use crate::turn_context::TurnContext;

/// An event with its log position.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredEvent {
    pub position: Position,
    pub event: Redacted<Event>,
    /// The turn of a client's event, where a reader asked for it.
    pub context: Option<Box<TurnContext>>,
}

/// Maximum bytes of event data in one page, plus one event. Bounds the reader's memory.
pub(crate) const MAX_PAGE_BYTES: usize = 4 << 20;

// Only the ids of user, conversation and turn come from other tables.
pub(crate) const SELECT: &str =
    "SELECT e.position, e.type, e.source, e.severity, e.category, e.id, u.id, c.id,
        t.id, e.ts, e.received_at, e.tags, e.data
    FROM events e
    LEFT JOIN users u ON u.key = e.user
    LEFT JOIN conversations c ON c.key = e.conversation
    LEFT JOIN turns t ON t.key = e.turn";

pub(crate) fn event_at(
    connection: &Connection,
    scope: &Scope,
    position: i64,
) -> Result<Option<StoredEvent>, StoreError> {
    let sql = format!("{SELECT} WHERE e.position = ?1");
    connection.find_row_with(&sql, [position], |row| read_event(row, scope))
}

/// The position of the newest event, including dropped ones. 0 when the log is empty.
pub(crate) fn newest_position(connection: &Connection) -> Result<Position, StoreError> {
    if connection.sqlite().is_none() {
        // Several nodes write to Postgres, so the head is a row, locked by the writing transaction.
        let newest: i64 = connection
            .prepare_cached("SELECT position FROM log_head")?
            .query_row((), |row| row.get(0))?;
        return Ok(Position(newest as u64));
    }
    let newest: i64 = connection
        .prepare_cached("SELECT coalesce(max(position), 0) FROM events")?
        .query_row((), |row| row.get(0))?;
    let removed = meta::removed_position(connection)?.unwrap_or_default();
    Ok(Position(newest as u64).max(removed))
}

/// Reads a page of the log across all scopes.
pub(crate) fn read_tail(
    connection: &Connection,
    after: Position,
    limit: usize,
) -> Result<Vec<StoredEvent>, StoreError> {
    let with_keys = read_tail_with_keys(connection, after, limit)?;
    Ok(with_keys.into_iter().map(|(stored, _)| stored).collect())
}

/// Keys of the user, conversation and turn of an event. They outlive erased ids.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EventKeys {
    pub(crate) project: Key,
    pub(crate) user: Option<Key>,
    pub(crate) conversation: Option<Key>,
    pub(crate) turn: Option<Key>,
}

/// Like `read_tail`, with the keys of each event.
pub(crate) fn read_tail_with_keys(
    connection: &Connection,
    after: Position,
    limit: usize,
) -> Result<Vec<(StoredEvent, EventKeys)>, StoreError> {
    let sql = format!("{} WHERE e.position > ?1 ORDER BY e.position LIMIT ?2", select_all_scopes());
    let mut select = connection.prepare_cached(&sql)?;
    read_page(select.query((after.0 as i64, limit as i64))?)
}

/// Reads a page of a project's log, after the first position and up to the second.
pub(crate) fn read_project_with_keys(
    connection: &Connection,
    project: Key,
    (after, upto): (Position, Position),
    limit: usize,
) -> Result<Vec<(StoredEvent, EventKeys)>, StoreError> {
    let select = select_all_scopes();
    let select = select.replacen("FROM events e", "FROM events e INDEXED BY events_by_project", 1);
    let sql = format!(
        "{select} WHERE e.project = ?1 AND e.position > ?2 AND e.position <= ?3
         ORDER BY e.position LIMIT ?4"
    );
    let mut select = connection.prepare_cached(&sql)?;
    read_page(select.query((project, after.0 as i64, upto.0 as i64, limit as i64))?)
}

fn read_page(mut rows: Rows<'_>) -> Result<Vec<(StoredEvent, EventKeys)>, StoreError> {
    let (mut found, mut bytes) = (Vec::new(), 0);
    while bytes < MAX_PAGE_BYTES
        && let Some(row) = &rows.next()?
    {
        bytes += text(row, 12)?.len();
        let named = EventKeys {
            project: row.get(15)?,
            user: row.get(16)?,
            conversation: row.get(17)?,
            turn: row.get(18)?,
        };
        found.push((read_event(row, &read_scope(row)?)?, named));
    }
    Ok(found)
}

/// `SELECT` with the scope's names and the event's keys as additional columns.
pub(crate) fn select_all_scopes() -> String {
    let more = "e.data, p.tenant, p.project, e.project, e.user, e.conversation, e.turn";
    let columns = SELECT.replacen("e.data", more, 1);
    format!("{columns} JOIN projects p ON p.key = e.project")
}

pub(crate) fn read_scope(row: &Row<'_>) -> Result<Scope, StoreError> {
    let unreadable =
        |_| StoreError::Corrupt("a project has an invalid tenant or project id".into());
    let (tenant, project): (String, String) = (row.get(13)?, row.get(14)?);
    Ok(Scope {
        tenant: Tenant::new(tenant).map_err(unreadable)?,
        project: Project::new(project).map_err(unreadable)?,
    })
}

pub(crate) fn read_event(row: &Row<'_>, scope: &Scope) -> Result<StoredEvent, StoreError> {
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
        body: Body::parse_stored(kind, data).map_err(|_| unreadable("data"))?,
    };
    let event = Redacted::assert_redacted(event);
    Ok(StoredEvent { position: Position(position as u64), event, context: None })
}

fn read_id(row: &Row<'_>) -> Option<EventId> {
    EventId::new(PackedId::read(row, 5).ok()??).ok()
}

pub(crate) fn text<'row>(row: &'row Row<'_>, column: usize) -> Result<&'row str, StoreError> {
    let value = row.get_ref(column)?;
    value.as_str().map_err(|_| StoreError::Corrupt(format!("column {column} is not a text")))
}

/// Reads a text column. Any other type counts as absent.
pub(crate) fn read_text(row: &Row<'_>, column: usize) -> sql::Result<Option<String>> {
    match row.get_ref(column)? {
        ValueRef::Text(_) => row.get(column),
        ValueRef::Null
        | ValueRef::Integer(_)
        | ValueRef::Real(_)
        | ValueRef::Blob(_)
        | ValueRef::Uuid(_) => Ok(None),
    }
}
