//! Reads one labelled turn.

use model::{
    Body, ConversationId, CorrectionType, EventId, ExperimentId, InteractionKind, Kind, Origin,
    Position, Source, Timestamp, TurnId, Type, UnitInterval, Vector, VerdictStatus,
};
use serde_json::Value;
use sql::{Connection, Row};
use vector_index::unpack;

use crate::error::StoreError;
use crate::queries::labelled_turns::{
    GivenCorrection, GivenRating, GivenVerdict, LabelledTurn, ServedBy,
};
use crate::queries::similar_turns::TurnNumber;
use crate::row_keys::{Key, PackedId};

/// Corrections read per turn. The newest one counts.
const MAX_CORRECTIONS: i64 = 100;

/// The columns of a turn, for queries by other criteria than the key.
pub(crate) const SELECT: &str = "
    SELECT t.key, t.id, c.id, t.ts, t.opened, json_extract(o.data, '$.text'), json_extract(d.data, '$.response'),
        f.failed, f.corrected, f.heard, i.user_feedback_status, i.feedback_confidence, i.review,
        i.verdict, v.status, v.confidence, json_extract(w.data, '$.correction_type'), x.model, x.vector,
        EXISTS (SELECT 1 FROM experiment_turns b WHERE b.turn = t.key)
    FROM turns t
    JOIN turn_index i ON i.turn = t.key
    LEFT JOIN turn_facts f ON f.turn = t.key
    LEFT JOIN conversations c ON c.key = t.conversation
    LEFT JOIN events o ON o.position = t.opened
    LEFT JOIN events d ON d.position = t.completed
    LEFT JOIN verdicts v ON v.position = i.verdict
    LEFT JOIN events w ON w.position = i.verdict
    LEFT JOIN turn_vectors x ON x.turn = t.key";

/// The turn of a key, if it is open.
pub(crate) fn read_turn(
    connection: &Connection,
    turn: Key,
) -> Result<Option<LabelledTurn>, StoreError> {
    let sql = format!("{SELECT} WHERE t.key = ?1");
    let mut select = connection.prepare_cached(&sql)?;
    let mut rows = select.query([turn])?;
    rows.next()?.map(|row| read(connection, &row)).transpose()
}

/// Reads a row of `SELECT` and the related tables.
pub(crate) fn read(connection: &Connection, row: &Row<'_>) -> Result<LabelledTurn, StoreError> {
    let turn: Key = row.get(0)?;
    let conversation = row.get::<_, Option<String>>(2)?.map(ConversationId::new).transpose();
    let flag = |column| Ok::<_, sql::Error>(row.get::<_, Option<bool>>(column)?.unwrap_or(false));
    let (corrected, heard) = (flag(8)?, flag(9)?);
    let (corrections, regenerated) = match corrected || heard {
        true => done_about(connection, turn)?,
        false => (Vec::new(), false),
    };
    let status: String = row.get(10)?;
    let review: Option<u8> = row.get(12)?;
    Ok(LabelledTurn {
        number: TurnNumber(turn),
        turn: TurnId::new(row.get::<_, String>(1)?).map_err(|_| unreadable("turn id"))?,
        conversation: conversation.map_err(|_| unreadable("conversation id"))?,
        asked_at: Timestamp::from_micros(row.get(3)?),
        opened: Position(row.get::<_, i64>(4)? as u64),
        question: row.get::<_, Option<String>>(5)?.unwrap_or_default(),
        answer: row.get::<_, Option<String>>(6)?.unwrap_or_default(),
        failed: row.get::<_, Option<u8>>(7)?.unwrap_or(0) > 0,
        status: VerdictStatus::from_word(&status).ok_or_else(|| unreadable("status"))?,
        confidence: unit(row.get(11)?)?,
        review: review.and_then(VerdictStatus::from_code),
        verdict: verdict(row)?,
        rating: rating(connection, turn)?,
        corrections,
        regenerated,
        arms: if row.get(19)? { arms(connection, turn)? } else { Vec::new() },
        vector: vector(row)?,
    })
}

fn verdict(row: &Row<'_>) -> Result<Option<GivenVerdict>, StoreError> {
    let (Some(position), Some(status), Some(confidence)) =
        (row.get::<_, Option<i64>>(13)?, row.get::<_, Option<u8>>(14)?, row.get(15)?)
    else {
        return Ok(None);
    };
    let correction_type: Option<String> = row.get(16)?;
    Ok(Some(GivenVerdict {
        position: Position(position as u64),
        status: VerdictStatus::from_code(status).ok_or_else(|| unreadable("verdict"))?,
        correction_type: correction_type.as_deref().and_then(CorrectionType::from_word),
        confidence: unit(confidence)?,
    }))
}

fn vector(row: &Row<'_>) -> Result<Option<Vector>, StoreError> {
    let (Some(model), Some(bytes)) =
        (row.get::<_, Option<String>>(17)?, row.get::<_, Option<Vec<u8>>>(18)?)
    else {
        return Ok(None);
    };
    Ok(unpack(&bytes).map(|values| Vector::new(model.into(), values)))
}

/// The mean of the users' ratings, otherwise the latest rating of a machine of the application. Our
/// detector's reading of a message is a verdict, not a rating.
fn rating(connection: &Connection, turn: Key) -> Result<Option<GivenRating>, StoreError> {
    let mut select = connection.prepare_cached(
        "SELECT origin, position, rating, confidence, ts FROM reactions
         WHERE turn = ?1 AND (origin = ?2 OR detected_in IS NULL)
         ORDER BY origin = ?2 DESC, position DESC",
    )?;
    let user = Origin::User.code();
    let mut rows = select.query((turn, user))?;
    let mut latest: Option<GivenRating> = None;
    let mut ratings = Vec::new();
    while let Some(row) = &rows.next()? {
        let is_users = row.get::<_, u8>(0)? == user;
        if latest.is_some() && !is_users {
            break;
        }
        let value = row.get(2)?;
        ratings.push(value);
        latest = latest.or(Some(GivenRating {
            position: Position(row.get::<_, i64>(1)? as u64),
            value: unit(value)?,
            confidence: unit(row.get(3)?)?,
            when: Timestamp::from_micros(row.get(4)?),
        }));
    }
    let Some(latest) = latest else { return Ok(None) };
    let mean = ratings.iter().sum::<f64>() / ratings.len() as f64;
    Ok(Some(GivenRating { value: unit(mean)?, ..latest }))
}

/// The variants that served a turn, oldest first.
fn arms(connection: &Connection, turn: Key) -> Result<Vec<ServedBy>, StoreError> {
    let mut select = connection.prepare_cached(
        "SELECT x.id, x.definition, b.variant
         FROM experiment_turns b JOIN experiments x ON x.key = b.experiment
         WHERE b.turn = ?1 ORDER BY b.experiment",
    )?;
    let mut rows = select.query([turn])?;
    let mut found = Vec::new();
    while let Some(row) = &rows.next()? {
        let id = ExperimentId::new(row.get::<_, String>(0)?);
        let definition = row.get_ref(1)?.as_str().map_err(|_| unreadable("experiment"))?;
        let definition: Value =
            serde_json::from_str(definition).map_err(|_| unreadable("experiment"))?;
        let variant = &definition["variants"][row.get::<_, i64>(2)? as usize]["name"];
        // A stored definition that is no longer valid names no variant.
        let (Some(name), Some(variant)) = (definition["name"].as_str(), variant.as_str()) else {
            continue;
        };
        let experiment = id.map_err(|_| unreadable("experiment"))?;
        found.push(ServedBy { experiment, name: name.to_owned(), variant: variant.to_owned() });
    }
    Ok(found)
}

/// Corrections of an answer, and whether it was regenerated.
fn done_about(
    connection: &Connection,
    turn: Key,
) -> Result<(Vec<GivenCorrection>, bool), StoreError> {
    let mut select = connection.prepare_cached(
        "SELECT e.position, t.id, e.ts, e.type, e.source, e.data, e.id, c.id
         FROM events e JOIN turns t ON t.key = e.turn
         LEFT JOIN conversations c ON c.key = t.conversation
         WHERE e.turn = ?1 AND (e.source IN (?2, ?3) OR e.type = ?4)
         ORDER BY e.position DESC LIMIT ?5",
    )?;
    let mut rows = select.query((
        turn,
        Source::UserCorrection.code(),
        Source::UserInteraction.code(),
        Type::Interaction.code(),
        MAX_CORRECTIONS,
    ))?;
    let (mut corrections, mut regenerated) = (Vec::new(), false);
    while let Some(row) = &rows.next()? {
        match body(row, 3)? {
            Some(Body::Interaction(done)) => {
                regenerated |= done.kind == InteractionKind::Regenerate;
            }
            Some(_) => corrections.extend(correction(row)?),
            None => {}
        }
    }
    corrections.reverse();
    Ok((corrections, regenerated))
}

/// The correction at a position, unless it was erased.
pub(crate) fn correction_at(
    connection: &Connection,
    project: Key,
    position: Position,
) -> Result<Option<GivenCorrection>, StoreError> {
    let sql = "SELECT e.position, t.id, e.ts, e.type, e.source, e.data, e.id, c.id
         FROM events e LEFT JOIN turns t ON t.key = e.turn
         LEFT JOIN conversations c ON c.key = e.conversation
         WHERE e.position = ?1 AND e.project = ?2";
    Ok(connection.find_row_with(sql, (position.0 as i64, project), correction)?.flatten())
}

/// Reads position, turn, time, type, source, data, id and conversation.
fn correction(row: &Row<'_>) -> Result<Option<GivenCorrection>, StoreError> {
    let Some(Body::Correction(given)) = body(row, 3)? else { return Ok(None) };
    if given.corrected.is_empty() {
        return Ok(None);
    }
    let turn = row.get::<_, Option<String>>(1)?.map(TurnId::new).transpose();
    let conversation = row.get::<_, Option<String>>(7)?.map(ConversationId::new).transpose();
    let event = PackedId::read(row, 6)?.and_then(|id| EventId::new(id).ok());
    let given = given.into_value();
    Ok(Some(GivenCorrection {
        position: Position(row.get::<_, i64>(0)? as u64),
        event: event.ok_or_else(|| unreadable("event id"))?,
        turn: turn.map_err(|_| unreadable("turn id"))?,
        conversation: conversation.map_err(|_| unreadable("conversation id"))?,
        corrected: given.corrected,
        original: given.original,
        explanation: given.explanation,
        query: given.query,
        when: Timestamp::from_micros(row.get(2)?),
    }))
}

/// Reads type, source and data. `None` for dropped events and for data that is no longer valid.
fn body(row: &Row<'_>, first: usize) -> Result<Option<Body>, StoreError> {
    let Some(event_type) = row.get::<_, Option<u8>>(first)? else { return Ok(None) };
    let (Some(event_type), Some(source)) =
        (Type::from_code(event_type), Source::from_code(row.get(first + 1)?))
    else {
        return Err(unreadable("kind"));
    };
    let data = row.get_ref(first + 2)?.as_str().map_err(|_| unreadable("data"))?;
    let body = Body::parse_stored(Kind { event_type, source }, data);
    Ok(Some(body.map_err(|_| unreadable("data"))?))
}

fn unit(number: f64) -> Result<UnitInterval, StoreError> {
    UnitInterval::new(number).ok_or_else(|| unreadable("confidence"))
}

fn unreadable(what: &str) -> StoreError {
    StoreError::Corrupt(format!("a labelled turn has an invalid {what}"))
}
