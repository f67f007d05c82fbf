//! The index of turns: labels for the search of strategies, and the verdict in effect.

use model::{Language, UnitInterval, ValidationOutcome, Vector, VerdictStatus};
use sql::{CachedFact, Connection, Params, RowBatch, RowPart};

use super::Subject;
use crate::row_keys::Key;

/// The confidence of a turn without a verdict.
pub(crate) const UNKNOWN_CONFIDENCE: f64 = 0.5;

pub(crate) fn open(
    connection: &Connection,
    subject: &Subject,
    turn: Key,
    (intent, language): (Option<&str>, Option<Language>),
) -> sql::Result<()> {
    let mut insert = connection.prepare_cached(
        "INSERT INTO turn_index (turn, project, intent, language) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (turn) DO UPDATE SET intent = excluded.intent, language = excluded.language",
    )?;
    let values = (turn, subject.project, intent, language.map(Language::code));
    match connection.recall(turn) {
        Some(Known(None)) => {
            insert.add(RowBatch::Part(OPENED), values)?;
            connection.remember(turn, || Known(Some(Row::default())));
        }
        Some(Known(Some(_))) | None => insert.run(values)?,
    }
    Ok(())
}

const OPENED: RowPart = RowPart {
    table: "turn_index",
    is_new: true,
    columns: &["turn", "project", "intent", "language"],
};
const COMPLETED: RowPart = RowPart {
    table: "turn_index",
    is_new: false,
    columns: &["turn", "completed", "validation_outcome", "quality_score", "has_strategy"],
};
const VERDICT: RowPart = RowPart {
    table: "turn_index",
    is_new: false,
    columns: &[
        "turn",
        "user_feedback_status",
        "feedback_confidence",
        "rejection_detected_in",
        "verdict",
    ],
};
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
    /// The turn that this turn's message corrects.
    pub(crate) corrects: Option<Key>,
    /// The values last written, if known.
    pub(crate) shown: Option<EffectiveVerdict>,
}

/// The verdict in effect.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct EffectiveVerdict {
    pub(crate) status: VerdictStatus,
    pub(crate) confidence: f64,
    pub(crate) detected_in: Option<Key>,
    pub(crate) verdict: Option<i64>,
}

impl Default for Row {
    /// The table's column defaults.
    fn default() -> Self {
        let (status, confidence) = (VerdictStatus::Neutral, UNKNOWN_CONFIDENCE);
        let shown = EffectiveVerdict { status, confidence, detected_in: None, verdict: None };
        Self { review: None, corrects: None, shown: Some(shown) }
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
    connection.find_row_with(
        "SELECT review, corrects FROM turn_index WHERE turn = ?1",
        [turn],
        |row| Ok(Row { review: row.get(0)?, corrects: row.get(1)?, shown: None }),
    )
}

/// Stores the turn that a message corrects. The similarity index combines the vectors of both.
pub(crate) fn set_corrected(
    connection: &Connection,
    message: Key,
    corrects: Option<Key>,
) -> sql::Result<()> {
    let Some(before) = row(connection, message)? else { return Ok(()) };
    if before.corrects == corrects {
        return Ok(());
    }
    connection.run("UPDATE turn_index SET corrects = ?2 WHERE turn = ?1", (message, corrects))?;
    // Touches the row so that the similarity index is updated.
    connection.run("UPDATE turn_vectors SET model = model WHERE turn = ?1", [message])?;
    if let Some(Known(Some(known))) = connection.recall(message) {
        connection.remember(message, || Known(Some(Row { corrects, ..known })));
    }
    Ok(())
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
        "UPDATE turn_index SET completed = ?2, validation_outcome = ?3, quality_score = ?4,
             has_strategy = ?5
         WHERE turn = ?1",
    )?;
    let outcome = assessment.outcome.map(ValidationOutcome::code);
    let quality = assessment.quality.map(UnitInterval::get);
    let values = (turn, true, outcome, quality, assessment.has_strategy);
    match connection.recall(turn) {
        Some(Known(Some(_))) => update.add(RowBatch::Part(COMPLETED), values),
        Some(Known(None)) => Ok(()),
        None => update.run(values),
    }
}

/// Changes the row of a turn. A turn that is not open has none yet. Its statement is not queued
/// either, because the row of its opening would be sent before it.
pub(crate) fn change_row(
    connection: &Connection,
    turn: Key,
    sql: &str,
    values: impl Params,
) -> sql::Result<()> {
    match connection.recall(turn) {
        Some(Known(None)) => Ok(()),
        Some(Known(Some(_))) | None => connection.run(sql, values),
    }
}

pub(crate) fn set_vector(connection: &Connection, turn: Key, vector: &Vector) -> sql::Result<()> {
    connection.add_row(
        "INSERT INTO turn_vectors (turn, model, vector) VALUES (?1, ?2, ?3)
         ON CONFLICT (turn) DO UPDATE SET model = excluded.model, vector = excluded.vector",
        RowBatch::Each(MANY_VECTORS),
        (turn, &**vector.model(), vector_index::encode(vector.values())),
    )
}

/// Writes the verdict in effect.
pub(crate) fn write_verdict(
    connection: &Connection,
    turn: Key,
    shown: &EffectiveVerdict,
) -> sql::Result<()> {
    let (status, confidence) = (shown.status.as_word(), shown.confidence);
    if shown.detected_in.is_none() && matches!(connection.recall(turn), Some(Known(Some(_)))) {
        return connection.add_row(
            "UPDATE turn_index SET user_feedback_status = ?2, feedback_confidence = ?3,
                 rejection_detected_in = ?4, verdict = ?5
             WHERE turn = ?1",
            RowBatch::Part(VERDICT),
            (turn, status, confidence, None::<&str>, shown.verdict),
        );
    }
    connection.run(
        "UPDATE turn_index SET user_feedback_status = ?2, feedback_confidence = ?3,
             rejection_detected_in = (SELECT id FROM turns WHERE key = ?4), verdict = ?5
         WHERE turn = ?1",
        (turn, status, confidence, shown.detected_in, shown.verdict),
    )?;
    // A later verdict in the same group must not be sent before this one.
    connection.fence_pending();
    Ok(())
}
