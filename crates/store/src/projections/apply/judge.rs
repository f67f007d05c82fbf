//! Verdicts of messages and reviewers about turns.

use model::{Origin, Reaction, TurnId, VerdictStatus};
use sql::{CachedFact, Connection, OptionalExtension, Row, RowBatch};

use super::{Subject, index, reaction};
use crate::row_keys::{Key, Table, resolve_key};

/// The verdict of a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VerdictInput<'a> {
    pub(crate) status: VerdictStatus,
    pub(crate) confidence: f64,
    pub(crate) raw_confidence: f64,
    pub(crate) moved_on: bool,
    pub(crate) corrects: bool,
    pub(crate) detected_in: Option<&'a TurnId>,
}

/// Stores the verdict of a message about a turn. It replaces the message's earlier verdict,
/// whichever turn that was about.
pub(crate) fn judge(
    connection: &Connection,
    subject: &Subject,
    turn: Option<Key>,
    said: VerdictInput<'_>,
) -> sql::Result<()> {
    let message = match said.detected_in {
        None => None,
        Some(id) => Some(resolve_key(connection, Table::Turns, subject.project, id.as_str())?),
    };
    if let Some(message) = message {
        take_back(connection, subject, message)?;
        let corrected = turn.filter(|_| said.corrects);
        connection
            .prepare_cached(
                "UPDATE turn_index SET corrects = ?2 WHERE turn = ?1 AND corrects IS DISTINCT FROM ?2",
            )?
            .run((message, corrected))?;
        // Touches the row so that the similarity index is updated.
        connection
            .prepare_cached("UPDATE turn_vectors SET model = model WHERE turn = ?1")?
            .run([message])?;
    }
    let verdict = ActiveVerdict {
        position: subject.row_position(),
        status: said.status,
        confidence: said.confidence,
        detected_in: message,
        moved_on: said.moved_on,
    };
    if let Some(turn) = turn {
        learn(connection, turn, |known| known.push(verdict));
    }
    if let Some(message) = message {
        connection.unlearn::<SilentTurn>(message);
    }
    connection
        .prepare_cached(
            "INSERT INTO verdicts (position, turn, detected_in, status, confidence, raw_confidence,
                 moved_on)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?
        .add(
            RowBatch::Each(MANY),
            (
                subject.row_position(),
                turn,
                message,
                said.status.code(),
                said.confidence,
                said.raw_confidence,
                said.moved_on,
            ),
        )?;
    turn.map_or(Ok(()), |turn| index::refresh(connection, subject, turn))
}

const MANY: &str = "
    INSERT INTO verdicts (position, turn, detected_in, status, confidence, raw_confidence, moved_on)
    SELECT * FROM unnest($1::BIGINT[], $2::BIGINT[], $3::BIGINT[], $4::BIGINT[], $5::DOUBLE PRECISION[],
        $6::DOUBLE PRECISION[], $7::BIGINT[])";

/// A message's verdict on a turn, as far as it decides the verdict in effect.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ActiveVerdict {
    pub(crate) position: i64,
    pub(crate) status: VerdictStatus,
    pub(crate) confidence: f64,
    pub(crate) detected_in: Option<Key>,
    moved_on: bool,
}

impl ActiveVerdict {
    /// Reads position, status, confidence, message and "moved on". `None` for an unknown status.
    pub(crate) fn read(row: &Row<'_>) -> sql::Result<Option<Self>> {
        let (position, confidence, detected_in) = (row.get(0)?, row.get(2)?, row.get(3)?);
        let (status, moved_on): (u8, bool) = (row.get(1)?, row.get(4)?);
        let read = |status| Self { position, status, confidence, detected_in, moved_on };
        Ok(VerdictStatus::from_code(status).map(read))
    }
}

/// Cached verdicts of messages on a turn.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known(pub(in super::super) Vec<ActiveVerdict>);

impl CachedFact for Known {
    const TABLE: &'static str = "turns";

    fn for_new_row() -> Option<Self> {
        Some(Self::default())
    }
}

/// Cached: the turn's message is about no other turn.
#[derive(Clone, Debug)]
struct SilentTurn;

impl CachedFact for SilentTurn {
    const TABLE: &'static str = "turns";

    fn for_new_row() -> Option<Self> {
        Some(Self)
    }
}

fn learn(connection: &Connection, turn: Key, change: impl FnOnce(&mut Vec<ActiveVerdict>)) {
    if let Some(Known(mut verdicts)) = connection.recall(turn) {
        change(&mut verdicts);
        connection.remember(turn, || Known(verdicts));
    }
}

/// The verdict in effect among messages; see [`index::refresh`].
pub(crate) fn active_verdicts(
    connection: &Connection,
    turn: Key,
) -> sql::Result<Option<ActiveVerdict>> {
    if let Some(Known(verdicts)) = connection.recall(turn) {
        let order = |verdict: &&ActiveVerdict| {
            let says_nothing = verdict.status == VerdictStatus::Neutral;
            (says_nothing, verdict.moved_on, std::cmp::Reverse(verdict.position))
        };
        return Ok(verdicts.iter().min_by_key(order).copied());
    }
    let found = connection
        .prepare_cached(
            "SELECT position, status, confidence, detected_in, moved_on FROM verdicts WHERE turn = ?1
             ORDER BY status = ?2, moved_on, position DESC LIMIT 1",
        )?
        .query_row((turn, VerdictStatus::Neutral.code()), ActiveVerdict::read)
        .optional()?;
    Ok(found.flatten())
}

fn take_back(connection: &Connection, subject: &Subject, message: Key) -> sql::Result<()> {
    if connection.recall::<SilentTurn>(message).is_some() {
        return Ok(());
    }
    let before: Option<Option<Key>> = connection
        .prepare_cached("DELETE FROM verdicts WHERE detected_in = ?1 RETURNING turn")?
        .query_row([message], |row| row.get(0))
        .optional()?;
    let Some(Some(turn)) = before else { return Ok(()) };
    learn(connection, turn, |known| known.retain(|verdict| verdict.detected_in != Some(message)));
    reaction::take_back(connection, subject.project, message)?;
    index::refresh(connection, subject, turn)
}

/// A review replaces the machine's verdict, in the index and among the reactions.
pub(crate) fn review(
    connection: &Connection,
    subject: &Subject,
    turn: Key,
    status: VerdictStatus,
) -> sql::Result<()> {
    connection
        .prepare_cached("UPDATE turn_index SET review = ?2, reviewed = ?3 WHERE turn = ?1")?
        .run((turn, status.code(), subject.row_position()))?;
    if let Some(index::Known(Some(row))) = connection.recall(turn) {
        let review = Some(status.code());
        connection.remember(turn, || index::Known(Some(index::Row { review, ..row })));
    }
    reaction::remove_machines(connection, subject.project, turn)?;
    let given = reaction::Given {
        origin: Origin::Machine,
        reaction: Reaction::from(status),
        confidence: 1.0,
        message: None,
    };
    reaction::react(connection, subject, turn, given)?;
    index::refresh(connection, subject, turn)
}
