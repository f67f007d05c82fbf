//! Prefetches the rows of existing turns that the changes of a group will read.

use std::collections::HashMap;

use sql::{Connection, Row};

use super::facts::{self, Facts};
use super::{experiment, index, judge, reaction, session, turn};
use crate::row_keys::Key;

/// Turns with more rows than this are not cached.
const MAX_PREFETCHED_TURNS: usize = 200;

pub(crate) struct Turns;

impl Turns {
    /// Each statement takes projects and ids. They read turns, facts, index rows, reactions,
    /// verdicts, and projects with running experiments.
    pub(crate) const QUESTIONS: [&'static str; 6] = [
        "SELECT t.key, t.conversation, u.key, t.opened IS NOT NULL, t.opened_derived,
             t.completed IS NOT NULL, t.completed_derived
         FROM unnest($1::BIGINT[], $2::TEXT[]) AS asked (project, id)
         JOIN turns t ON t.project = asked.project AND t.id = asked.id
         LEFT JOIN users u ON u.key = t.user AND u.erased IS NULL",
        "SELECT f.* FROM unnest($1::BIGINT[], $2::TEXT[]) AS asked (project, id)
         JOIN turns t ON t.project = asked.project AND t.id = asked.id
         JOIN turn_facts f ON f.turn = t.key",
        "SELECT i.turn, i.review, i.corrects FROM unnest($1::BIGINT[], $2::TEXT[]) AS asked (project, id)
         JOIN turns t ON t.project = asked.project AND t.id = asked.id
         JOIN turn_index i ON i.turn = t.key",
        "SELECT r.* FROM unnest($1::BIGINT[], $2::TEXT[]) AS asked (project, id)
         JOIN turns t ON t.project = asked.project AND t.id = asked.id
         CROSS JOIN LATERAL (
             SELECT position, conversation, user, origin, reaction, ts, turn, rating
             FROM reactions WHERE turn = t.key ORDER BY position LIMIT 201) r
         ORDER BY r.position",
        "SELECT v.* FROM unnest($1::BIGINT[], $2::TEXT[]) AS asked (project, id)
         JOIN turns t ON t.project = asked.project AND t.id = asked.id
         CROSS JOIN LATERAL (
             SELECT position, status, confidence, detected_in, moved_on, turn FROM verdicts
             WHERE turn = t.key LIMIT 201) v",
        "SELECT asked.project, EXISTS (SELECT 1 FROM experiments x
             WHERE x.project = asked.project AND x.status IN ('RUNNING', 'PAUSED'))
         FROM unnest($1::BIGINT[], $2::TEXT[]) AS asked (project, id) GROUP BY asked.project",
    ];
}

/// Reads the open sessions of conversations, by project and id.
pub(crate) const SESSIONS: &str = "
    SELECT c.key, s.started_ts, s.last_ts, s.last_turn, s.turns
    FROM unnest($1::BIGINT[], $2::TEXT[]) AS asked (project, id)
    JOIN conversations c ON c.project = asked.project AND c.id = asked.id
    LEFT JOIN open_sessions s ON s.conversation = c.key";

pub(crate) fn remember_sessions(
    connection: &Connection,
    rows: &[tokio_postgres::Row],
) -> sql::Result<()> {
    for row in rows {
        let row = Row::Postgres(row);
        let found = match row.get(1)? {
            None => None,
            Some(started) => Some(session::Row {
                started,
                last: row.get(2)?,
                last_turn: row.get(3)?,
                turns: row.get(4)?,
            }),
        };
        connection.remember(row.get(0)?, || session::Known(found));
    }
    Ok(())
}

pub(crate) fn remember(
    connection: &Connection,
    answers: &[Vec<tokio_postgres::Row>; 6],
) -> sql::Result<()> {
    let [turns, facts, indexed, reactions, verdicts, experiments] = answers;
    let mut reactions = by_turn(reactions, 6, reaction::Active::read)?;
    let mut verdicts = by_turn(verdicts, 5, judge::ActiveVerdict::read)?;
    for row in turns {
        let row = Row::Postgres(row);
        let key: Key = row.get(0)?;
        let own = turn::Row {
            conversation: row.get(1)?,
            user: row.get(2)?,
            opened: turn::Half::new(row.get(3)?, row.get(4)?),
            completed: turn::Half::new(row.get(5)?, row.get(6)?),
        };
        connection.remember(key, || own);
        connection.remember(key, || facts::Known(None));
        connection.remember(key, || index::Known(None));
        let reactions = reactions.remove(&key).unwrap_or_default();
        if reactions.len() <= MAX_PREFETCHED_TURNS {
            connection.remember(key, || reaction::Known(reactions));
        }
        let verdicts = verdicts.remove(&key).unwrap_or_default();
        if verdicts.len() <= MAX_PREFETCHED_TURNS {
            connection.remember(key, || judge::Known(verdicts.into_iter().flatten().collect()));
        }
    }
    for row in facts {
        let row = Row::Postgres(row);
        let facts = Facts::read(&row)?;
        connection.remember(row.get("turn")?, || facts::Known(Some(facts)));
    }
    for row in indexed {
        let row = Row::Postgres(row);
        let found = index::Row { review: row.get(1)?, corrects: row.get(2)?, shown: None };
        connection.remember(row.get(0)?, || index::Known(Some(found)));
    }
    for row in experiments {
        let row = Row::Postgres(row);
        let any = row.get(1)?;
        connection.remember(row.get(0)?, || experiment::HasRunningExperiments(any));
    }
    Ok(())
}

fn by_turn<T>(
    rows: &[tokio_postgres::Row],
    turn: usize,
    read: impl Fn(&Row<'_>) -> sql::Result<T>,
) -> sql::Result<HashMap<Key, Vec<T>>> {
    let mut found: HashMap<Key, Vec<T>> = HashMap::new();
    for row in rows {
        let row = Row::Postgres(row);
        found.entry(row.get(turn)?).or_default().push(read(&row)?);
    }
    Ok(found)
}
