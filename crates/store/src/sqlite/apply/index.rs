//! The index of turns: what is known of each when strategies are looked for, and whose word counts
//! where several speak.

use event::{Origin, Reaction, UnitInterval, ValidationOutcome, Vector, VerdictStatus};

use super::super::keys::Key;
use super::{Subject, facts};
use crate::sql::{self, Connection, OptionalExtension};
use crate::vectors;

/// Confidence of a turn of which nobody said anything.
const UNKNOWN: f64 = 0.5;

/// The turn begins.
pub(super) fn open(
    connection: &Connection,
    subject: &Subject,
    turn: Key,
    intent: Option<&str>,
) -> sql::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO turn_index (turn, project, intent) VALUES (?1, ?2, ?3)
             ON CONFLICT (turn) DO UPDATE SET intent = excluded.intent",
        )?
        .run((turn, subject.project, intent))?;
    refresh(connection, subject.project, turn)
}

/// What the application's validator said.
#[derive(Clone, Copy, Debug)]
pub(super) struct Assessment {
    pub(super) outcome: Option<ValidationOutcome>,
    pub(super) quality: Option<UnitInterval>,
    pub(super) has_strategy: bool,
}

/// The turn has its answer.
pub(super) fn complete(
    connection: &Connection,
    turn: Key,
    assessment: Assessment,
) -> sql::Result<()> {
    connection
        .prepare_cached(
            "UPDATE turn_index SET completed = 1, validation_outcome = ?2, quality_score = ?3,
                 has_strategy = ?4
             WHERE turn = ?1",
        )?
        .run((
            turn,
            assessment.outcome.map(ValidationOutcome::code),
            assessment.quality.map(UnitInterval::get),
            assessment.has_strategy,
        ))
}

/// The direction of the turn's question.
pub(super) fn set_vector(connection: &Connection, turn: Key, vector: &Vector) -> sql::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO turn_vectors (turn, model, vector) VALUES (?1, ?2, ?3)
             ON CONFLICT (turn) DO UPDATE SET model = excluded.model, vector = excluded.vector",
        )?
        .run((turn, &**vector.model(), vectors::encode(vector.values())))
}

/// Whose word counts: a review, else the latest reaction of a user, else what messages say. Among
/// messages the latest counts; one that only moved on never takes the place of another, and one that
/// says nothing takes the place of none.
pub(super) fn refresh(connection: &Connection, project: Key, turn: Key) -> sql::Result<()> {
    let review: Option<Option<u8>> = connection
        .prepare_cached("SELECT review FROM turn_index WHERE turn = ?1")?
        .query_row([turn], |row| row.get(0))
        .optional()?;
    // Not opened yet: what came before it counts when it is.
    let Some(review) = review else { return Ok(()) };
    let verdict = verdict_in_force(connection, turn)?;
    let by_users = by_users(connection, turn)?;
    let given = review.and_then(VerdictStatus::from_code).or(by_users);
    let (status, confidence) = match (given, &verdict) {
        (Some(status), _) => (status, 1.0),
        (None, Some(verdict)) => (verdict.status, verdict.confidence),
        (None, None) => (VerdictStatus::Neutral, UNKNOWN),
    };
    let rejects = |verdict: &InForce| {
        status == VerdictStatus::Rejected && verdict.status == VerdictStatus::Rejected
    };
    let detected_in = verdict.as_ref().filter(|verdict| rejects(verdict));
    connection
        .prepare_cached(
            "UPDATE turn_index SET user_feedback_status = ?2, feedback_confidence = ?3,
                 rejection_detected_in = (SELECT id FROM turns WHERE key = ?4), verdict = ?5
             WHERE turn = ?1",
        )?
        .run((
            turn,
            status.as_word(),
            confidence,
            detected_in.and_then(|verdict| verdict.detected_in),
            verdict.as_ref().map(|verdict| verdict.position),
        ))?;
    let (ok, not_ok, neutral) = reactions_of_users(connection, turn)?;
    let takes_side = |status: VerdictStatus| status != VerdictStatus::Neutral;
    let sides = by_users
        .filter(|status| takes_side(*status))
        .zip(verdict.map(|verdict| verdict.status).filter(|status| takes_side(*status)));
    let (both, agree) = (sides.is_some(), sides.is_some_and(|(user, machine)| user == machine));
    let opinions = facts::Opinions { ok, not_ok, neutral, status: Some(status), both, agree };
    facts::judge(connection, project, turn, opinions)
}

fn reactions_of_users(connection: &Connection, turn: Key) -> sql::Result<(i64, i64, i64)> {
    connection
        .prepare_cached(
            "SELECT count(CASE WHEN reaction = ?3 THEN 1 END),
                 count(CASE WHEN reaction = ?4 THEN 1 END), count(CASE WHEN reaction = ?5 THEN 1 END)
             FROM reactions WHERE turn = ?1 AND origin = ?2",
        )?
        .query_row(
            (
                turn,
                Origin::User.code(),
                Reaction::Ok.code(),
                Reaction::NotOk.code(),
                Reaction::Neutral.code(),
            ),
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )
}

struct InForce {
    position: i64,
    status: VerdictStatus,
    confidence: f64,
    detected_in: Option<Key>,
}

fn verdict_in_force(connection: &Connection, turn: Key) -> sql::Result<Option<InForce>> {
    let found: Option<(i64, u8, f64, Option<Key>)> = connection
        .prepare_cached(
            "SELECT position, status, confidence, detected_in FROM verdicts WHERE turn = ?1
             ORDER BY status = ?2, moved_on, position DESC LIMIT 1",
        )?
        .query_row((turn, VerdictStatus::Neutral.code()), |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        })
        .optional()?;
    Ok(found.and_then(|(position, status, confidence, detected_in)| {
        let status = VerdictStatus::from_code(status)?;
        Some(InForce { position, status, confidence, detected_in })
    }))
}

fn by_users(connection: &Connection, turn: Key) -> sql::Result<Option<VerdictStatus>> {
    let latest: Option<u8> = connection
        .prepare_cached(
            "SELECT reaction FROM reactions WHERE turn = ?1 AND origin = ?2
             ORDER BY position DESC LIMIT 1",
        )?
        .query_row((turn, Origin::User.code()), |row| row.get(0))
        .optional()?;
    Ok(latest.and_then(Reaction::from_code).map(VerdictStatus::from))
}
