//! Queries of active reactions.

use model::{
    ConversationId, EventId, Origin, Position, Reaction, Scope, Timestamp, TurnId, UnitInterval,
    UserId, Window,
};
use sql::{Connection, Row, Value, params_from_iter};

use crate::error::{StoreError, Task};
use crate::event_rows::read_text;
use crate::row_keys::{Key, PackedId, Table, find_key, find_project, find_turn_user};
use crate::store::Store;

#[derive(Clone, Debug, PartialEq)]
pub struct StoredReaction {
    /// The position of its event.
    pub position: Position,
    pub event: EventId,
    pub turn: TurnId,
    pub conversation: Option<ConversationId>,
    pub user: Option<UserId>,
    pub origin: Origin,
    pub reaction: Reaction,
    pub confidence: UnitInterval,
    pub ts: Timestamp,
    pub text: Option<String>,
    pub track: Option<String>,
    pub bundle: Option<String>,
    pub user_type: Option<String>,
}

/// Selects reactions. An empty filter matches all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReactionFilter {
    pub user: Option<UserId>,
    pub origin: Option<Origin>,
    pub reaction: Option<Reaction>,
}

#[derive(Clone, Debug)]
pub struct ConversationQuery {
    pub scope: Scope,
    pub conversation: ConversationId,
    pub turns: Option<Vec<TurnId>>,
    pub since: Timestamp,
    /// The newest when there are more.
    pub limit: usize,
}

/// A search by indexed fields, newest first.
#[derive(Clone, Debug)]
pub struct ReactionSearch {
    pub scope: Scope,
    pub filter: ReactionFilter,
    pub conversation: Option<ConversationId>,
    pub turn: Option<TurnId>,
    pub track: Option<String>,
    pub window: Window,
    /// The end of the previous page: time and position.
    pub before: Option<(Timestamp, Position)>,
    pub limit: usize,
}

impl Store {
    /// The reaction of a user on a turn, by default of the turn's user.
    pub fn standing_reaction(
        &self,
        scope: &Scope,
        turn: &TurnId,
        user: Option<&UserId>,
    ) -> Task<'_, Option<StoredReaction>> {
        let (scope, turn, user) = (scope.clone(), turn.clone(), user.cloned());
        self.pool.run_short(move |connection| {
            let Some(project) = find_project(connection, &scope)? else { return Ok(None) };
            let turn = find_key(connection, Table::Turns, project, turn.as_str())?;
            let Some(turn) = turn else { return Ok(None) };
            let user = match user {
                None => find_turn_user(connection, project, turn)?,
                Some(user) => match find_key(connection, Table::Users, project, user.as_str())? {
                    Some(key) => Some(key),
                    None => return Ok(None),
                },
            };
            let condition = Where::default()
                .and("r.turn = ?", turn)
                .and("r.origin = ?", i64::from(Origin::User.code()))
                .and("r.user IS NOT DISTINCT FROM ?", user);
            Ok(select(connection, condition, "LIMIT 1")?.pop())
        })
    }

    /// Reactions of one conversation, oldest first.
    pub fn conversation_reactions(
        &self,
        query: ConversationQuery,
    ) -> Task<'_, Vec<StoredReaction>> {
        self.pool.run(move |connection| of_conversation(connection, &query))
    }

    /// Reactions that match a search, newest first.
    pub fn search_reactions(&self, query: ReactionSearch) -> Task<'_, Vec<StoredReaction>> {
        self.pool.run(move |connection| search(connection, &query))
    }
}

const COLUMNS: &str =
    "r.position, r.event, t.id, c.id, u.id, r.origin, r.reaction, r.confidence, r.ts,
        coalesce(json_extract(e.data, '$.text'), json_extract(e.data, '$.comment')),
        t.track, t.bundle, t.user_type";
const JOINS: &str = "LEFT JOIN events e ON e.position = r.position
    JOIN turns t ON t.key = r.turn
    LEFT JOIN conversations c ON c.key = r.conversation
    LEFT JOIN users u ON u.key = r.user";

#[derive(Debug, Default)]
pub(crate) struct Where {
    terms: Vec<&'static str>,
    values: Vec<Value>,
}

impl Where {
    pub(crate) fn and(self, term: &'static str, value: impl Into<Value>) -> Self {
        self.and_all(term, [value.into()])
    }

    /// Adds a term with several parameters.
    pub(crate) fn and_all<const N: usize>(
        mut self,
        term: &'static str,
        values: [Value; N],
    ) -> Self {
        self.terms.push(term);
        self.values.extend(values);
        self
    }

    pub(crate) fn and_filter(self, filter: &ReactionFilter) -> Self {
        self.and_code("r.origin = ?", filter.origin.map(Origin::code))
            .and_code("r.reaction = ?", filter.reaction.map(Reaction::code))
    }

    fn and_code(self, term: &'static str, code: Option<u8>) -> Self {
        match code {
            None => self,
            Some(code) => self.and(term, i64::from(code)),
        }
    }

    pub(crate) fn sql(&self) -> String {
        self.terms.join(" AND ")
    }

    pub(crate) fn into_values(self) -> Vec<Value> {
        self.values
    }
}

fn of_conversation(
    connection: &Connection,
    query: &ConversationQuery,
) -> Result<Vec<StoredReaction>, StoreError> {
    let Some(project) = find_project(connection, &query.scope)? else { return Ok(Vec::new()) };
    let id = query.conversation.as_str();
    let conversation = find_key(connection, Table::Conversations, project, id)?;
    let Some(conversation) = conversation else { return Ok(Vec::new()) };
    let newest = format!("ORDER BY r.ts DESC, r.position DESC LIMIT {}", query.limit);
    let in_conversation = |turn: Option<Key>| {
        let condition = match turn {
            Some(turn) => Where::default().and("r.turn = ?", turn),
            None => Where::default(),
        };
        condition.and("r.conversation = ?", conversation).and("r.ts >= ?", query.since.as_micros())
    };
    let mut found = Vec::new();
    match &query.turns {
        None => found = select(connection, in_conversation(None), &newest)?,
        Some(turns) => {
            for turn in turns {
                let key = find_key(connection, Table::Turns, project, turn.as_str())?;
                let Some(key) = key else { continue };
                found.extend(select(connection, in_conversation(Some(key)), &newest)?);
                // A later turn may have newer reactions. Holds no more than the limit meanwhile.
                keep_newest(&mut found, query.limit);
            }
        }
    }
    keep_newest(&mut found, query.limit);
    Ok(found)
}

/// Keeps the newest reactions, oldest first.
fn keep_newest(found: &mut Vec<StoredReaction>, most: usize) {
    found.sort_by_key(|reaction| (reaction.ts, reaction.position));
    found.drain(..found.len().saturating_sub(most));
}

fn search(
    connection: &Connection,
    query: &ReactionSearch,
) -> Result<Vec<StoredReaction>, StoreError> {
    let Some(project) = find_project(connection, &query.scope)? else { return Ok(Vec::new()) };
    let mut condition = Where::default()
        .and("r.project = ?", project)
        .and("r.ts >= ?", query.window.start.as_micros())
        .and("r.ts <= ?", query.window.end.as_micros())
        .and_filter(&query.filter);
    let ids = [
        (Table::Users, query.filter.user.as_ref().map(UserId::as_str), "r.user = ?"),
        (
            Table::Conversations,
            query.conversation.as_ref().map(ConversationId::as_str),
            "r.conversation = ?",
        ),
        (Table::Turns, query.turn.as_ref().map(TurnId::as_str), "r.turn = ?"),
    ];
    for (table, id, term) in ids {
        let Some(id) = id else { continue };
        let Some(key) = find_key(connection, table, project, id)? else { return Ok(Vec::new()) };
        condition = condition.and(term, key);
    }
    if let Some(track) = &query.track {
        let of_track = "r.turn IN (SELECT key FROM turns WHERE project = r.project AND track = ?)";
        condition = condition.and(of_track, track.clone());
    }
    if let Some((ts, position)) = query.before {
        let (ts, position) = (ts.as_micros(), position.0 as i64);
        // The first term positions the index, the second breaks ties.
        condition = condition
            .and("r.ts <= ?", ts)
            .and_all("(r.ts, r.position) < (?, ?)", [ts.into(), position.into()]);
    }
    let newest = format!("ORDER BY r.ts DESC, r.position DESC LIMIT {}", query.limit);
    select(connection, condition, &newest)
}

/// Reactions that match a condition on `r` and `t`.
pub(crate) fn select(
    connection: &Connection,
    condition: Where,
    order: &str,
) -> Result<Vec<StoredReaction>, StoreError> {
    let sql =
        format!("SELECT {COLUMNS} FROM reactions r {JOINS} WHERE {} {order}", condition.sql());
    connection.read_rows_with(&sql, params_from_iter(condition.into_values()), read)
}

fn read(row: &Row<'_>) -> Result<StoredReaction, StoreError> {
    let position: i64 = row.get(0)?;
    let unreadable = |what: &str| StoreError::Corrupt(format!("reaction {position}: {what}"));
    let text = |column| row.get::<_, Option<String>>(column);
    let event = PackedId::read(row, 1)?.ok_or_else(|| unreadable("event"))?;
    Ok(StoredReaction {
        position: Position(position as u64),
        event: EventId::new(event).map_err(|_| unreadable("event"))?,
        turn: TurnId::new(row.get::<_, String>(2)?).map_err(|_| unreadable("turn"))?,
        conversation: text(3)?
            .map(ConversationId::new)
            .transpose()
            .map_err(|_| unreadable("conversation"))?,
        user: text(4)?.map(UserId::new).transpose().map_err(|_| unreadable("user"))?,
        origin: Origin::from_code(row.get(5)?).ok_or_else(|| unreadable("origin"))?,
        reaction: Reaction::from_code(row.get(6)?).ok_or_else(|| unreadable("reaction"))?,
        confidence: UnitInterval::new(row.get(7)?).ok_or_else(|| unreadable("confidence"))?,
        ts: Timestamp::from_micros(row.get(8)?),
        text: read_text(row, 9)?,
        track: text(10)?,
        bundle: text(11)?,
        user_type: text(12)?,
    })
}
