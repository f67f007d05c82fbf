//! Verdicts of messages and reviewers about turns.

use model::{Judgement, Origin, Reaction, VerdictStatus};
use sql::{CachedFact, Connection, Row, RowBatch};

use super::facts::Opinions;
use super::{Subject, fact_changes, index, reaction};
use crate::row_keys::{Key, Table, resolve_key};

/// Stores the verdict of a message. It replaces the message's earlier verdict about any turn.
pub(crate) fn judge(
    connection: &Connection,
    subject: &Subject,
    turn: Option<Key>,
    said: &Judgement,
) -> sql::Result<()> {
    let (status, moved_on) = (said.status, said.moved_on);
    let (confidence, raw_confidence) = (said.confidence.get(), said.raw_confidence.get());
    let position = subject.row_position();
    let message = match &said.detected_in {
        None => None,
        Some(id) => Some(resolve_key(connection, Table::Turns, subject.project, id.as_str())?),
    };
    if let Some(message) = message {
        let had_verdict = withdraw_verdict(connection, subject, message)?;
        if said.refines || had_verdict {
            let refines = said.refines;
            fact_changes::record_detected_refinement(connection, subject, message, refines)?;
        }
        index::set_corrected(connection, message, turn.filter(|_| said.corrects))?;
        connection.unlearn::<SilentTurn>(message);
    }
    if let Some(turn) = turn {
        let detected_in = message;
        let verdict = ActiveVerdict { position, status, confidence, detected_in, moved_on };
        learn(connection, turn, |known| known.push(verdict));
    }
    if turn.is_none() && message.is_none() {
        return Ok(());
    }
    connection.add_row(
        "INSERT INTO verdicts (position, turn, detected_in, status, confidence, raw_confidence,
             moved_on)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        RowBatch::Each(MANY),
        (position, turn, message, status.code(), confidence, raw_confidence, moved_on),
    )?;
    turn.map_or(Ok(()), |turn| refresh(connection, subject, turn))
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

/// The verdict in effect among messages; see [`refresh`].
fn find_active_verdict(connection: &Connection, turn: Key) -> sql::Result<Option<ActiveVerdict>> {
    if let Some(Known(verdicts)) = connection.recall(turn) {
        let order = |verdict: &&ActiveVerdict| {
            let says_nothing = verdict.status == VerdictStatus::Neutral;
            (says_nothing, verdict.moved_on, std::cmp::Reverse(verdict.position))
        };
        return Ok(verdicts.iter().min_by_key(order).copied());
    }
    let found = connection.find_row_with(
        "SELECT position, status, confidence, detected_in, moved_on FROM verdicts WHERE turn = ?1
         ORDER BY status = ?2, moved_on, position DESC LIMIT 1",
        (turn, VerdictStatus::Neutral.code()),
        ActiveVerdict::read,
    )?;
    Ok(found.flatten())
}

/// Chooses the verdict in effect: a review, otherwise the mean rating of the users, otherwise the
/// messages. Among messages the latest wins, but "moved on" never replaces another verdict and a
/// neutral message replaces none.
pub(crate) fn refresh(connection: &Connection, subject: &Subject, turn: Key) -> sql::Result<()> {
    // Not opened yet: earlier verdicts apply once it is.
    let Some(row) = index::row(connection, turn)? else { return Ok(()) };
    let verdict = find_active_verdict(connection, turn)?;
    let by_users = reaction::mean_of_users(connection, turn)?.map(VerdictStatus::from_rating);
    let given = row.review.and_then(VerdictStatus::from_code).or(by_users);
    let (status, confidence) = match (given, &verdict) {
        (Some(status), _) => (status, 1.0),
        (None, Some(verdict)) => (verdict.status, verdict.confidence),
        (None, None) => (VerdictStatus::Neutral, index::UNKNOWN_CONFIDENCE),
    };
    let rejects = |verdict: &ActiveVerdict| {
        status == VerdictStatus::Rejected && verdict.status == VerdictStatus::Rejected
    };
    let detected_in = verdict.as_ref().filter(|verdict| rejects(verdict));
    let shown = index::EffectiveVerdict {
        status,
        confidence,
        detected_in: detected_in.and_then(|verdict| verdict.detected_in),
        verdict: verdict.as_ref().map(|verdict| verdict.position),
    };
    if row.shown.as_ref() != Some(&shown) {
        index::write_verdict(connection, turn, &shown)?;
        let row = index::Row { shown: Some(shown), ..row };
        connection.remember(turn, || index::Known(Some(row)));
    }
    let (ok, not_ok, neutral) = reaction::counts_of_users(connection, turn)?;
    let takes_side = |status: VerdictStatus| status != VerdictStatus::Neutral;
    let sides = by_users
        .filter(|status| takes_side(*status))
        .zip(verdict.map(|verdict| verdict.status).filter(|status| takes_side(*status)));
    let (both, agree) = (sides.is_some(), sides.is_some_and(|(user, machine)| user == machine));
    let opinions = Opinions { ok, not_ok, neutral, status: Some(status), both, agree };
    fact_changes::record_opinions(connection, subject, turn, opinions)
}

/// Returns true when the message had a verdict.
fn withdraw_verdict(connection: &Connection, subject: &Subject, message: Key) -> sql::Result<bool> {
    if connection.recall::<SilentTurn>(message).is_some() {
        return Ok(false);
    }
    let before: Option<Option<Key>> = connection
        .find_row("DELETE FROM verdicts WHERE detected_in = ?1 RETURNING turn", [message])?;
    let Some(turn) = before else { return Ok(false) };
    let Some(turn) = turn else { return Ok(true) };
    learn(connection, turn, |known| known.retain(|verdict| verdict.detected_in != Some(message)));
    reaction::take_back(connection, subject.project, message)?;
    refresh(connection, subject, turn)?;
    Ok(true)
}

/// A review replaces the machine's verdict, in the index and among the reactions.
pub(crate) fn review(
    connection: &Connection,
    subject: &Subject,
    turn: Key,
    status: VerdictStatus,
) -> sql::Result<()> {
    index::change_row(
        connection,
        turn,
        "UPDATE turn_index SET review = ?2, reviewed = ?3 WHERE turn = ?1",
        (turn, status.code(), subject.row_position()),
    )?;
    if let Some(index::Known(Some(row))) = connection.recall(turn) {
        let review = Some(status.code());
        connection.remember(turn, || index::Known(Some(index::Row { review, ..row })));
    }
    reaction::remove_machines(connection, subject.project, turn)?;
    let given = reaction::Given {
        origin: Origin::Machine,
        reaction: Reaction::from(status),
        rating: Reaction::from(status).value().get(),
        confidence: 1.0,
        message: None,
    };
    reaction::react(connection, subject, turn, given)?;
    refresh(connection, subject, turn)
}
