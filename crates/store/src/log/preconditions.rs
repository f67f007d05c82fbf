//! Checks the preconditions of a write, inside the transaction.

use model::{ConversationId, DecisionId, Need, Origin, Position, Reaction, Source, TurnId, Type};
use sql::Connection;

use crate::event_rows::read_text;
use crate::log::fallback_turn::{TurnLocation, find_conversation, locate_turn};
use crate::projections::apply::{Subject, served};
use crate::row_keys::{Key, PackedId, Table, find_key, find_turn_user};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum UnmetPrecondition {
    Missing,
    /// The write would change nothing. Holds the position of the event that made it so, or 0.
    AlreadyApplied(i64),
}

/// The subject of a write, before it is stored.
#[derive(Clone, Debug)]
pub(crate) struct WriteContext<'a> {
    pub(crate) subject: Subject,
    /// The write names a user without a key, so no reaction of that user exists.
    pub(crate) by_new_user: bool,
    pub(crate) data: &'a str,
}

pub(crate) fn check(
    connection: &Connection,
    about: &WriteContext<'_>,
    need: &Need,
) -> sql::Result<Option<UnmetPrecondition>> {
    let subject = &about.subject;
    let missing = |is_met: bool| Ok((!is_met).then_some(UnmetPrecondition::Missing));
    let applied = |is_so: bool| Ok(is_so.then_some(UnmetPrecondition::AlreadyApplied(0)));
    let decision = |id: &DecisionId| (subject.project, PackedId::pack(id.as_str()));
    match need {
        Need::Turn(conversation) => {
            let conversation = conversation.as_ref().map(|id| id.as_str());
            missing(turn_is_there(connection, subject, conversation)?)
        }
        Need::NewTurn => {
            missing(subject.turn.map_or(Ok(true), |turn| has_only_spans(connection, turn))?)
        }
        Need::PendingTrace { trace, read_at } => {
            missing(is_pending_trace(connection, subject.project, trace, *read_at)?)
        }
        Need::VerdictAt(message, expected) => {
            missing(verdict_position(connection, subject.project, message)? == *expected)
        }
        Need::NoErasureSince(at) => missing(!erased_since(connection, subject.project, *at)?),
        Need::SameConversation(conversation) => {
            missing(!is_elsewhere(connection, subject, conversation)?)
        }
        Need::Decision(id) => missing(connection.exists(
            "SELECT 1 FROM decisions WHERE project = ?1 AND id = ?2 AND made IS NOT NULL",
            decision(id),
        )?),
        Need::OutcomeAt(id, expected) => {
            // The newest outcome, unless its event was dropped.
            let found: Option<i64> = connection.find_row(
                "SELECT e.position FROM decisions d JOIN events e ON e.position = d.settled
                 WHERE d.project = ?1 AND d.id = ?2",
                decision(id),
            )?;
            missing(found == expected.map(|position| position.0 as i64))
        }
        Need::OtherOutcome(id) => {
            let settled: Option<i64> = connection.find_row(
                "SELECT e.position FROM decisions d JOIN events e ON e.position = d.settled
                 WHERE d.project = ?1 AND d.id = ?2 AND e.data = ?3",
                (subject.project, PackedId::pack(id.as_str()), about.data),
            )?;
            Ok(settled.map(UnmetPrecondition::AlreadyApplied))
        }
        Need::Experiment { id, statuses } => {
            let status: Option<String> = connection.find_row(
                "SELECT status FROM experiments WHERE project = ?1 AND id = ?2",
                (subject.project, id.as_str()),
            )?;
            missing(status.is_some_and(|status| statuses.contains(&status)))
        }
        Need::OtherVariant(id, variant) => {
            applied(served(connection, subject, id.as_str())? == Some(*variant))
        }
        Need::SilentSince(moment) => applied(!connection.exists(
            "SELECT 1 FROM open_sessions WHERE conversation = ?1 AND last_ts = ?2",
            (subject.conversation, moment.as_micros()),
        )?),
        Need::OtherReaction { reaction, text, tags } => {
            already_so(connection, about, *reaction, (text.as_deref(), tags))
        }
    }
}

/// True when nothing but spans, which are not in a turn yet, has named the turn.
fn has_only_spans(connection: &Connection, turn: Key) -> sql::Result<bool> {
    connection.exists(
        "SELECT 1 FROM pending_traces p JOIN turns t ON t.key = p.turn
         WHERE p.turn = ?1 AND t.opened IS NULL AND NOT EXISTS (
             SELECT 1 FROM events e WHERE e.turn = p.turn AND NOT (e.type = ?2 AND e.source = ?3))",
        (turn, Type::Log.code(), Source::Trace.code()),
    )
}

/// True when the spans of a trace wait to be assembled and hold the words that they held at a
/// position.
fn is_pending_trace(
    connection: &Connection,
    project: Key,
    trace: &TurnId,
    read_at: Position,
) -> sql::Result<bool> {
    let turn = find_key(connection, Table::Turns, project, trace.as_str())?;
    let pending = "SELECT 1 FROM pending_traces WHERE turn = ?1";
    Ok(turn.is_some()
        && connection.exists(pending, [turn])?
        && !erased_since(connection, project, read_at)?)
}

/// True for a turn of another conversation.
fn is_elsewhere(
    connection: &Connection,
    subject: &Subject,
    conversation: &ConversationId,
) -> sql::Result<bool> {
    let Some(turn) = subject.turn else { return Ok(false) };
    let location = locate_turn(connection, subject.project, turn, conversation)?;
    Ok(location == TurnLocation::Elsewhere)
}

fn verdict_position(
    connection: &Connection,
    project: Key,
    message: &TurnId,
) -> sql::Result<Option<Position>> {
    let key = find_key(connection, Table::Turns, project, message.as_str())?;
    let Some(key) = key else { return Ok(None) };
    let select = "SELECT position FROM verdicts WHERE detected_in = ?1";
    let found: Option<i64> = connection.find_row(select, [key])?;
    Ok(found.map(|position| Position(position as u64)))
}

fn erased_since(connection: &Connection, project: Key, position: Position) -> sql::Result<bool> {
    let position = i64::try_from(position.0).unwrap_or(i64::MAX);
    let erased = "SELECT 1 FROM users WHERE project = ?1 AND erased > ?2";
    connection.exists(erased, (project, position))
}

fn turn_is_there(
    connection: &Connection,
    subject: &Subject,
    conversation: Option<&str>,
) -> sql::Result<bool> {
    let Some(turn) = subject.turn else { return Ok(false) };
    let Some(found) = find_conversation(connection, turn)? else { return Ok(false) };
    let Some(wanted) = conversation else { return Ok(true) };
    let wanted = find_key(connection, Table::Conversations, subject.project, wanted)?;
    Ok(wanted.is_some() && wanted == found)
}

fn already_so(
    connection: &Connection,
    about: &WriteContext<'_>,
    reaction: Option<Reaction>,
    (text, tags): (Option<&str>, &[String]),
) -> sql::Result<Option<UnmetPrecondition>> {
    let Some(turn) = about.subject.turn else { return Ok(None) };
    let standing = if about.by_new_user { None } else { standing(connection, about, turn)? };
    Ok(match (standing, reaction) {
        (None, None) => tags.is_empty().then_some(UnmetPrecondition::AlreadyApplied(0)),
        (Some(standing), Some(new)) => {
            // Stars of the same class may have another rating.
            let is_same = standing.reaction == new.code()
                && standing.rating == new.value().get()
                && standing.text.as_deref() == text
                && tags.iter().all(|tag| standing.tags.contains(tag));
            is_same.then_some(UnmetPrecondition::AlreadyApplied(standing.position))
        }
        (None, Some(_)) | (Some(_), None) => None,
    })
}

/// The user's active reaction on a turn.
struct StandingReaction {
    position: i64,
    reaction: u8,
    rating: f64,
    text: Option<String>,
    tags: Vec<String>,
}

fn standing(
    connection: &Connection,
    about: &WriteContext<'_>,
    turn: Key,
) -> sql::Result<Option<StandingReaction>> {
    let user = match about.subject.user {
        Some(user) => Some(user),
        None => find_turn_user(connection, about.subject.project, turn)?,
    };
    connection.find_row_with(
        "SELECT r.position, r.reaction, r.rating,
             coalesce(json_extract(e.data, '$.text'), json_extract(e.data, '$.comment')), e.tags
         FROM reactions r LEFT JOIN events e ON e.position = r.position
         WHERE r.turn = ?1 AND r.origin = ?2 AND r.user IS NOT DISTINCT FROM ?3",
        (turn, Origin::User.code(), user),
        |row| {
            let tags: Option<String> = row.get(4)?;
            let tags = tags.map(|tags| serde_json::from_str(&tags)).transpose();
            let unreadable = |_| sql::Error::Unreadable("invalid tags of a reaction".into());
            Ok(StandingReaction {
                position: row.get(0)?,
                reaction: row.get(1)?,
                rating: row.get(2)?,
                text: read_text(row, 3)?,
                tags: tags.map_err(unreadable)?.unwrap_or_default(),
            })
        },
    )
}
