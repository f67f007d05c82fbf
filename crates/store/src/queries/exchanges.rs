//! Turns with question, answer and verdict.

use std::collections::HashMap;

use model::{
    Completion, Contrast, ConversationId, Language, Opening, Position, Scope, Strategy, Timestamp,
    TurnHalf, TurnId, UnitInterval, UserId, ValidationOutcome, VerdictStatus,
};
use sql::{Connection, Row, Value, params_from_iter};

use crate::StoredEvent;
use crate::error::{StoreError, Task};
use crate::row_keys::{Key, Table, find_key, find_project, find_scoped_key};
use crate::store::Store;

/// The reception of an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// The verdict in effect.
    pub status: VerdictStatus,
    pub confidence: UnitInterval,
    pub rejection_detected_in: Option<TurnId>,
    pub validation_outcome: Option<ValidationOutcome>,
    pub quality: Option<UnitInterval>,
    pub silent: bool,
    /// The finding in effect among messages about the turn.
    pub verdict: Option<Position>,
    /// The user's words: with the reaction, otherwise in the message that was read.
    pub user_said: Option<String>,
    /// The reviewer's verdict and its position.
    pub review: Option<(VerdictStatus, Position)>,
}

impl Default for Standing {
    /// The standing of a turn that nothing is known about.
    fn default() -> Self {
        Self {
            status: VerdictStatus::Neutral,
            confidence: UnitInterval::HALF,
            rejection_detected_in: None,
            validation_outcome: None,
            quality: None,
            silent: false,
            verdict: None,
            user_said: None,
            review: None,
        }
    }
}

/// A turn with its two halves.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredExchange {
    pub turn: TurnId,
    pub conversation: Option<ConversationId>,
    pub user: Option<UserId>,
    pub ts: Timestamp,
    /// Empty when the event was dropped or erased.
    pub opening: Opening,
    /// The question's language, if it was detected.
    pub language: Option<Language>,
    pub answered_at: Option<Timestamp>,
    /// `None` without an answer, or when it was dropped.
    pub completion: Option<Completion>,
    pub opened: Position,
    pub standing: Standing,
}

/// Selects turns by their keys.
#[derive(Clone, Debug)]
pub struct ExchangeQuery {
    pub scope: Scope,
    pub conversation: Option<ConversationId>,
    pub user: Option<UserId>,
    pub until: Timestamp,
    /// Opened before this position, and answered before it when `only_answered` is set.
    pub before: Option<Position>,
    /// The end of the previous page: time and opening position.
    pub older_than: Option<(Timestamp, Position)>,
    pub only_answered: bool,
    pub limit: usize,
}

/// The strategy of an answer and its reception.
#[derive(Clone, Debug, PartialEq)]
pub struct Habit {
    pub strategy: Option<Strategy>,
    pub status: VerdictStatus,
    pub confidence: UnitInterval,
    /// The user's preferred alternative, if stated.
    pub contrast: Option<Contrast>,
}

impl Store {
    /// The matching turns, newest first. A query without conversation and user matches nothing.
    pub fn exchanges(&self, query: ExchangeQuery) -> Task<'_, Vec<StoredExchange>> {
        let most = query.limit;
        self.pool.run_some(most, move |connection| matching(connection, SELECT, &query, read))
    }

    /// Turns in the order of `ids`; unknown ones are skipped.
    pub fn exchanges_by_id(
        &self,
        scope: &Scope,
        turns: Vec<TurnId>,
    ) -> Task<'_, Vec<StoredExchange>> {
        let scope = scope.clone();
        self.pool.run_some(turns.len(), move |connection| {
            let Some(project) = find_project(connection, &scope)? else { return Ok(Vec::new()) };
            let mut found = Vec::with_capacity(turns.len());
            for turn in turns {
                if let Some(key) = find_key(connection, Table::Turns, project, turn.as_str())? {
                    found.extend(by_key(connection, project, key)?);
                }
            }
            Ok(found)
        })
    }

    /// The newest finding that a turn's message is about another turn.
    pub fn message_verdict(
        &self,
        scope: &Scope,
        message: &TurnId,
    ) -> Task<'_, Option<StoredEvent>> {
        let (scope, message) = (scope.clone(), message.clone());
        self.pool.run_short(move |connection| {
            let key = find_scoped_key(connection, &scope, Table::Turns, message.as_str())?;
            let Some(key) = key else { return Ok(None) };
            let select = "SELECT position FROM verdicts WHERE detected_in = ?1";
            let Some(position) = connection.find_row(select, [key])? else { return Ok(None) };
            crate::event_rows::event_at(connection, &scope, position)
        })
    }

    /// The matching turns in short form.
    pub fn habits(&self, query: ExchangeQuery) -> Task<'_, Vec<Habit>> {
        self.pool.run_some(query.limit, move |connection| {
            matching(connection, HABITS, &query, |row| {
                let (strategy, status, confidence, contrast): (
                    Option<String>,
                    String,
                    f64,
                    Option<String>,
                ) = row.read()?;
                Ok(Habit {
                    strategy: strategy.and_then(|text| serde_json::from_str(&text).ok()),
                    status: read_status(&status)?,
                    confidence: read_confidence(confidence)?,
                    contrast: contrast.and_then(|text| serde_json::from_str(&text).ok()),
                })
            })
        })
    }
}

pub(super) const SELECT: &str = "
    SELECT t.id, c.id, u.id, t.ts, o.data, d.ts, d.data, i.user_feedback_status,
        i.feedback_confidence, i.rejection_detected_in, i.validation_outcome, i.quality_score,
        i.silent, i.verdict, i.review, i.reviewed,
        coalesce((
            SELECT json_extract(e.data, '$.text') FROM reactions r
            JOIN events e ON e.position = r.position
            WHERE r.turn = t.key AND r.origin = 1 ORDER BY r.position DESC LIMIT 1),
            json_extract(v.data, '$.user_said')), t.opened, t.key, i.language
    FROM turns t
    JOIN turn_index i ON i.turn = t.key
    LEFT JOIN conversations c ON c.key = t.conversation
    LEFT JOIN users u ON u.key = t.user
    LEFT JOIN events o ON o.position = t.opened
    LEFT JOIN events d ON d.position = t.completed
    LEFT JOIN events v ON v.position = i.verdict";

const HABITS: &str = "
    SELECT json_extract(d.data, '$.strategy'), i.user_feedback_status, i.feedback_confidence,
        json_extract(v.data, '$.contrast')
    FROM turns t
    JOIN turn_index i ON i.turn = t.key
    LEFT JOIN events d ON d.position = t.completed
    LEFT JOIN events v ON v.position = i.verdict";

fn matching<T>(
    connection: &Connection,
    columns: &str,
    query: &ExchangeQuery,
    read: impl Fn(&Row<'_>) -> Result<T, StoreError>,
) -> Result<Vec<T>, StoreError> {
    let Some(project) = find_project(connection, &query.scope)? else { return Ok(Vec::new()) };
    let ids = [
        (Table::Conversations, query.conversation.as_ref().map(|id| id.as_str()), "t.conversation"),
        (Table::Users, query.user.as_ref().map(|id| id.as_str()), "t.user"),
    ];
    let mut terms = Vec::new();
    let mut values: Vec<Value> = Vec::new();
    for (table, id, column) in ids {
        let Some(id) = id else { continue };
        let Some(key) = find_key(connection, table, project, id)? else { return Ok(Vec::new()) };
        terms.push(format!("{column} = ?"));
        values.push(key.into());
    }
    if terms.is_empty() {
        return Ok(Vec::new());
    }
    if query.only_answered {
        terms.push("t.completed IS NOT NULL".into());
    }
    if let Some(before) = query.before {
        terms.push("t.opened < ?".into());
        values.push((before.0 as i64).into());
        if query.only_answered {
            terms.push("t.completed < ?".into());
            values.push((before.0 as i64).into());
        }
    }
    if let Some((ts, opened)) = query.older_than {
        terms.push("(t.ts, t.opened) < (?, ?)".into());
        values.extend([Value::from(ts.as_micros()), Value::from(opened.0 as i64)]);
    }
    values.extend([Value::from(query.until.as_micros()), Value::from(query.limit as i64)]);
    let sql = format!(
        "{columns} WHERE {} AND t.ts <= ? ORDER BY t.ts DESC, t.opened DESC LIMIT ?",
        terms.join(" AND ")
    );
    connection.read_rows_with(&sql, params_from_iter(values), read)
}

/// The turn of a key, if it is open and belongs to the project.
pub(crate) fn by_key(
    connection: &Connection,
    project: Key,
    turn: Key,
) -> Result<Option<StoredExchange>, StoreError> {
    let sql = format!("{SELECT} WHERE t.key = ?1 AND t.project = ?2");
    connection.find_row_with(&sql, [turn, project], read)
}

/// Turns by key, in one query; unopened ones are skipped.
pub(crate) fn by_keys(
    connection: &Connection,
    turns: &[Key],
) -> Result<HashMap<Key, StoredExchange>, StoreError> {
    if turns.is_empty() {
        return Ok(HashMap::new());
    }
    // The numbers are keys, not input.
    let keys: Vec<String> = turns.iter().map(Key::to_string).collect();
    let sql = format!("{SELECT} WHERE t.key IN ({})", keys.join(","));
    let rows = connection
        .prepare(&sql)?
        .read_rows_with((), |row| Ok::<_, StoreError>((row.get(18)?, read(row)?)))?;
    Ok(rows.into_iter().collect())
}

fn unreadable(what: &str) -> StoreError {
    StoreError::Corrupt(format!("turn_index has an invalid {what}"))
}

pub(super) fn read_status(word: &str) -> Result<VerdictStatus, StoreError> {
    VerdictStatus::from_word(word).ok_or_else(|| unreadable("status"))
}

fn read_confidence(value: f64) -> Result<UnitInterval, StoreError> {
    UnitInterval::new(value).ok_or_else(|| unreadable("confidence"))
}

pub(super) fn turn_id(text: String) -> Result<TurnId, StoreError> {
    TurnId::new(text).map_err(|_| unreadable("turn id"))
}

pub(super) fn read(row: &Row<'_>) -> Result<StoredExchange, StoreError> {
    let text = |column| row.get::<_, Option<String>>(column);
    let conversation = text(1)?.map(ConversationId::new).transpose();
    let user = text(2)?.map(UserId::new).transpose();
    let answered_at: Option<i64> = row.get(5)?;
    let language: Option<u8> = row.get(19)?;
    Ok(StoredExchange {
        turn: turn_id(row.get(0)?)?,
        conversation: conversation.map_err(|_| unreadable("conversation id"))?,
        user: user.map_err(|_| unreadable("user id"))?,
        ts: Timestamp::from_micros(row.get(3)?),
        opening: match half(text(4)?)? {
            Some(TurnHalf::Opened(opening)) => opening,
            Some(TurnHalf::Completed(_)) => return Err(unreadable("opening")),
            None => Opening::default(),
        },
        language: language.and_then(Language::from_code),
        answered_at: answered_at.map(Timestamp::from_micros),
        completion: match half(text(6)?)? {
            Some(TurnHalf::Completed(completion)) => Some(*completion),
            Some(TurnHalf::Opened(_)) => return Err(unreadable("answer")),
            None => None,
        },
        opened: Position(row.get::<_, i64>(17)? as u64),
        standing: standing(row)?,
    })
}

fn half(data: Option<String>) -> Result<Option<TurnHalf>, StoreError> {
    let read = |data: String| serde_json::from_str(&data).map_err(|_| unreadable("turn"));
    data.map(read).transpose()
}

fn standing(row: &Row<'_>) -> Result<Standing, StoreError> {
    let status: String = row.get(7)?;
    let outcome: Option<u8> = row.get(10)?;
    let position = |column| -> sql::Result<Option<Position>> {
        Ok(row.get::<_, Option<i64>>(column)?.map(|at| Position(at as u64)))
    };
    let review: Option<u8> = row.get(14)?;
    Ok(Standing {
        status: read_status(&status)?,
        confidence: read_confidence(row.get(8)?)?,
        rejection_detected_in: row.get::<_, Option<String>>(9)?.map(turn_id).transpose()?,
        validation_outcome: outcome.and_then(ValidationOutcome::from_code),
        quality: row.get::<_, Option<f64>>(11)?.and_then(UnitInterval::new),
        silent: row.get(12)?,
        verdict: position(13)?,
        user_said: crate::event_rows::read_text(row, 16)?,
        review: review.and_then(VerdictStatus::from_code).zip(position(15)?),
    })
}
