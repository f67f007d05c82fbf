//! The period report: conversations by their newest matching reaction in a window.
//!
//! A page costs the page. A window that nothing came after has one candidate per conversation, its
//! newest reaction. Otherwise, and with filters, candidates come from the counters by day, which have
//! a few rows per conversation and day however many reactions there are: a conversation is shown at
//! its newest matching reaction and passed over at older ones. A page that would have to pass over
//! too many is cut short and says where to go on.

use std::collections::HashSet;

use event::{ConversationId, Origin, Reaction, Timestamp, Window};

use super::apply::DAY_MICROS;
use super::keys::{Key, Table, find_key, find_project};
use super::reactions::{self, Where};
use crate::error::StoreError;
use crate::read::reactions::{
    ActiveConversation, PeriodMark, PeriodPage, PeriodQuery, ReactionCounts, ReactionFilter,
};
use crate::sql::{self, Connection, OptionalExtension, Value, params_from_iter};

const ORIGINS: [Origin; 2] = [Origin::User, Origin::Machine];
const REACTIONS: [Reaction; 3] = [Reaction::Ok, Reaction::NotOk, Reaction::Neutral];
/// Candidates that one page looks at; beyond that it is cut short and the next one goes on.
const MOST_CANDIDATES: usize = 5_000;
/// Candidates that are read at once.
const STRETCH: usize = 500;
/// Reactions that a page brings along, and that one conversation does.
const MOST_REACTIONS: usize = 10_000;
const MOST_OF_A_CONVERSATION: usize = 1_000;

/// One page.
pub(super) fn page(connection: &Connection, query: &PeriodQuery) -> Result<PeriodPage, StoreError> {
    let nothing = PeriodPage { items: Vec::new(), next: None };
    let Some(project) = find_project(connection, &query.scope)? else { return Ok(nothing) };
    let user = match &query.filter.user {
        None => None,
        Some(user) => match find_key(connection, Table::Users, project, user.as_str())? {
            Some(key) => Some(key),
            None => return Ok(nothing),
        },
    };
    // Counts and reactions are of the same moment, as all of a read is.
    let search = Search { connection, project, user, window: query.window, filter: &query.filter };
    search.page(query)
}

struct Search<'a> {
    connection: &'a Connection,
    project: Key,
    user: Option<Key>,
    window: Window,
    filter: &'a ReactionFilter,
}

impl Search<'_> {
    fn page(&self, query: &PeriodQuery) -> Result<PeriodPage, StoreError> {
        let (mut marks, mut next) = self.marks(query.after, query.limit + 1)?;
        if marks.len() > query.limit {
            marks.truncate(query.limit);
            next = marks.last().copied();
        }
        let (mut items, mut brought) = (Vec::with_capacity(marks.len()), 0);
        for mark in marks {
            if brought >= MOST_REACTIONS {
                next = items.last().map(|last: &ActiveConversation| last.mark);
                break;
            }
            let item = self.show(mark, query.with_reactions)?;
            brought += item.reactions.len();
            items.push(item);
        }
        Ok(PeriodPage { items, next })
    }

    /// The conversations of the page, newest first, and where to go on if looking was cut short.
    fn marks(
        &self,
        after: Option<PeriodMark>,
        limit: usize,
    ) -> Result<(Vec<PeriodMark>, Option<PeriodMark>), StoreError> {
        let (start, end) = (self.window.start.as_micros(), self.window.end.as_micros());
        let from = after.map_or(end, |mark| mark.last_activity.as_micros().min(end));
        let mut walk = Walk::new(self, after, limit);
        let reactions = "SELECT r.ts, r.conversation FROM reactions r";
        let of_project = || Where::default().and("r.project = ?", self.project);
        let placed = |of: Where| of.and("r.conversation IS DISTINCT FROM ?", Value::Null);
        if let Some(user) = self.user {
            let of_user = placed(of_project().and("r.user = ?", user));
            walk.through(reactions, of_user.and_filter(self.filter), "r.ts", (start, from))?;
            return Ok(walk.end());
        }
        let goes_on = self.goes_on_after(end)?;
        if !goes_on && self.filter.origin.is_none() && self.filter.reaction.is_none() {
            let newest = "SELECT r.last_ts, r.conversation FROM newest r";
            walk.through(newest, of_project(), "r.last_ts", (start, from))?;
            return Ok(walk.end());
        }
        // Counters of the window's last day may already reach beyond the window; that day's
        // candidates are then the reactions themselves.
        let mut counted_from = from;
        if goes_on {
            let last_day = (end.div_euclid(DAY_MICROS) * DAY_MICROS).max(start);
            let of_day = placed(of_project()).and_filter(self.filter);
            walk.through(reactions, of_day, "r.ts", (last_day, from))?;
            counted_from = from.min(last_day - 1);
        }
        let counters = "SELECT r.last_ts, r.conversation FROM activity r";
        let counted = of_project().and_filter(self.filter);
        walk.through(counters, counted, "r.last_ts", (start, counted_from))?;
        Ok(walk.end())
    }

    fn goes_on_after(&self, end: i64) -> sql::Result<bool> {
        self.connection
            .prepare_cached("SELECT 1 FROM newest WHERE project = ?1 AND last_ts > ?2 LIMIT 1")?
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
    fn newest(&self, conversation: Key) -> sql::Result<Option<i64>> {
        let sql = match self.user {
            None => {
                "SELECT ts FROM reactions
                 WHERE conversation = ?1 AND origin = ?2 AND reaction = ?3 AND ts <= ?4
                 ORDER BY ts DESC LIMIT 1"
            }
            Some(_) => {
                "SELECT ts FROM reactions
                 WHERE conversation = ?1 AND origin = ?2 AND reaction = ?3 AND ts <= ?4
                     AND user = ?5
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
            condition = condition.and("r.user = ?", user);
        }
        let newest = format!("ORDER BY r.ts DESC, r.position DESC LIMIT {MOST_OF_A_CONVERSATION}");
        let mut found = reactions::select(self.connection, condition, &newest)?;
        found.reverse();
        Ok(found)
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
        while let Some(row) = &rows.next()? {
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
    ) -> sql::Result<i64> {
        self.connection
            .prepare_cached(
                "SELECT count(*) FROM reactions
                 WHERE conversation = ?1 AND origin = ?2 AND reaction = ?3
                     AND ts >= ?4 AND ts <= ?5",
            )?
            .query_row((conversation, origin.code(), reaction.code(), from, to), |row| row.get(0))
    }

    fn counts_of_user(&self, conversation: Key, user: Key) -> Result<ReactionCounts, StoreError> {
        let (start, end) = (self.window.start.as_micros(), self.window.end.as_micros());
        let mut counts = ReactionCounts::default();
        let mut select = self.connection.prepare_cached(
            "SELECT count(*) FROM reactions
             WHERE conversation = ?1 AND origin = ?2 AND reaction = ?3 AND ts >= ?4 AND ts <= ?5
                 AND user = ?6",
        )?;
        for (origin, reaction) in self.combinations() {
            let values = (conversation, origin.code(), reaction.code(), start, end, user);
            let count: i64 = select.query_row(values, |row| row.get(0))?;
            counts.add(origin, reaction, count as u64);
        }
        Ok(counts)
    }
}

/// Goes through candidates, newest first, until the page is full or enough was looked at.
struct Walk<'a> {
    search: &'a Search<'a>,
    after: Option<PeriodMark>,
    limit: usize,
    looked_at: usize,
    cut_short_at: Option<PeriodMark>,
    seen: HashSet<Key>,
    marks: Vec<PeriodMark>,
}

impl<'a> Walk<'a> {
    fn new(search: &'a Search<'a>, after: Option<PeriodMark>, limit: usize) -> Self {
        let (looked_at, cut_short_at) = (0, None);
        let (seen, marks) = (HashSet::new(), Vec::new());
        Self { search, after, limit, looked_at, cut_short_at, seen, marks }
    }

    fn end(self) -> (Vec<PeriodMark>, Option<PeriodMark>) {
        (self.marks, self.cut_short_at)
    }

    fn is_over(&self) -> bool {
        self.marks.len() >= self.limit || self.cut_short_at.is_some()
    }

    fn through(
        &mut self,
        select: &str,
        condition: Where,
        ts: &str,
        (from, to): (i64, i64),
    ) -> Result<(), StoreError> {
        let sql = format!(
            "{select} WHERE {} AND {ts} >= ? AND {ts} <= ? AND ({ts}, r.conversation) < (?, ?)
             ORDER BY {ts} DESC, r.conversation DESC LIMIT {STRETCH}",
            condition.sql()
        );
        let mut statement = self.search.connection.prepare_cached(&sql)?;
        let condition = condition.into_values();
        // Nobody's key is that large, so everything at `to` is before it.
        let mut before = (to, Key::MAX);
        while !self.is_over() && from <= before.0 {
            let mut values = condition.clone();
            values.extend([from, before.0, before.0, before.1].map(Value::from));
            let mut rows = statement.query(params_from_iter(values))?;
            let mut found = 0;
            while !self.is_over()
                && let Some(row) = &rows.next()?
            {
                before = (row.get(0)?, row.get(1)?);
                let last_activity = Timestamp::from_micros(before.0);
                self.consider(PeriodMark { last_activity, key: before.1 })?;
                found += 1;
            }
            if found < STRETCH {
                break;
            }
        }
        Ok(())
    }

    fn consider(&mut self, mark: PeriodMark) -> Result<(), StoreError> {
        let place = |mark: PeriodMark| (mark.last_activity, mark.key);
        let behind = self.after.is_none_or(|after| place(mark) < place(after));
        if !behind {
            return Ok(());
        }
        self.looked_at += 1;
        // Shown at its newest reaction only: on this page, or on one before.
        let newest = mark.last_activity.as_micros();
        if self.seen.insert(mark.key) && self.search.newest(mark.key)? == Some(newest) {
            self.marks.push(mark);
        }
        if self.looked_at >= MOST_CANDIDATES {
            self.cut_short_at = Some(mark);
        }
        Ok(())
    }
}

fn sort(origin: u8, reaction: u8) -> Result<(Origin, Reaction), StoreError> {
    Origin::from_code(origin)
        .zip(Reaction::from_code(reaction))
        .ok_or_else(|| StoreError::Corrupt("a counter of an unknown sort".into()))
}
