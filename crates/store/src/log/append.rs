//! Checks one write and stores it, inside the group's transaction.

#[cfg(feature = "scaled")]
use model::Change;
use model::{ClaimSpace, EventId, Mac, Outcome, Position};
use sql::{Connection, RowBatch};

use crate::log::claims::UsedClaim;
use crate::log::fallback_turn::{self, JoinedTurn};
use crate::log::packed_write::{PackedClaim, PackedEntry, PackedWrite};
use crate::log::preconditions::{self, UnmetPrecondition, WriteContext};
use crate::log::writer_state::WriterState;
use crate::projections::apply::{self, Subject};
use crate::row_keys::{Key, PackedId, find_key, resolve_key};

/// Stores the write or returns why not. Otherwise nothing changes, except that `Replayed` and
/// `Unchanged` use up the write's request keys.
pub(crate) fn append(
    connection: &Connection,
    cursor: &mut WriterState,
    write: &PackedWrite,
) -> sql::Result<Outcome> {
    let Some(event) = write.first() else { return Ok(Outcome::Unchanged) };
    let project = cursor.projects.resolve_key(connection, &event.scope)?;
    let used = find_used_claims(connection, cursor, project, &write.claims)?;
    if let Some(refusal) = check_claims(connection, project, &write.claims, used)? {
        return Ok(refusal);
    }
    let joined = fallback_turn::find_joined_turn(connection, project, write)?;
    let moved = match joined {
        JoinedTurn::Elsewhere(Some(turn)) => Some(write.move_to_turn(turn)),
        JoinedTurn::Elsewhere(None) | JoinedTurn::Named => None,
    };
    let write = moved.as_ref().unwrap_or(write);
    if let Some(refusal) = check_preconditions(connection, project, write)? {
        return Ok(refusal);
    }
    let start = Position(cursor.head.0 + 1);
    let claims = write.claims.iter().map(|claim| (start.0 as i64 + claim.entry as i64, claim));
    insert_claims(connection, project, claims)?;
    for (position, entry) in (start.0..).map(Position).zip(&write.entries) {
        let subject = insert_event(connection, project, position, entry)?;
        if entry.claims_id {
            // An id of ours: unique, and found like any other.
            let (space, id) = (ClaimSpace::Event, entry.id.clone());
            let claim = PackedClaim { space, id, mac: None, entry: 0 };
            insert_claims(connection, project, [(position.0 as i64, &claim)])?;
        }
        for change in &entry.changes {
            apply::apply(connection, &subject, change)?;
            #[cfg(feature = "scaled")]
            if let Change::EraseUser(_) = change {
                // The erased user's claims lost their MACs.
                cursor.claims.clear();
            }
        }
        cursor.head = position;
    }
    Ok(match joined {
        JoinedTurn::Named => Outcome::Stored(start),
        JoinedTurn::Elsewhere(_) => Outcome::StoredElsewhere(start),
    })
}

/// Reads the earlier use of each claim.
fn find_used_claims(
    connection: &Connection,
    cursor: &mut WriterState,
    project: Key,
    claims: &[PackedClaim],
) -> sql::Result<Vec<Option<UsedClaim>>> {
    let head = cursor.head;
    let mut select = connection.prepare_cached(
        "SELECT c.mac, c.position, e.id FROM claims c LEFT JOIN events e USING (position)
         WHERE c.project = ?1 AND c.space = ?2 AND c.id = ?3",
    )?;
    let mut ask = |space: ClaimSpace, id: &PackedId| -> sql::Result<Option<UsedClaim>> {
        #[cfg(feature = "scaled")]
        if let Some(known) = cursor.claims.take(project, space.code(), id) {
            return Ok(known);
        }
        select.find_row_with((project, space.code(), id), |row| {
            let (mac, position) = (row.get(0)?, row.get(1)?);
            Ok(UsedClaim { mac, position, event: PackedId::read(row, 2)? })
        })
    };
    let mut used = Vec::with_capacity(claims.len());
    for claim in claims {
        let mut found = ask(claim.space, &claim.id)?;
        // A further event of a write has no claim. An import may send its id.
        if found.is_none()
            && claim.space == ClaimSpace::Event
            && let Some((first, number)) = claim.id.first_of_write()
            && let Some(first) = ask(claim.space, &first)?
        {
            found = find_further_event(connection, head, (&first, number), &claim.id)?;
        }
        used.push(found);
    }
    Ok(used)
}

/// The event that a write stored under this id, `number` positions after its first event. It counts
/// as stored when retention has dropped it together with the first.
fn find_further_event(
    connection: &Connection,
    head: Position,
    (first, number): (&UsedClaim, i64),
    id: &PackedId,
) -> sql::Result<Option<UsedClaim>> {
    let position = first.position + number;
    if position > head.0 as i64 {
        return Ok(None);
    }
    let select = "SELECT id FROM events WHERE position = ?1";
    let stored: Option<Option<String>> =
        connection.find_row_with(select, [position], |row| PackedId::read(row, 0))?;
    let is_same = match &stored {
        Some(stored) => *stored == Some(id.text()),
        None => first.event.is_none(),
    };
    Ok(is_same.then(|| UsedClaim { mac: None, position, event: stored.flatten() }))
}

/// Decides by used claims: the same MAC is a repeat, another MAC a conflict. A claim whose MAC was
/// erased counts as a repeat. A repeat of the first event uses up its request key.
fn check_claims(
    connection: &Connection,
    project: Key,
    claims: &[PackedClaim],
    used: Vec<Option<UsedClaim>>,
) -> sql::Result<Option<Outcome>> {
    let mut repeat: Option<(i64, Outcome)> = None;
    let mut is_first_repeated = false;
    let mut used_ones = Vec::with_capacity(claims.len());
    for (claim, used) in claims.iter().zip(used) {
        used_ones.push(used.is_some());
        let Some(UsedClaim { mac, position, event: id }) = used else { continue };
        let other = |(known, new): ([u8; 16], Mac)| known != new.0;
        if mac.zip(claim.mac).is_some_and(other) {
            return Ok(Some(Outcome::Conflict(claim.space)));
        }
        let outcome = match id {
            // The key of a request that changed nothing.
            None if position == 0 => Outcome::Unchanged,
            // The event was dropped by retention, so only its existence is known.
            None => {
                let own = (claim.space == ClaimSpace::Event).then(|| claim.id.text());
                let id = own.unwrap_or_else(|| format!("dropped-{position}"));
                let id = EventId::new(id)
                    .map_err(|_| sql::Error::Unreadable("invalid event id".into()))?;
                Outcome::Replayed { position: Position(position as u64), id }
            }
            Some(id) => {
                let id = EventId::new(id)
                    .map_err(|_| sql::Error::Unreadable("invalid event id".into()))?;
                Outcome::Replayed { position: Position(position as u64), id }
            }
        };
        repeat.get_or_insert((position, outcome));
        is_first_repeated |= claim.entry == 0;
    }
    // A question whose answer alone is known is still to be stored, under the same key.
    if let Some((position, _)) = repeat.as_ref().filter(|_| is_first_repeated) {
        let unused_key =
            |(claim, used): &(&PackedClaim, bool)| claim.space == ClaimSpace::RequestKey && !used;
        let keys = claims.iter().zip(used_ones).filter(unused_key).map(|(claim, _)| claim);
        insert_claims(connection, project, keys.map(|claim| (*position, claim)))?;
    }
    Ok(repeat.map(|(_, outcome)| outcome))
}

fn check_preconditions(
    connection: &Connection,
    project: Key,
    write: &PackedWrite,
) -> sql::Result<Option<Outcome>> {
    let Some(first) = write.entries.first().filter(|_| !write.needs.is_empty()) else {
        return Ok(None);
    };
    let find = |table, id: &str| find_key(connection, table, project, id);
    let subject = Subject::new(&first.event, Position(0), project, find)?;
    let by_new_user = first.event.user.is_some() && subject.user.is_none();
    let about = WriteContext { subject, by_new_user, data: &first.data };
    for need in &write.needs {
        match preconditions::check(connection, &about, need)? {
            None => {}
            Some(UnmetPrecondition::Missing) => return Ok(Some(Outcome::Missing(need.clone()))),
            Some(UnmetPrecondition::AlreadyApplied(position)) => {
                let is_key = |claim: &&PackedClaim| claim.space == ClaimSpace::RequestKey;
                let keys = write.claims.iter().filter(is_key).map(|claim| (position, claim));
                insert_claims(connection, project, keys)?;
                return Ok(Some(Outcome::Unchanged));
            }
        }
    }
    Ok(None)
}

/// Inserts events, one array per column.
const INSERT_EVENTS: &str = "
    INSERT INTO events (position, project, type, source, severity, category, id, user, conversation, turn,
        ts, received_at, tags, data)
    SELECT * FROM unnest($1::BIGINT[], $2::BIGINT[], $3::BIGINT[], $4::BIGINT[], $5::BIGINT[], $6::BIGINT[],
        $7::TEXT[], $8::BIGINT[], $9::BIGINT[], $10::BIGINT[], $11::BIGINT[], $12::BIGINT[], $13::TEXT[],
        $14::TEXT[])";

/// Inserts claims, one array per column.
const INSERT_CLAIMS: &str = "
    INSERT INTO claims (project, space, id, mac, position)
    SELECT * FROM unnest($1::BIGINT[], $2::BIGINT[], $3::TEXT[], $4::BYTEA[], $5::BIGINT[])";

fn insert_event(
    connection: &Connection,
    project: Key,
    position: Position,
    entry: &PackedEntry,
) -> sql::Result<Subject> {
    let event = &entry.event;
    let key = |table, id: &str| resolve_key(connection, table, project, id).map(Some);
    let subject = Subject::new(event, position, project, key)?;
    connection
        .prepare_cached(
            "INSERT INTO events (position, project, type, source, severity, category, id, user,
                 conversation, turn, ts, received_at, tags, data)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
        )?
        .add(
            RowBatch::Each(INSERT_EVENTS),
            (
                position.0 as i64,
                project,
                event.kind.event_type.code(),
                event.kind.source.code(),
                event.severity.code(),
                event.category.code(),
                &entry.id,
                subject.user,
                subject.conversation,
                subject.turn,
                event.ts.as_micros(),
                event.received_at.as_micros(),
                &entry.tags,
                &entry.data,
            ),
        )?;
    Ok(subject)
}

fn insert_claims<'a>(
    connection: &Connection,
    project: Key,
    claims: impl IntoIterator<Item = (i64, &'a PackedClaim)>,
) -> sql::Result<()> {
    let mut insert = connection.prepare_cached(
        "INSERT INTO claims (project, space, id, mac, position) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    for (position, claim) in claims {
        let mac = claim.mac.as_ref().map(|mac| &mac.0[..]);
        insert.add(
            RowBatch::Each(INSERT_CLAIMS),
            (project, claim.space.code(), &claim.id, mac, position),
        )?;
    }
    Ok(())
}
