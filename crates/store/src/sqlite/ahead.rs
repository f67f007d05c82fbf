//! What a group of writes will ask one by one, asked for all of them at once, where every question costs
//! a round trip.

use std::collections::BTreeSet;

use super::append::{Cursor, Prepared};
use super::claims::UsedClaim;
use super::keys::{Key, Table};
use crate::sql::{self, Connection, Row, Session};

const CLAIMS: &str = "SELECT c.project, c.space, c.id, c.mac, c.position, e.id
    FROM unnest($1::BIGINT[], $2::BIGINT[], $3::TEXT[]) AS asked (project, space, id)
    JOIN claims c ON c.project = asked.project AND c.space = asked.space AND c.id = asked.id
    LEFT JOIN events e ON e.position = c.position";

/// Finds out about all claims and ids of a group.
pub(super) fn look_ahead<'a>(
    connection: &Connection,
    session: &Session,
    cursor: &mut Cursor,
    writes: impl Iterator<Item = &'a Prepared>,
) -> sql::Result<()> {
    cursor.claims.clear();
    let mut asked: BTreeSet<(Key, u8, String)> = BTreeSet::new();
    let mut ids: [BTreeSet<(Key, &str)>; 3] = Default::default();
    for write in writes {
        let Some(first) = write.first() else { continue };
        let project = cursor.projects.key_of(connection, &first.scope)?;
        asked.extend(write.claimed().map(|(space, id)| (project, space, id.text())));
        for event in write.events() {
            let named = [
                event.user.as_ref().map(|id| id.as_str()),
                event.conversation.as_ref().map(|id| id.as_str()),
                event.turn.as_ref().map(|id| id.as_str()),
            ];
            for ((ids, table), id) in ids.iter_mut().zip(TABLES).zip(named) {
                let unknown = |id: &&str| session.keys().get(table.0.name(), project, id).is_none();
                ids.extend(id.filter(unknown).map(|id| (project, id)));
            }
        }
    }
    let (of, spaces, names) = split(&asked);
    let columns =
        ids.each_ref().map(|ids| -> (Vec<Key>, Vec<&str>) { ids.iter().copied().unzip() });
    let [users, conversations, turns] = &columns;
    let answers = session.ask_together(&[
        (CLAIMS, &[&of, &spaces, &names]),
        (TABLES[0].1, &[&users.0, &users.1]),
        (TABLES[1].1, &[&conversations.0, &conversations.1]),
        (TABLES[2].1, &[&turns.0, &turns.1]),
    ])?;
    asked.iter().for_each(|claim| cursor.claims.put(claim.clone(), None));
    for row in answers.first().into_iter().flatten() {
        let row = Row::Postgres(row);
        let used = UsedClaim { mac: row.get(3)?, position: row.get(4)?, event: row.get(5)? };
        cursor.claims.put((row.get(0)?, row.get(1)?, row.get(2)?), Some(used));
    }
    for (table, rows) in TABLES.iter().zip(answers.iter().skip(1)) {
        for row in rows {
            let row = Row::Postgres(row);
            let id: String = row.get(1)?;
            session.keys().put(table.0.name(), row.get(0)?, &id, row.get(2)?);
        }
    }
    Ok(())
}

const TABLES: [(Table, &str); 3] = [
    (
        Table::Users,
        "SELECT t.project, t.id, t.key FROM unnest($1::BIGINT[], $2::TEXT[]) AS asked (project, id)
         JOIN users t ON t.project = asked.project AND t.id = asked.id",
    ),
    (
        Table::Conversations,
        "SELECT t.project, t.id, t.key FROM unnest($1::BIGINT[], $2::TEXT[]) AS asked (project, id)
         JOIN conversations t ON t.project = asked.project AND t.id = asked.id",
    ),
    (
        Table::Turns,
        "SELECT t.project, t.id, t.key FROM unnest($1::BIGINT[], $2::TEXT[]) AS asked (project, id)
         JOIN turns t ON t.project = asked.project AND t.id = asked.id",
    ),
];

fn split(claims: &BTreeSet<(Key, u8, String)>) -> (Vec<i64>, Vec<i64>, Vec<&str>) {
    let (mut projects, mut spaces, mut ids) = (Vec::new(), Vec::new(), Vec::new());
    for (project, space, id) in claims {
        projects.push(*project);
        spaces.push(i64::from(*space));
        ids.push(id.as_str());
    }
    (projects, spaces, ids)
}
