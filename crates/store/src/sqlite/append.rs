//! Judges one write and, if it may be stored, stores it. Runs inside the group's transaction.

use event::{Claim, ClaimSpace, Event, EventId, Mac, Outcome, Position, Write};
use rusqlite::{Connection, OptionalExtension};

use super::keys::{Key, PackedId, Projects, Table, key_of};

/// A write with everything computed that does not need the database, so that the writer thread
/// spends its time in SQLite only.
#[derive(Debug)]
pub(super) struct Prepared {
    // Its data is written out in `data`.
    event: Event,
    id: PackedId,
    claims: Vec<PackedClaim>,
    tags: Option<String>,
    data: String,
}

#[derive(Debug)]
struct PackedClaim {
    space: ClaimSpace,
    id: PackedId,
    mac: Mac,
}

impl Prepared {
    /// Packs ids and writes out the JSON.
    pub(super) fn new(write: Write) -> Self {
        let Write { claims, mut event } = write;
        let pack = |Claim { space, id, mac }| PackedClaim { space, id: PackedId::of(&id), mac };
        let tags = &event.tags;
        let tags = (!tags.is_empty()).then(|| serde_json::json!(tags).to_string());
        let data = serde_json::Value::Object(std::mem::take(&mut event.data)).to_string();
        Self {
            id: PackedId::of(event.id.as_str()),
            claims: claims.into_iter().map(pack).collect(),
            tags,
            data,
            event,
        }
    }

    /// Roughly what it takes up while it waits.
    pub(super) fn bytes(&self) -> usize {
        self.data.len() + 512
    }
}

/// What the writer knows without asking the database.
#[derive(Debug)]
pub(super) struct Cursor {
    /// The newest position.
    pub(super) head: Position,
    /// Known scopes.
    pub(super) projects: Projects,
}

/// Stores the write, or finds why not. Changes nothing unless it answers `Stored`.
pub(super) fn append(
    connection: &Connection,
    cursor: &mut Cursor,
    write: &Prepared,
) -> rusqlite::Result<Outcome> {
    let project = cursor.projects.key_of(connection, &write.event.scope)?;
    if let Some(refusal) = judge(connection, project, &write.claims)? {
        return Ok(refusal);
    }
    let position = Position(cursor.head.0 + 1);
    insert_event(connection, project, position, write)?;
    insert_claims(connection, project, position, &write.claims)?;
    cursor.head = position;
    Ok(Outcome::Stored(position))
}

/// A used claim decides: with the same MAC the write is a repeat, with another a conflict. A claim
/// whose MAC was erased can only be a repeat.
fn judge(
    connection: &Connection,
    project: Key,
    claims: &[PackedClaim],
) -> rusqlite::Result<Option<Outcome>> {
    let mut select = connection.prepare_cached(
        "SELECT c.mac, c.position, e.id FROM claims c JOIN events e ON e.position = c.position
         WHERE c.project = ?1 AND c.space = ?2 AND c.id = ?3",
    )?;
    let mut repeat = None;
    for claim in claims {
        let used = select
            .query_row((project, claim.space.code(), &claim.id), |row| {
                let mac: Option<[u8; 16]> = row.get(0)?;
                Ok((mac, row.get::<_, i64>(1)?, PackedId::read(row, 2)?))
            })
            .optional()?;
        let Some((mac, position, id)) = used else { continue };
        if mac.is_some_and(|mac| mac != claim.mac.0) {
            return Ok(Some(Outcome::Conflict(claim.space)));
        }
        let id = EventId::new(id).map_err(|_| rusqlite::Error::InvalidQuery)?;
        repeat.get_or_insert(Outcome::Replayed { position: Position(position as u64), id });
    }
    Ok(repeat)
}

fn insert_event(
    connection: &Connection,
    project: Key,
    position: Position,
    write: &Prepared,
) -> rusqlite::Result<()> {
    let event = &write.event;
    let user = event.user.as_ref().map(|id| id.as_str());
    let conversation = event.conversation.as_ref().map(|id| id.as_str());
    let turn = event.turn.as_ref().map(|id| id.as_str());
    connection
        .prepare_cached(
            "INSERT INTO events (position, project, type, source, severity, category, id, user,
                 conversation, turn, ts, received_at, tags, data)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
        )?
        .execute((
            position.0 as i64,
            project,
            event.kind.event_type.code(),
            event.kind.source.code(),
            event.severity.code(),
            event.category.code(),
            &write.id,
            key_of(connection, Table::Users, project, user)?,
            key_of(connection, Table::Conversations, project, conversation)?,
            key_of(connection, Table::Turns, project, turn)?,
            event.ts.as_micros(),
            event.received_at.as_micros(),
            &write.tags,
            &write.data,
        ))
        .map(drop)
}

fn insert_claims(
    connection: &Connection,
    project: Key,
    position: Position,
    claims: &[PackedClaim],
) -> rusqlite::Result<()> {
    let mut insert = connection.prepare_cached(
        "INSERT INTO claims (project, space, id, mac, position) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    for claim in claims {
        let mac = &claim.mac.0[..];
        insert.execute((project, claim.space.code(), &claim.id, mac, position.0 as i64))?;
    }
    Ok(())
}
