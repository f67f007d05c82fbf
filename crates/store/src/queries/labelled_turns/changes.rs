//! Finds turns whose labels may have changed, by the events after a position.

use std::collections::BTreeSet;

use model::{Position, Scope, Source, TurnId, Type, VerdictStatus};
use sql::Connection;

use super::turn;
use crate::error::StoreError;
use crate::event_rows;
use crate::projections::apply::{USER_EVENTS, USER_TURNS};
use crate::queries::labelled_turns::Changed;
use crate::row_keys::{Key, find_project};

/// Sources of events that can change a label or an answer.
const SOURCES: [Source; 5] =
    [Source::Turn, Source::Reaction, Source::UserRating, Source::UserCorrection, Source::Engine];

#[derive(Default)]
struct Touched {
    turns: BTreeSet<Key>,
    loose: BTreeSet<i64>,
}

/// Touched turns and corrections in their current state.
pub(crate) fn read_changes(
    connection: &Connection,
    scope: &Scope,
    after: Position,
    limit: usize,
) -> Result<Changed, StoreError> {
    let newest = event_rows::newest_position(connection)?;
    let Some(project) = find_project(connection, scope)? else {
        return Ok(Changed { upto: newest, ..Changed::default() });
    };
    let (touched, last) = touched(connection, project, after, limit)?;
    let mut changed = Changed { more: last.is_some(), ..Changed::default() };
    changed.upto = last.unwrap_or(newest);
    for key in touched.turns {
        let now = turn::read_turn(connection, key)?;
        match now {
            Some(now) => {
                let worth = now.status == VerdictStatus::Accepted || !now.corrections.is_empty();
                changed.turns.push((now.turn.clone(), worth.then_some(now)));
            }
            // The turn was named but not opened, so the correction stands alone.
            None => changed.turns.push((turn_id(connection, key)?, None)),
        }
    }
    for position in touched.loose {
        let position = Position(position as u64);
        match turn::correction_at(connection, project, position)? {
            Some(correction) => changed.loose.push(correction),
            None => changed.gone.push(position),
        }
    }
    Ok(changed)
}

/// The touched keys, and the last position when more events follow.
fn touched(
    connection: &Connection,
    project: Key,
    after: Position,
    limit: usize,
) -> Result<(Touched, Option<Position>), StoreError> {
    let sources: Vec<String> = SOURCES.iter().map(|source| source.code().to_string()).collect();
    let sql = format!(
        "SELECT e.position, e.turn, e.type, e.source, t.opened
         FROM events e LEFT JOIN turns t ON t.key = e.turn
         WHERE e.position IN (
             SELECT position FROM events INDEXED BY events_by_project
             WHERE project = ?1 AND position > ?2 AND source IN ({})
             ORDER BY position LIMIT ?3)
         ORDER BY e.position",
        sources.join(",")
    );
    let (mut touched, mut last) = (Touched::default(), None);
    let values = (project, after.0 as i64, limit as i64);
    let events = connection.read_rows::<(i64, Option<Key>, u8, u8, Option<i64>)>(&sql, values)?;
    let count = events.len();
    for (position, turn, event_type, source, opened) in events {
        last = Some(Position(position as u64));
        touched.turns.extend(turn);
        if source == Source::UserCorrection.code() && opened.is_none() {
            touched.loose.insert(position);
        }
        if source == Source::Engine.code() && event_type == Type::Log.code() {
            erased_at(connection, project, position, &mut touched)?;
        }
    }
    Ok((touched, last.filter(|_| count == limit)))
}

/// The turns and corrections of a user erased at a position.
fn erased_at(
    connection: &Connection,
    project: Key,
    position: i64,
    touched: &mut Touched,
) -> Result<(), StoreError> {
    let select = "SELECT key FROM users WHERE project = ?1 AND id IS NULL AND erased = ?2";
    for user in connection.read_rows::<Key>(select, (project, position))? {
        // Postgres 15 requires an alias.
        let sql = format!("SELECT key FROM {USER_TURNS} own");
        touched.turns.extend(connection.read_rows::<Key>(&sql, [user])?);
        let sql = format!(
            "{USER_EVENTS} SELECT e.position, e.turn FROM theirs CROSS JOIN events e
             WHERE e.position = theirs.position AND e.source = ?2"
        );
        let corrections: Vec<(i64, Option<Key>)> =
            connection.read_rows(&sql, (user, Source::UserCorrection.code()))?;
        for (position, turn) in corrections {
            touched.turns.extend(turn);
            touched.loose.insert(position);
        }
    }
    Ok(())
}

fn turn_id(connection: &Connection, turn: Key) -> Result<TurnId, StoreError> {
    let id: String = connection.read_row("SELECT id FROM turns WHERE key = ?1", [turn])?;
    TurnId::new(id).map_err(|_| StoreError::Corrupt("a turn has an invalid id".into()))
}
