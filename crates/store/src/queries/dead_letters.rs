//! Dead letters: accepted writes that could not be stored.

use model::{
    Body, Category, Claim, ClaimSpace, ConversationId, Entry, Event, EventId, Kind, Mac, Redacted,
    Scope, Severity, Source, Timestamp, TurnId, Type, UserId, Write,
};
use serde_json::{Map, Value};
use sql::{Connection, Row};

use crate::error::{StoreError, Task};
use crate::log::dead_letters;
use crate::log::packed_write::PackedWrite;
use crate::row_keys::{Projects, find_project};
use crate::store::Store;

/// A dead letter. Its id is that of its first event.
#[derive(Clone, Debug, PartialEq)]
pub struct DeadLetter {
    pub number: u64,
    pub id: String,
    pub reason: String,
    /// The arrival time of its event.
    pub at: Timestamp,
    /// The write without its changes.
    pub write: Write,
}

impl Store {
    /// Dead letters of a scope after a number, oldest first.
    pub fn dead_letters(
        &self,
        scope: &Scope,
        after: u64,
        limit: usize,
    ) -> Task<'_, Vec<DeadLetter>> {
        let scope = scope.clone();
        self.pool.run(move |connection| self::page(connection, &scope, after, limit))
    }

    pub fn dead_letter(&self, scope: &Scope, id: &str) -> Task<'_, Option<DeadLetter>> {
        let (scope, id) = (scope.clone(), id.to_owned());
        self.pool.run_short(move |connection| self::by_id(connection, &scope, &id))
    }

    /// Stores a write as a dead letter, replacing the one with the same id.
    pub fn set_aside(&self, write: Write, reason: String) -> Task<'_, ()> {
        let letter = PackedWrite::new(write);
        let put = move |connection: &mut _| self::set_aside(connection, &letter, &reason);
        Box::pin(self.writer.run(put))
    }

    /// Deletes a dead letter after its write was stored.
    pub fn drop_dead_letter(&self, scope: &Scope, id: &str) -> Task<'_, ()> {
        let (scope, id) = (scope.clone(), id.to_owned());
        let forget = move |connection: &mut _| self::forget(connection, &scope, &id);
        Box::pin(self.writer.run(forget))
    }
}

fn set_aside(
    connection: &mut Connection,
    write: &PackedWrite,
    reason: &str,
) -> Result<(), StoreError> {
    let Some(event) = write.first() else { return Ok(()) };
    let transaction = connection.transaction()?;
    let project = Projects::default().resolve_key(&transaction, &event.scope)?;
    dead_letters::insert(&transaction, project, event, reason, &write.to_dead_letter())?;
    Ok(transaction.commit()?)
}

const SELECT: &str = "SELECT number, id, reason, at, letter FROM dead_letters";

/// Dead letters of a scope after a number. Unreadable ones are logged and skipped.
pub(crate) fn page(
    connection: &Connection,
    scope: &Scope,
    after: u64,
    limit: usize,
) -> Result<Vec<DeadLetter>, StoreError> {
    let Some(project) = find_project(connection, scope)? else { return Ok(Vec::new()) };
    let sql = format!("{SELECT} WHERE project = ?1 AND number > ?2 ORDER BY number LIMIT ?3");
    let mut select = connection.prepare_cached(&sql)?;
    let (mut found, mut behind) = (Vec::new(), after as i64);
    loop {
        let (wanted, mut seen) = (limit - found.len(), 0);
        let mut rows = select.query((project, behind, wanted as i64))?;
        while let Some(row) = &rows.next()? {
            (behind, seen) = (row.get(0)?, seen + 1);
            match read(row, scope) {
                Ok(letter) => found.push(letter),
                Err(error) if error.is_lasting() => {
                    tracing::error!(number = behind, %error, "a dead letter cannot be listed");
                }
                Err(error) => return Err(error),
            }
        }
        if seen < wanted || found.len() == limit {
            return Ok(found);
        }
    }
}

pub(crate) fn by_id(
    connection: &Connection,
    scope: &Scope,
    id: &str,
) -> Result<Option<DeadLetter>, StoreError> {
    let Some(project) = find_project(connection, scope)? else { return Ok(None) };
    let sql = format!("{SELECT} WHERE project = ?1 AND id = ?2");
    connection.find_row_with(&sql, (project, id), |row| read(row, scope))
}

pub(crate) fn forget(
    connection: &mut Connection,
    scope: &Scope,
    id: &str,
) -> Result<(), StoreError> {
    let Some(project) = find_project(connection, scope)? else { return Ok(()) };
    connection.execute("DELETE FROM dead_letters WHERE project = ?1 AND id = ?2", (project, id))?;
    Ok(())
}

fn read(row: &Row<'_>, scope: &Scope) -> Result<DeadLetter, StoreError> {
    let id: String = row.get(1)?;
    let letter: String = row.get(4)?;
    let unreadable = || StoreError::Corrupt(format!("invalid dead letter {id}"));
    let letter: Value = serde_json::from_str(&letter).map_err(|_| unreadable())?;
    let write = parse_write(&letter, scope).ok_or_else(unreadable)?;
    Ok(DeadLetter {
        number: row.get::<_, i64>(0)? as u64,
        id,
        reason: row.get(2)?,
        at: Timestamp::from_micros(row.get(3)?),
        write,
    })
}

fn parse_write(letter: &Value, scope: &Scope) -> Option<Write> {
    let entry =
        |value: &Value| Some(Entry { event: read_event(value, scope)?, changes: Vec::new() });
    let mut entries: Vec<Entry> =
        letter["events"].as_array()?.iter().map(entry).collect::<Option<_>>()?;
    if entries.is_empty() {
        return None;
    }
    let Entry { event, changes } = entries.remove(0);
    let claims = letter["claims"].as_array()?.iter().map(read_claim).collect::<Option<_>>()?;
    Some(Write { claims, more: entries, ..Write::new(event, changes) })
}

fn read_claim(value: &Value) -> Option<Claim> {
    let code = u8::try_from(value["space"].as_u64()?).ok()?;
    let mac: Option<[u8; 16]> = serde_json::from_value(value["mac"].clone()).ok()?;
    Some(Claim {
        space: ClaimSpace::from_code(code)?,
        id: value["id"].as_str()?.to_owned(),
        mac: mac.map(Mac),
    })
}

fn read_event(value: &Value, scope: &Scope) -> Option<Redacted<Event>> {
    let text = |name: &str| value[name].as_str();
    let moment = |name: &str| value[name].as_i64().map(Timestamp::from_micros);
    let data: Map<String, Value> = value["data"].as_object()?.clone();
    // An invalid id makes the whole letter unreadable.
    let user = text("user").map(UserId::new).transpose().ok()?;
    let conversation = text("conversation").map(ConversationId::new).transpose().ok()?;
    let turn = text("turn").map(TurnId::new).transpose().ok()?;
    let kind = Kind {
        event_type: Type::from_word(text("type")?)?,
        source: Source::from_word(text("source")?)?,
    };
    Some(Redacted::assert_redacted(Event {
        id: EventId::new(text("id")?).ok()?,
        scope: scope.clone(),
        kind,
        severity: Severity::from_word(text("severity")?)?,
        category: Category::from_word(text("category")?)?,
        user,
        conversation,
        turn,
        ts: moment("ts")?,
        received_at: moment("received_at")?,
        tags: serde_json::from_value(value["tags"].clone()).ok()?,
        body: Body::from_stored(kind, data),
    }))
}
