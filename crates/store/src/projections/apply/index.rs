//! The index of turns: labels for the search of strategies, and the verdict in effect.

use model::{UnitInterval, ValidationOutcome, Vector, VerdictStatus};
use sql::{CachedFact, Connection, OptionalExtension, RowBatch};

use super::{Subject, facts, judge, reaction};
use crate::row_keys::Key;

/// The confidence of a turn without a verdict.
const UNKNOWN: f64 = 0.5;

pub(crate) fn open(
    connection: &Connection,
    subject: &Subject,
    turn: Key,
    intent: Option<&str>,
) -> sql::Result<()> {
    let mut insert = connection.prepare_cached(
        "INSERT INTO turn_index (turn, project, intent) VALUES (?1, ?2, ?3)
         ON CONFLICT (turn) DO UPDATE SET intent = excluded.intent",
    )?;
    match connection.recall(turn) {
        Some(Known(None)) => {
            insert.add(RowBatch::First(MANY_OPENED), (turn, subject.project, intent))?;
            connection.remember(turn, || Known(Some(Row::default())));
        }
        Some(Known(Some(_))) | None => insert.run((turn, subject.project, intent))?,
    }
    refresh(connection, subject, turn)
}

const MANY_OPENED: &str = "INSERT INTO turn_index (turn, project, intent)
    SELECT * FROM unnest($1::BIGINT[], $2::BIGINT[], $3::TEXT[])";
const MANY_COMPLETED: &str = "
    UPDATE turn_index SET completed = 1, validation_outcome = given.outcome,
        quality_score = given.quality, has_strategy = given.has_strategy
    FROM (SELECT DISTINCT ON (turn) * FROM unnest($1::BIGINT[], $2::BIGINT[], $3::DOUBLE PRECISION[], $4::BIGINT[])
              WITH ORDINALITY AS all_given (turn, outcome, quality, has_strategy, number)
          ORDER BY turn, number DESC) given
    WHERE turn_index.turn = given.turn";
const MANY_VECTORS: &str = "
    INSERT INTO turn_vectors (turn, model, vector)
    SELECT DISTINCT ON (turn) turn, model, vector
    FROM unnest($1::BIGINT[], $2::TEXT[], $3::BYTEA[]) WITH ORDINALITY AS given (turn, model, vector, number)
    ORDER BY turn, number DESC
    ON CONFLICT (turn) DO UPDATE SET model = excluded.model, vector = excluded.vector";

/// Cached row of a turn.
#[derive(Clone, Debug)]
pub(crate) struct Known(pub(in super::super) Option<Row>);

/// A row of the index, as far as other rows depend on it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) review: Option<u8>,
    /// The values last written, if known.
    pub(crate) shown: Option<Shown>,
}

/// The verdict in effect.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Shown {
    status: VerdictStatus,
    confidence: f64,
    detected_in: Option<Key>,
    verdict: Option<i64>,
}

impl Default for Row {
    /// The table's column defaults.
    fn default() -> Self {
        let (status, confidence) = (VerdictStatus::Neutral, UNKNOWN);
        let shown = Shown { status, confidence, detected_in: None, verdict: None };
        Self { review: None, shown: Some(shown) }
    }
}

impl CachedFact for Known {
    const TABLE: &'static str = "turns";

    fn for_new_row() -> Option<Self> {
        Some(Self(None))
    }
}

pub(crate) fn row(connection: &Connection, turn: Key) -> sql::Result<Option<Row>> {
    if let Some(Known(row)) = connection.recall(turn) {
        return Ok(row);
    }
    connection
        .prepare_cached("SELECT review FROM turn_index WHERE turn = ?1")?
        .query_row([turn], |row| Ok(Row { review: row.get(0)?, shown: None }))
        .optional()
}

/// The validator's result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Assessment {
    pub(crate) outcome: Option<ValidationOutcome>,
    pub(crate) quality: Option<UnitInterval>,
    pub(crate) has_strategy: bool,
}

pub(crate) fn complete(
    connection: &Connection,
    turn: Key,
    assessment: Assessment,
) -> sql::Result<()> {
    let mut update = connection.prepare_cached(
        "UPDATE turn_index SET completed = 1, validation_outcome = ?2, quality_score = ?3,
             has_strategy = ?4
         WHERE turn = ?1",
    )?;
    let outcome = assessment.outcome.map(ValidationOutcome::code);
    let quality = assessment.quality.map(UnitInterval::get);
    let values = (turn, outcome, quality, assessment.has_strategy);
    match connection.recall(turn) {
        Some(Known(Some(_))) => update.add(RowBatch::Each(MANY_COMPLETED), values),
        Some(Known(None)) => Ok(()),
        None => update.run(values),
    }
}

pub(crate) fn set_vector(connection: &Connection, turn: Key, vector: &Vector) -> sql::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO turn_vectors (turn, model, vector) VALUES (?1, ?2, ?3)
             ON CONFLICT (turn) DO UPDATE SET model = excluded.model, vector = excluded.vector",
        )?
        .add(
            RowBatch::Each(MANY_VECTORS),
            (turn, &**vector.model(), vector_index::encode(vector.values())),
        )
}

/// Chooses the verdict in effect: a review, otherwise the latest reaction of a user, otherwise the
/// messages. Among messages the latest wins, but "moved on" never replaces another verdict and a
/// neutral message replaces none.
pub(crate) fn refresh(connection: &Connection, subject: &Subject, turn: Key) -> sql::Result<()> {
    // Not opened yet: earlier verdicts apply once it is.
    let Some(row) = row(connection, turn)? else { return Ok(()) };
    let verdict = judge::active_verdicts(connection, turn)?;
    let by_users = reaction::latest_of_users(connection, turn)?.map(VerdictStatus::from);
    let given = row.review.and_then(VerdictStatus::from_code).or(by_users);
    let (status, confidence) = match (given, &verdict) {
        (Some(status), _) => (status, 1.0),
        (None, Some(verdict)) => (verdict.status, verdict.confidence),
        (None, None) => (VerdictStatus::Neutral, UNKNOWN),
    };
    let rejects = |verdict: &judge::ActiveVerdict| {
        status == VerdictStatus::Rejected && verdict.status == VerdictStatus::Rejected
    };
    let detected_in = verdict.as_ref().filter(|verdict| rejects(verdict));
    let shown = Shown {
        status,
        confidence,
        detected_in: detected_in.and_then(|verdict| verdict.detected_in),
        verdict: verdict.as_ref().map(|verdict| verdict.position),
    };
    if row.shown.as_ref() != Some(&shown) {
        show(connection, turn, &shown)?;
        connection.remember(turn, || Known(Some(Row { review: row.review, shown: Some(shown) })));
    }
    let (ok, not_ok, neutral) = reaction::counts_of_users(connection, turn)?;
    let takes_side = |status: VerdictStatus| status != VerdictStatus::Neutral;
    let sides = by_users
        .filter(|status| takes_side(*status))
        .zip(verdict.map(|verdict| verdict.status).filter(|status| takes_side(*status)));
    let (both, agree) = (sides.is_some(), sides.is_some_and(|(user, machine)| user == machine));
    let opinions = facts::Opinions { ok, not_ok, neutral, status: Some(status), both, agree };
    facts::judge(connection, subject, turn, opinions)
}

fn show(connection: &Connection, turn: Key, shown: &Shown) -> sql::Result<()> {
    connection
        .prepare_cached(
            "UPDATE turn_index SET user_feedback_status = ?2, feedback_confidence = ?3,
                 rejection_detected_in = (SELECT id FROM turns WHERE key = ?4), verdict = ?5
             WHERE turn = ?1",
        )?
        .run((turn, shown.status.as_word(), shown.confidence, shown.detected_in, shown.verdict))
}
