//! The period report: conversations by their newest matching reaction in a window.
//!
//! A page costs the page. Candidates come newest first from the counters by day, which have a few
//! rows per conversation and day however many reactions there are. A conversation is shown at its
//! newest matching reaction; at older ones it is passed over, after one look into an index.

use std::collections::HashSet;

use event::{ConversationId, Origin, Reaction, Timestamp, Window};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, params_from_iter};

use super::apply::DAY_MICROS;
use super::keys::{Key, find_project};
use super::reactions::{self, UnknownUser, Where, user_key};
use crate::error::StoreError;
use crate::read::reactions::{
    ActiveConversation, PeriodMark, PeriodQuery, ReactionCounts, ReactionFilter,
};

const ORIGINS: [Origin; 2] = [Origin::User, Origin::Machine];
const REACTIONS: [Reaction; 3] = [Reaction::Ok, Reaction::NotOk, Reaction::Neutral];

/// One page.
pub(super) fn page(
    connection: &Connection,
    query: &PeriodQuery,
) -> Result<Vec<ActiveConversation>, StoreError> {
    let Some(project) = find_project(connection, &query.scope)? else { return Ok(Vec::new()) };
    let user = match &query.filter.user {
        None => None,
        Some(user) => match user_key(connection, project, user)? {
            Ok(key) => Some(key),
            Err(UnknownUser) => return Ok(Vec::new()),
        },
    };
    // One snapshot, so that counts and reactions are of the same moment.
    let transaction = connection.unchecked_transaction()?;
    let search = Search {
        connection: &transaction,
        project,
        user,
        window: query.window,
        filter: &query.filter,
    };
    let marks = search.marks(query.after, query.limit)?;
    let show = |mark| search.show(mark, query.with_reactions);
    let shown = marks.into_iter().map(show).collect::<Result<_, _>>()?;
    transaction.finish()?;
    Ok(shown)
}

struct Search<'a> {
    connection: &'a Connection,
    project: Key,
    // The outer option: whether a user was asked for. The inner: nobody has no key.
    user: Option<Option<Key>>,
    window: Window,
    filter: &'a ReactionFilter,
}

impl Search<'_> {
    /// The conversations of the page, newest first.
    fn marks(
        &self,
        after: Option<PeriodMark>,
        limit: usize,
    ) -> Result<Vec<PeriodMark>, StoreError> {
        let (start, end) = (self.window.start.as_micros(), self.window.end.as_micros());
        let from = after.map_or(end, |mark| mark.last_activity.as_micros().min(end));
        let mut walk = Walk { search: self, after, limit, seen: HashSet::new(), marks: Vec::new() };
        if let Some(user) = self.user {
            let of_user = Where::default()
                .and("r.project = ?", self.project)
                .and("r.user IS ?", user)
                .and("r.conversation IS NOT ?", Value::Null);
            walk.through(
                "SELECT r.ts, r.conversation FROM reactions r",
                of_user,
                "r.ts",
                start,
                from,
            )?;
            return Ok(walk.marks);
        }
        // Counters of the window's last day may already reach beyond the window; that day's
        // candidates are then the reactions themselves.
        let mut counted_from = from;
        if self.goes_on_after(end)? {
            let last_day = (end.div_euclid(DAY_MICROS) * DAY_MICROS).max(start);
            let of_day = Where::default()
                .and("r.project = ?", self.project)
                .and("r.conversation IS NOT ?", Value::Null);
            walk.through(
                "SELECT r.ts, r.conversation FROM reactions r",
                of_day,
                "r.ts",
                last_day,
                from,
            )?;
            counted_from = from.min(last_day - 1);
        }
        let counted = Where::default().and("r.project = ?", self.project);
        let counters = "SELECT r.last_ts, r.conversation FROM activity r";
        walk.through(counters, counted, "r.last_ts", start, counted_from)?;
        Ok(walk.marks)
    }

    fn goes_on_after(&self, end: i64) -> rusqlite::Result<bool> {
        self.connection
            .prepare_cached("SELECT 1 FROM activity WHERE project = ?1 AND last_ts > ?2 LIMIT 1")?
            .exists((self.project, end))
    }

    fn combinations(&self) -> impl Iterator<Item = (Origin, Reaction)> {
        let (origin, reaction) = (self.filter.origin, self.filter.reaction);
        ORIGINS
            .into_iter()
            .filter(move |one| origin.is_none_or(|wanted| wanted == *one))
            .flat_map(|one| REACTIONS.map(|reaction| (one, reaction)))
            .filter(move |(_, one)| reaction.is_none_or(|wanted| wanted == *one))
    }

    /// The newest matching reaction of a conversation up to the window's end.
    fn newest(&self, conversation: Key) -> rusqlite::Result<Option<i64>> {
        let sql = match self.user {
            None => {
                "SELECT ts FROM reactions
                 WHERE conversation = ?1 AND origin = ?2 AND reaction = ?3 AND ts <= ?4
                 ORDER BY ts DESC LIMIT 1"
            }
            Some(_) => {
                "SELECT ts FROM reactions
                 WHERE conversation = ?1 AND origin = ?2 AND reaction = ?3 AND ts <= ?4
                     AND user IS ?5
                 ORDER BY ts DESC LIMIT 1"
            }
        };
        let mut select = self.connection.prepare_cached(sql)?;
        let end = self.window.end.as_micros();
        let mut newest = None;
        for (origin, reaction) in self.combinations() {
            let mut values: Vec<Value> = vec![
                conversation.into(),
                i64::from(origin.code()).into(),
                i64::from(reaction.code()).into(),
                end.into(),
            ];
            values.extend(self.user.map(Value::from));
            let found: Option<i64> =
                select.query_row(params_from_iter(values), |row| row.get(0)).optional()?;
            newest = newest.max(found);
        }
        Ok(newest)
    }

    fn show(
        &self,
        mark: PeriodMark,
        with_reactions: bool,
    ) -> Result<ActiveConversation, StoreError> {
        let id: String = self
            .connection
            .prepare_cached("SELECT id FROM conversations WHERE key = ?1")?
            .query_row([mark.key], |row| row.get(0))?;
        let started_at: Option<i64> = self
            .connection
            .prepare_cached("SELECT ts FROM turns WHERE conversation = ?1 ORDER BY ts LIMIT 1")?
            .query_row([mark.key], |row| row.get(0))
            .optional()?;
        let unreadable = |_| StoreError::Corrupt(format!("conversation {} has no id", mark.key));
        let shown = if with_reactions { self.reactions(mark.key)? } else { Vec::new() };
        Ok(ActiveConversation {
            conversation: ConversationId::new(id).map_err(unreadable)?,
            mark,
            started_at: started_at.map(Timestamp::from_micros),
            counts: self.counts(mark.key)?,
            reactions: shown,
        })
    }

    fn reactions(
        &self,
        conversation: Key,
    ) -> Result<Vec<crate::read::reactions::StoredReaction>, StoreError> {
        let mut condition = Where::default()
            .and("r.conversation = ?", conversation)
            .and("r.ts >= ?", self.window.start.as_micros())
            .and("r.ts <= ?", self.window.end.as_micros())
            .and_filter(self.filter);
        if let Some(user) = self.user {
            condition = condition.and("r.user IS ?", user);
        }
        reactions::select(self.connection, condition, "ORDER BY r.ts, r.position")
    }

    fn counts(&self, conversation: Key) -> Result<ReactionCounts, StoreError> {
        match self.user {
            None => self.counts_by_day(conversation),
            Some(user) => self.counts_of_user(conversation, user),
        }
    }

    /// Whole days from the counters; of days that the window cuts, the reactions themselves.
    fn counts_by_day(&self, conversation: Key) -> Result<ReactionCounts, StoreError> {
        let (start, end) = (self.window.start.as_micros(), self.window.end.as_micros());
        let mut counts = ReactionCounts::default();
        let mut select = self.connection.prepare_cached(
            "SELECT day, origin, reaction, count, last_ts FROM activity
             WHERE conversation = ?1 AND day >= ?2 AND day <= ?3",
        )?;
        let days = (conversation, start.div_euclid(DAY_MICROS), end.div_euclid(DAY_MICROS));
        let mut rows = select.query(days)?;
        while let Some(row) = rows.next()? {
            let (origin, reaction) = sort(row.get(1)?, row.get(2)?)?;
            if !self.combinations().any(|wanted| wanted == (origin, reaction)) {
                continue;
            }
            let first = row.get::<_, i64>(0)? * DAY_MICROS;
            let whole = first >= start && row.get::<_, i64>(4)? <= end;
            let count = if whole {
                row.get(3)?
            } else {
                let within = (first.max(start), (first + DAY_MICROS - 1).min(end));
                self.count_one_by_one(conversation, origin, reaction, within)?
            };
            counts.add(origin, reaction, count as u64);
        }
        Ok(counts)
    }

    fn count_one_by_one(
        &self,
        conversation: Key,
        origin: Origin,
        reaction: Reaction,
        (from, to): (i64, i64),
    ) -> rusqlite::Result<i64> {
        self.connection
            .prepare_cached(
                "SELECT count(*) FROM reactions
                 WHERE conversation = ?1 AND origin = ?2 AND reaction = ?3
                     AND ts >= ?4 AND ts <= ?5",
            )?
            .query_row((conversation, origin.code(), reaction.code(), from, to), |row| row.get(0))
    }

    fn counts_of_user(
        &self,
        conversation: Key,
        user: Option<Key>,
    ) -> Result<ReactionCounts, StoreError> {
        let (start, end) = (self.window.start.as_micros(), self.window.end.as_micros());
        let mut counts = ReactionCounts::default();
        let mut select = self.connection.prepare_cached(
            "SELECT count(*) FROM reactions
             WHERE conversation = ?1 AND origin = ?2 AND reaction = ?3 AND ts >= ?4 AND ts <= ?5
                 AND user IS ?6",
        )?;
        for (origin, reaction) in self.combinations() {
            let values = (conversation, origin.code(), reaction.code(), start, end, user);
            let count: i64 = select.query_row(values, |row| row.get(0))?;
            counts.add(origin, reaction, count as u64);
        }
        Ok(counts)
    }
}

/// Goes through candidates, newest first, until the page is full.
struct Walk<'a> {
    search: &'a Search<'a>,
    after: Option<PeriodMark>,
    limit: usize,
    seen: HashSet<Key>,
    marks: Vec<PeriodMark>,
}

impl Walk<'_> {
    fn through(
        &mut self,
        select: &str,
        condition: Where,
        ts: &str,
        from: i64,
        to: i64,
    ) -> Result<(), StoreError> {
        if self.marks.len() >= self.limit || from > to {
            return Ok(());
        }
        let condition = condition.and_filter(self.search.filter);
        let sql = format!(
            "{select} WHERE {} AND {ts} >= ? AND {ts} <= ?
             ORDER BY {ts} DESC, r.conversation DESC",
            condition.sql()
        );
        let mut values = condition.into_values();
        values.extend([Value::from(from), Value::from(to)]);
        let mut statement = self.search.connection.prepare_cached(&sql)?;
        let mut rows = statement.query(params_from_iter(values))?;
        while self.marks.len() < self.limit
            && let Some(row) = rows.next()?
        {
            self.consider(row.get(0)?, row.get(1)?)?;
        }
        Ok(())
    }

    fn consider(&mut self, ts: i64, key: Key) -> Result<(), StoreError> {
        let behind =
            self.after.is_none_or(|mark| (ts, key) < (mark.last_activity.as_micros(), mark.key));
        if !behind || self.seen.contains(&key) {
            return Ok(());
        }
        // Shown at its newest reaction only: on this page, or on one before.
        self.seen.insert(key);
        if self.search.newest(key)? == Some(ts) {
            self.marks.push(PeriodMark { last_activity: Timestamp::from_micros(ts), key });
        }
        Ok(())
    }
}

fn sort(origin: u8, reaction: u8) -> Result<(Origin, Reaction), StoreError> {
    Origin::from_code(origin)
        .zip(Reaction::from_code(reaction))
        .ok_or_else(|| StoreError::Corrupt("a counter of an unknown sort".into()))
}
