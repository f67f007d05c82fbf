//! Active reactions: one per turn and user, any number by the machine.

use model::{ANONYMOUS, Origin, Reaction, Timestamp};
use sql::{CachedFact, Connection, Row, RowBatch};

use super::facts::{Facts, find_facts};
use super::sums::{self, Place};
use super::{Subject, activity, index, turn};
use crate::row_keys::{Key, Table, resolve_key};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Given {
    pub(crate) origin: Origin,
    pub(crate) reaction: Reaction,
    /// The reaction on a scale from 0 to 1.
    pub(crate) rating: f64,
    pub(crate) confidence: f64,
    /// The turn whose message the machine read it from.
    pub(crate) message: Option<Key>,
}

/// A row, as far as counters need it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Active {
    position: i64,
    turn: Key,
    conversation: Option<Key>,
    user: Option<Key>,
    origin: u8,
    reaction: u8,
    rating: f64,
    ts: Timestamp,
}

pub(crate) const COLUMNS: &str = "position, conversation, user, origin, reaction, ts, turn, rating";

/// Cached reactions on a turn, by position.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known(pub(in super::super) Vec<Active>);

impl CachedFact for Known {
    const TABLE: &'static str = "turns";

    fn for_new_row() -> Option<Self> {
        Some(Self::default())
    }
}

fn learn(connection: &Connection, turn: Key, change: impl FnOnce(&mut Vec<Active>)) {
    if let Some(Known(mut reactions)) = connection.recall(turn) {
        change(&mut reactions);
        connection.remember(turn, || Known(reactions));
    }
}

impl Active {
    pub(crate) fn read(row: &Row<'_>) -> sql::Result<Self> {
        Ok(Self {
            position: row.get(0)?,
            turn: row.get(6)?,
            conversation: row.get(1)?,
            user: row.get(2)?,
            origin: row.get(3)?,
            reaction: row.get(4)?,
            rating: row.get(7)?,
            ts: Timestamp::from_micros(row.get(5)?),
        })
    }

    fn is_users(&self) -> bool {
        self.origin == Origin::User.code()
    }

    /// The hour in which it was given, with the model and prompt of its turn.
    fn hour_place<'a>(&self, facts: &'a Facts) -> Place<'a> {
        let hour = sums::hour_number(self.ts.as_micros());
        Place { hour, model: &facts.model, prompt: &facts.prompt }
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

/// The turn's conversation takes precedence over the event's. The user is the event's, otherwise
/// the turn's, otherwise anonymous. Before the turn itself arrives the user is unknown.
fn place(
    connection: &Connection,
    subject: &Subject,
    turn: Key,
) -> sql::Result<(Option<Key>, Option<Key>)> {
    let row = turn::row(connection, subject, turn)?;
    let user = match (row.opened, subject.user) {
        (_, Some(user)) => Some(user),
        (turn::Half::Missing | turn::Half::Named | turn::Half::Quoted, None) => None,
        (turn::Half::Sent, None) => match row.user {
            Some(user) => Some(user),
            None => Some(anonymous(connection, subject.project)?),
        },
    };
    Ok((row.conversation.or(subject.conversation), user))
}

fn anonymous(connection: &Connection, project: Key) -> sql::Result<Key> {
    resolve_key(connection, Table::Users, project, ANONYMOUS)
}

/// Adds the reaction. A user's reaction replaces the user's earlier one.
pub(crate) fn react(
    connection: &Connection,
    subject: &Subject,
    turn: Key,
    given: Given,
) -> sql::Result<()> {
    // After a review the machine's reading no longer counts.
    let is_reviewed = |row: index::Row| row.review.is_some();
    if given.message.is_some() && index::row(connection, turn)?.is_some_and(is_reviewed) {
        return Ok(());
    }
    let (conversation, user) = place(connection, subject, turn)?;
    match given.origin {
        Origin::User => remove_users(connection, subject.project, turn, user)?,
        Origin::Machine => {}
    }
    let active = Active {
        position: subject.row_position(),
        turn,
        conversation,
        user,
        origin: given.origin.code(),
        reaction: given.reaction.code(),
        rating: given.rating,
        ts: subject.ts,
    };
    connection.add_row(
        "INSERT INTO reactions (position, event, project, turn, conversation, user, origin,
             reaction, confidence, ts, detected_in, rating)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        RowBatch::Each(MANY),
        (
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
            given.rating,
        ),
    )?;
    learn(connection, turn, |known| known.push(active));
    count(connection, subject.project, &active)
}

const MANY: &str = "
    INSERT INTO reactions (position, event, project, turn, conversation, user, origin, reaction, confidence,
        ts, detected_in, rating)
    SELECT * FROM unnest($1::BIGINT[], $2::TEXT[], $3::BIGINT[], $4::BIGINT[], $5::BIGINT[], $6::BIGINT[],
        $7::BIGINT[], $8::BIGINT[], $9::DOUBLE PRECISION[], $10::BIGINT[], $11::BIGINT[],
        $12::DOUBLE PRECISION[])";

/// The mean of the users' ratings, each user's latest; `None` without one.
pub(crate) fn mean_of_users(connection: &Connection, turn: Key) -> sql::Result<Option<f64>> {
    let reactions = read_turn(connection, turn)?;
    let by_users = reactions.iter().filter(|active| active.is_users());
    let ratings: Vec<f64> = by_users.map(|active| active.rating).collect();
    Ok((!ratings.is_empty()).then(|| ratings.iter().sum::<f64>() / ratings.len() as f64))
}

/// Counts users by reaction: good, bad, neutral.
pub(crate) fn counts_of_users(connection: &Connection, turn: Key) -> sql::Result<(i64, i64, i64)> {
    let codes = [Reaction::Ok, Reaction::NotOk, Reaction::Neutral].map(Reaction::code);
    if let Some(Known(reactions)) = connection.recall(turn) {
        let by_users = reactions.iter().filter(|active| active.is_users());
        let of = |code| by_users.clone().filter(|active| active.reaction == code).count() as i64;
        return Ok((of(codes[0]), of(codes[1]), of(codes[2])));
    }
    connection.read_row(
        "SELECT count(CASE WHEN reaction = ?3 THEN 1 END),
             count(CASE WHEN reaction = ?4 THEN 1 END), count(CASE WHEN reaction = ?5 THEN 1 END)
         FROM reactions WHERE turn = ?1 AND origin = ?2",
        (turn, Origin::User.code(), codes[0], codes[1], codes[2]),
    )
}

pub(crate) fn clear(connection: &Connection, subject: &Subject, turn: Key) -> sql::Result<()> {
    let (_, user) = place(connection, subject, turn)?;
    remove_users(connection, subject.project, turn, user)
}

/// Attaches reactions that arrived before their turn: they get its conversation and, without a
/// user, its user. Of two reactions of one user the later one stays.
pub(crate) fn attach(connection: &Connection, subject: &Subject, turn: Key) -> sql::Result<()> {
    let waiting = read_turn(connection, turn)?;
    if waiting.is_empty() {
        return Ok(());
    }
    let user = match subject.user {
        Some(user) => user,
        None => anonymous(connection, subject.project)?,
    };
    let is_users_now =
        |active: &&Active| active.is_users() && active.user.is_none_or(|own| own == user);
    let last = waiting.iter().rfind(is_users_now).map(|active| active.position);
    for active in &waiting {
        if is_users_now(&active) && Some(active.position) != last {
            remove(connection, subject.project, active)?;
        } else {
            move_to_turn(connection, subject, active, active.user.or(Some(user)))?;
        }
    }
    Ok(())
}

/// Gives reactions that arrived before their turn its conversation, and no user.
pub(crate) fn move_to_conversation(
    connection: &Connection,
    subject: &Subject,
    turn: Key,
) -> sql::Result<()> {
    let waiting = read_turn(connection, turn)?;
    waiting.iter().try_for_each(|active| move_to_turn(connection, subject, active, active.user))
}

fn move_to_turn(
    connection: &Connection,
    subject: &Subject,
    active: &Active,
    user: Option<Key>,
) -> sql::Result<()> {
    let moved = Active { conversation: subject.conversation, user, ..*active };
    connection.run(
        "UPDATE reactions SET conversation = ?2, user = ?3 WHERE position = ?1",
        (moved.position, moved.conversation, moved.user),
    )?;
    learn(connection, active.turn, |known| {
        for known in known.iter_mut().filter(|known| known.position == moved.position) {
            *known = moved;
        }
    });
    if moved.conversation != active.conversation {
        uncount(connection, subject.project, active)?;
        count(connection, subject.project, &moved)?;
    }
    Ok(())
}

/// Deletes the reactions a machine read from a message.
pub(crate) fn take_back(connection: &Connection, project: Key, message: Key) -> sql::Result<()> {
    remove_all(connection, project, "detected_in = ?1", message)
}

/// Deletes the machine's reactions on a turn.
pub(crate) fn remove_machines(connection: &Connection, project: Key, turn: Key) -> sql::Result<()> {
    let machines = format!("turn = ?1 AND origin = {}", Origin::Machine.code());
    remove_all(connection, project, &machines, turn)
}

fn remove_all(connection: &Connection, project: Key, condition: &str, key: Key) -> sql::Result<()> {
    let sql = format!("SELECT {COLUMNS} FROM reactions WHERE {condition}");
    let found: Vec<Active> = connection.read_rows_with(&sql, [key], Active::read)?;
    found.iter().try_for_each(|active| remove(connection, project, active))
}

fn remove_users(
    connection: &Connection,
    project: Key,
    turn: Key,
    user: Option<Key>,
) -> sql::Result<()> {
    let standing = match connection.recall(turn) {
        Some(Known(reactions)) => {
            reactions.into_iter().find(|active| active.is_users() && active.user == user)
        }
        None => connection.find_row_with(
            &format!(
                "SELECT {COLUMNS} FROM reactions
                 WHERE turn = ?1 AND origin = ?2 AND user IS NOT DISTINCT FROM ?3"
            ),
            (turn, Origin::User.code(), user),
            Active::read,
        )?,
    };
    match standing {
        Some(active) => remove(connection, project, &active),
        None => Ok(()),
    }
}

fn remove(connection: &Connection, project: Key, active: &Active) -> sql::Result<()> {
    connection.run("DELETE FROM reactions WHERE position = ?1", [active.position])?;
    learn(connection, active.turn, |known| known.retain(|one| one.position != active.position));
    uncount(connection, project, active)
}

fn count(connection: &Connection, project: Key, active: &Active) -> sql::Result<()> {
    let Some(counted) = active.counted(project) else { return Ok(()) };
    activity::add(connection, counted)?;
    count_hour(connection, project, active, 1)
}

/// Called after the row was deleted or moved.
fn uncount(connection: &Connection, project: Key, active: &Active) -> sql::Result<()> {
    let Some(counted) = active.counted(project) else { return Ok(()) };
    activity::remove(connection, counted)?;
    count_hour(connection, project, active, -1)
}

fn count_hour(connection: &Connection, project: Key, active: &Active, by: i64) -> sql::Result<()> {
    if !active.is_users() {
        return Ok(());
    }
    let facts = find_facts(connection, active.turn)?.unwrap_or_default();
    sums::reacted(connection, project, active.hour_place(&facts), active.reaction, by)
}

/// Moves the users' reactions to the model and prompt that answered.
pub(crate) fn move_counts(
    connection: &Connection,
    project: Key,
    turn: Key,
    [before, after]: [&Facts; 2],
) -> sql::Result<()> {
    let counted = |active: &Active| active.is_users() && active.conversation.is_some();
    for active in read_turn(connection, turn)?.iter().filter(|active| counted(active)) {
        for (facts, by) in [(before, -1), (after, 1)] {
            sums::reacted(connection, project, active.hour_place(facts), active.reaction, by)?;
        }
    }
    Ok(())
}

/// Reactions on a turn, by position.
fn read_turn(connection: &Connection, turn: Key) -> sql::Result<Vec<Active>> {
    if let Some(Known(reactions)) = connection.recall(turn) {
        return Ok(reactions);
    }
    let sql = format!("SELECT {COLUMNS} FROM reactions WHERE turn = ?1 ORDER BY position");
    connection.read_rows_with(&sql, [turn], Active::read)
}
