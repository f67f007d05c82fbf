//! Prefetches the claims, keys and turns of a whole group in one round trip to Postgres.

use std::collections::BTreeSet;

use model::Position;
use sql::{Connection, Row, Session};

use crate::log::claims::UsedClaim;
use crate::log::packed_write::PackedWrite;
use crate::log::writer_state::WriterState;
use crate::projections::apply::prefetch::{SESSIONS, Turns, remember, remember_sessions};
use crate::row_keys::{Key, TABLES};

/// The log head, and whether another node erased a user after a position.
const SELECT_HEAD: &str =
    "SELECT position, EXISTS (SELECT 1 FROM users WHERE erased > $1) FROM log_head";
const SELECT_CLAIMS: &str = "SELECT c.project, c.space, c.id, c.mac, c.position, e.id
    FROM unnest($1::BIGINT[], $2::BIGINT[], $3::TEXT[]) AS asked (project, space, id)
    JOIN claims c ON c.project = asked.project AND c.space = asked.space AND c.id = asked.id
    LEFT JOIN events e ON e.position = c.position";

/// Prefetches all claims, ids and turns of a group. Returns the log head.
pub(crate) fn prefetch_group<'a>(
    connection: &Connection,
    session: &Session,
    cursor: &mut WriterState,
    writes: impl Iterator<Item = &'a PackedWrite> + Clone,
) -> sql::Result<Position> {
    let (head, erased) = ask(connection, session, cursor, writes.clone())?;
    cursor.note_others(session.keys().others_wrote(head.0));
    session.keys().wrote(head.0);
    if !erased {
        return Ok(head);
    }
    // An erased user who returns gets a new key. Other keys stay valid.
    session.keys().forget("users");
    ask(connection, session, cursor, writes).map(|(head, _)| head)
}

fn ask<'a>(
    connection: &Connection,
    session: &Session,
    cursor: &mut WriterState,
    writes: impl Iterator<Item = &'a PackedWrite>,
) -> sql::Result<(Position, bool)> {
    cursor.claims.clear();
    session.keys().begin();
    session.memory().begin();
    let named = NamedIds::collect(connection, session, cursor, writes)?;
    let (of, spaces, names) = named.claims();
    let ids = named.unknown.each_ref().map(columns);
    let free = ids.each_ref().map(|(_, ids)| ids.len() as i64);
    let (turn_projects, turn_ids) = columns(&named.turns);
    let (talk_projects, talk_ids) = columns(&named.conversations);
    let claims: [Parameter<'_>; 3] = [&of, &spaces, &names];
    let values = ids.each_ref().map(|(of, ids)| -> [Parameter<'_>; 2] { [of, ids] });
    let counts = free.each_ref().map(|count| -> [Parameter<'_>; 1] { [count] });
    let turns: [Parameter<'_>; 2] = [&turn_projects, &turn_ids];
    let conversations: [Parameter<'_>; 2] = [&talk_projects, &talk_ids];
    let known_head = session.keys().head() as i64;
    let since: [Parameter<'_>; 1] = [&known_head];
    let mut questions: Vec<sql::Question<'_>> =
        vec![(SELECT_HEAD, &since), (SELECT_CLAIMS, &claims)];
    for (at, table) in TABLES.iter().enumerate() {
        if !ids[at].0.is_empty() {
            questions.push((&table.select_keys, &values[at]));
            questions.push((&table.free_keys, &counts[at]));
        }
    }
    let about_turns = Turns::QUESTIONS;
    if !turn_ids.is_empty() {
        questions.extend(about_turns.map(|question| (question, &turns[..])));
    }
    if !talk_ids.is_empty() {
        questions.push((SESSIONS, &conversations));
    }
    let mut answers = session.ask_together(&questions)?.into_iter();
    let mut next = || answers.next().unwrap_or_default();

    let (head, erased): (i64, bool) = match next().first().map(Row::Postgres) {
        Some(row) => (row.get(0)?, row.get(1)?),
        None => return Err(sql::Error::NoRows),
    };
    named.claimed.iter().for_each(|claim| cursor.claims.put(claim.clone(), None));
    for row in &next() {
        let row = Row::Postgres(row);
        let used = UsedClaim { mac: row.get(3)?, position: row.get(4)?, event: row.get(5)? };
        cursor.claims.put((row.get(0)?, row.get(1)?, row.get(2)?), Some(used));
    }
    for (table, unknown) in TABLES.iter().zip(&named.unknown) {
        if !unknown.is_empty() {
            remember_keys(session, table.name, unknown, [next(), next()])?;
        }
    }
    if !turn_ids.is_empty() {
        let answers = about_turns.map(|_| next());
        remember(connection, &answers)?;
    }
    if !talk_ids.is_empty() {
        remember_sessions(connection, &next())?;
    }
    Ok((Position(head as u64), erased))
}

/// Caches the keys of known ids, and unused keys for the others.
fn remember_keys(
    session: &Session,
    table: &'static str,
    asked: &BTreeSet<(Key, &str)>,
    [known, free]: [Vec<tokio_postgres::Row>; 2],
) -> sql::Result<()> {
    for (project, id) in asked {
        session.keys().put_unknown(table, *project, id);
    }
    for row in &known {
        let row = Row::Postgres(row);
        let id: String = row.get(1)?;
        session.keys().put(table, row.get(0)?, &id, row.get(2)?);
    }
    for row in &free {
        session.keys().put_free(table, Row::Postgres(row).get(0)?);
    }
    Ok(())
}

type Parameter<'a> = &'a (dyn tokio_postgres::types::ToSql + Sync);

/// The ids named by the writes of a group.
#[derive(Default)]
struct NamedIds<'a> {
    claimed: BTreeSet<(Key, u8, String)>,
    /// Ids of users, conversations and turns without a cached key.
    unknown: [BTreeSet<(Key, &'a str)>; 3],
    conversations: BTreeSet<(Key, &'a str)>,
    turns: BTreeSet<(Key, &'a str)>,
}

impl<'a> NamedIds<'a> {
    fn collect(
        connection: &Connection,
        session: &Session,
        cursor: &mut WriterState,
        writes: impl Iterator<Item = &'a PackedWrite>,
    ) -> sql::Result<Self> {
        let mut this = Self::default();
        for write in writes {
            let Some(first) = write.first() else { continue };
            let project = cursor.projects.resolve_key(connection, &first.scope)?;
            this.claimed.extend(write.claimed().map(|(space, id)| (project, space, id)));
            for event in write.events() {
                let named = [
                    event.user.as_ref().map(|id| id.as_str()),
                    event.conversation.as_ref().map(|id| id.as_str()),
                    event.turn.as_ref().map(|id| id.as_str()),
                ];
                for ((ids, table), id) in this.unknown.iter_mut().zip(&*TABLES).zip(named) {
                    let is_unknown =
                        |id: &&str| session.keys().get(table.name, project, id).is_none();
                    ids.extend(id.filter(is_unknown).map(|id| (project, id)));
                }
                this.conversations.extend(named[1].map(|id| (project, id)));
                this.turns.extend(named[2].map(|id| (project, id)));
            }
        }
        Ok(this)
    }

    fn claims(&self) -> (Vec<i64>, Vec<i64>, Vec<&str>) {
        let (mut projects, mut spaces, mut ids) = (Vec::new(), Vec::new(), Vec::new());
        for (project, space, id) in &self.claimed {
            projects.push(*project);
            spaces.push(i64::from(*space));
            ids.push(id.as_str());
        }
        (projects, spaces, ids)
    }
}

fn columns<'a>(ids: &BTreeSet<(Key, &'a str)>) -> (Vec<Key>, Vec<&'a str>) {
    ids.iter().copied().unzip()
}
