//! Active reactions: one per turn and user, any number by the machine.

use event::{ANONYMOUS, Origin, Reaction, Timestamp};

use super::super::keys::{Key, Table, key_of};
use super::{Subject, activity};
use crate::sql::{self, Connection, OptionalExtension, Row};

/// What was given.
#[derive(Clone, Copy, Debug)]
pub(super) struct Given {
    pub(super) origin: Origin,
    pub(super) reaction: Reaction,
    pub(super) confidence: f64,
    /// The turn whose message a machine read it from.
    pub(super) message: Option<Key>,
}

/// A row of the table, as far as counting it needs.
#[derive(Clone, Copy, Debug)]
struct Active {
    position: i64,
    conversation: Option<Key>,
    user: Option<Key>,
    origin: u8,
    reaction: u8,
    ts: Timestamp,
}

const COLUMNS: &str = "position, conversation, user, origin, reaction, ts";

impl Active {
    fn read(row: &Row<'_>) -> sql::Result<Self> {
        Ok(Self {
            position: row.get(0)?,
            conversation: row.get(1)?,
            user: row.get(2)?,
            origin: row.get(3)?,
            reaction: row.get(4)?,
            ts: Timestamp::from_micros(row.get(5)?),
        })
    }

    fn counted(&self, project: Key) -> Option<activity::Counted> {
        Some(activity::Counted {
            project,
            conversation: self.conversation?,
            origin: self.origin,
            reaction: self.reaction,
            ts: self.ts,
        })
    }
}

/// The turn's own conversation wins over what the event says of it. The user is the event's, else
/// the turn's, else anonymous; as long as the turn has not arrived, nobody knows.
fn place(
    connection: &Connection,
    subject: &Subject,
    turn: Key,
) -> sql::Result<(Option<Key>, Option<Key>)> {
    // Nothing is put down to somebody who was erased before it happened.
    let (conversation, user, opened): (Option<Key>, Option<Key>, bool) = connection
        .prepare_cached(
            "SELECT t.conversation, u.key, t.opened IS NOT NULL
             FROM turns t LEFT JOIN users u
                 ON u.key = t.user AND (u.erased IS NULL OR u.erased > ?2)
             WHERE t.key = ?1",
        )?
        .query_row((turn, subject.at()), |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let user = match subject.user.or(user) {
        None if opened => Some(anonymous(connection, subject.project)?),
        known => known,
    };
    Ok((conversation.or(subject.conversation), user))
}

fn anonymous(connection: &Connection, project: Key) -> sql::Result<Key> {
    key_of(connection, Table::Users, project, ANONYMOUS)
}

/// Adds the reaction; a user's takes the place of the one before.
pub(super) fn react(
    connection: &Connection,
    subject: &Subject,
    turn: Key,
    given: Given,
) -> sql::Result<()> {
    if given.message.is_some() && is_reviewed(connection, turn)? {
        // A person has spoken; what the machine reads from messages no longer counts here.
        return Ok(());
    }
    let (conversation, user) = place(connection, subject, turn)?;
    match given.origin {
        Origin::User => remove_users(connection, subject.project, turn, user)?,
        Origin::Machine => {}
    }
    let active = Active {
        position: subject.at(),
        conversation,
        user,
        origin: given.origin.code(),
        reaction: given.reaction.code(),
        ts: subject.ts,
    };
    connection
        .prepare_cached(
            "INSERT INTO reactions (position, event, project, turn, conversation, user, origin, reaction,
                 confidence, ts, detected_in)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
        )?
        .run((
            active.position,
            &subject.id,
            subject.project,
            turn,
            conversation,
            user,
            active.origin,
            active.reaction,
            given.confidence,
            subject.ts.as_micros(),
            given.message,
        ))?;
    count(connection, subject.project, &active)
}

fn is_reviewed(connection: &Connection, turn: Key) -> sql::Result<bool> {
    connection
        .prepare_cached("SELECT 1 FROM turn_index WHERE turn = ?1 AND review IS NOT NULL")?
        .exists([turn])
}

/// Takes the user's reaction away.
pub(super) fn clear(connection: &Connection, subject: &Subject, turn: Key) -> sql::Result<()> {
    let (_, user) = place(connection, subject, turn)?;
    remove_users(connection, subject.project, turn, user)
}

/// The turn has arrived: reactions that came before it get its conversation and, where they named
/// no user, its user. If that makes two of one user, the later one stays.
pub(super) fn attach(connection: &Connection, subject: &Subject, turn: Key) -> sql::Result<()> {
    let sql = format!("SELECT {COLUMNS} FROM reactions WHERE turn = ?1 ORDER BY position");
    let waiting: Vec<Active> = connection
        .prepare_cached(&sql)?
        .query_map([turn], Active::read)?
        .collect::<Result<_, _>>()?;
    if waiting.is_empty() {
        return Ok(());
    }
    let user = match subject.user {
        Some(user) => user,
        None => anonymous(connection, subject.project)?,
    };
    let is_users_now = |active: &&Active| {
        active.origin == Origin::User.code() && active.user.is_none_or(|own| own == user)
    };
    let last = waiting.iter().rfind(is_users_now).map(|active| active.position);
    for active in &waiting {
        if is_users_now(&active) && Some(active.position) != last {
            remove(connection, subject.project, active)?;
        } else {
            move_to_turn(connection, subject, active, user)?;
        }
    }
    Ok(())
}

fn move_to_turn(
    connection: &Connection,
    subject: &Subject,
    active: &Active,
    user: Key,
) -> sql::Result<()> {
    let conversation = subject.conversation;
    let moved = Active { conversation, user: active.user.or(Some(user)), ..*active };
    connection
        .prepare_cached("UPDATE reactions SET conversation = ?2, user = ?3 WHERE position = ?1")?
        .run((moved.position, moved.conversation, moved.user))?;
    if moved.conversation != active.conversation {
        uncount(connection, subject.project, active)?;
        count(connection, subject.project, &moved)?;
    }
    Ok(())
}

/// Takes away what the machine read from a message.
pub(super) fn take_back(connection: &Connection, project: Key, message: Key) -> sql::Result<()> {
    remove_all(connection, project, "detected_in = ?1", message)
}

/// Takes away what machines said of a turn.
pub(super) fn remove_machines(connection: &Connection, project: Key, turn: Key) -> sql::Result<()> {
    let machines = format!("turn = ?1 AND origin = {}", Origin::Machine.code());
    remove_all(connection, project, &machines, turn)
}

fn remove_all(connection: &Connection, project: Key, condition: &str, key: Key) -> sql::Result<()> {
    let sql = format!("SELECT {COLUMNS} FROM reactions WHERE {condition}");
    let found: Vec<Active> = connection
        .prepare_cached(&sql)?
        .query_map([key], Active::read)?
        .collect::<Result<_, _>>()?;
    found.iter().try_for_each(|active| remove(connection, project, active))
}

fn remove_users(
    connection: &Connection,
    project: Key,
    turn: Key,
    user: Option<Key>,
) -> sql::Result<()> {
    let sql = format!(
        "SELECT {COLUMNS} FROM reactions WHERE turn = ?1 AND origin = ?2 AND user IS NOT DISTINCT FROM ?3"
    );
    let standing = connection
        .prepare_cached(&sql)?
        .query_row((turn, Origin::User.code(), user), Active::read)
        .optional()?;
    match standing {
        Some(active) => remove(connection, project, &active),
        None => Ok(()),
    }
}

fn remove(connection: &Connection, project: Key, active: &Active) -> sql::Result<()> {
    connection
        .prepare_cached("DELETE FROM reactions WHERE position = ?1")?
        .run([active.position])?;
    uncount(connection, project, active)
}

fn count(connection: &Connection, project: Key, active: &Active) -> sql::Result<()> {
    active.counted(project).map_or(Ok(()), |counted| activity::add(connection, counted))
}

/// Called when the row is already gone or moved.
fn uncount(connection: &Connection, project: Key, active: &Active) -> sql::Result<()> {
    active.counted(project).map_or(Ok(()), |counted| activity::remove(connection, counted))
}
