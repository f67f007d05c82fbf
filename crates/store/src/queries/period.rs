//! The period report: conversations by their newest matching reaction in a window.
//!
//! The cost of a page is bounded. When nothing came after the window, each conversation has one
//! candidate, its newest reaction. Otherwise, and with filters, candidates come from the daily
//! counters, with a few rows per conversation and day. A conversation is shown at its newest
//! matching reaction and skipped at older ones. A page that skips too many candidates ends early
//! with a cursor.

mod counts;
mod walk;

use model::{ConversationId, Origin, Reaction, Scope, Timestamp, Window};
use sql::{Connection, Value, params_from_iter};

use crate::error::{StoreError, Task};
use crate::projections::apply::DAY_MICROS;
use crate::queries::reactions::{self, ReactionFilter, StoredReaction, Where};
use crate::row_keys::{Key, Table, find_key, find_project};
use crate::store::Store;

use walk::Walk;

/// The end of a page: a conversation's key and its newest matching reaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeriodCursor {
    pub last_activity: Timestamp,
    pub key: i64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PeriodPage {
    /// Conversations, newest activity first. A page may be short although more follow, when it
    /// examined its maximum of candidates.
    pub items: Vec<ActiveConversation>,
    /// The start of the next page; `None` at the end.
    pub next: Option<PeriodCursor>,
}

/// Selects conversations with matching reactions in a window.
#[derive(Clone, Debug)]
pub struct PeriodQuery {
    pub scope: Scope,
    pub window: Window,
    pub filter: ReactionFilter,
    /// The end of the previous page.
    pub after: Option<PeriodCursor>,
    pub limit: usize,
    pub with_reactions: bool,
}

/// Counts of reactions by origin and kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReactionCounts {
    counts: [[u64; 3]; 2],
}

impl ReactionCounts {
    pub fn add(&mut self, origin: Origin, reaction: Reaction, count: u64) {
        self.counts[Self::row(origin)][Self::column(reaction)] += count;
    }

    pub fn get(&self, origin: Origin, reaction: Reaction) -> u64 {
        self.counts[Self::row(origin)][Self::column(reaction)]
    }

    pub fn of_origin(&self, origin: Origin) -> u64 {
        self.counts[Self::row(origin)].iter().sum()
    }

    pub fn of_reaction(&self, reaction: Reaction) -> u64 {
        self.counts.iter().map(|row| row[Self::column(reaction)]).sum()
    }

    pub fn total(&self) -> u64 {
        self.counts.iter().flatten().sum()
    }

    fn row(origin: Origin) -> usize {
        match origin {
            Origin::User => 0,
            Origin::Machine => 1,
        }
    }

    fn column(reaction: Reaction) -> usize {
        match reaction {
            Reaction::Ok => 0,
            Reaction::NotOk => 1,
            Reaction::Neutral => 2,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct ActiveConversation {
    pub conversation: ConversationId,
    pub mark: PeriodCursor,
    /// The time of its first known turn.
    pub started_at: Option<Timestamp>,
    pub counts: ReactionCounts,
    /// The reactions, oldest first, if requested. Only the newest when there are too many.
    pub reactions: Vec<StoredReaction>,
}

const ORIGINS: [Origin; 2] = [Origin::User, Origin::Machine];
const REACTIONS: [Reaction; 3] = [Reaction::Ok, Reaction::NotOk, Reaction::Neutral];
/// Maximum reactions per page, and per conversation.
const MAX_REACTIONS: usize = 10_000;
const MAX_CONVERSATION_REACTIONS: usize = 1_000;

impl Store {
    /// A page of the period report, newest activity first.
    pub fn active_conversations(&self, query: PeriodQuery) -> Task<'_, PeriodPage> {
        self.pool.run(move |connection| page(connection, &query))
    }
}

fn page(connection: &Connection, query: &PeriodQuery) -> Result<PeriodPage, StoreError> {
    let nothing = PeriodPage { items: Vec::new(), next: None };
    let Some(project) = find_project(connection, &query.scope)? else { return Ok(nothing) };
    let user = match &query.filter.user {
        None => None,
        Some(user) => match find_key(connection, Table::Users, project, user.as_str())? {
            Some(key) => Some(key),
            None => return Ok(nothing),
        },
    };
    // Counts and reactions come from one snapshot.
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
            if brought >= MAX_REACTIONS {
                next = items.last().map(|last: &ActiveConversation| last.mark);
                break;
            }
            let item = self.show(mark, query.with_reactions)?;
            brought += item.reactions.len();
            items.push(item);
        }
        Ok(PeriodPage { items, next })
    }

    /// The conversations of the page, newest first, and a cursor when the search ended early.
    fn marks(
        &self,
        after: Option<PeriodCursor>,
        limit: usize,
    ) -> Result<(Vec<PeriodCursor>, Option<PeriodCursor>), StoreError> {
        let (start, end) = (self.window.start.as_micros(), self.window.end.as_micros());
        let from = after.map_or(end, |mark| mark.last_activity.as_micros().min(end));
        let mut walk = Walk::new(self, after, limit);
        let reactions = "SELECT r.ts, r.conversation FROM reactions r";
        let project_indexes = || Where::default().and("r.project = ?", self.project);
        let placed = |of: Where| of.and("r.conversation IS DISTINCT FROM ?", Value::Null);
        if let Some(user) = self.user {
            let of_user = placed(project_indexes().and("r.user = ?", user));
            walk.visit(reactions, of_user.and_filter(self.filter), "r.ts", (start, from))?;
            return Ok(walk.end());
        }
        let record_failure = self.goes_on_after(end)?;
        if !record_failure && self.filter.origin.is_none() && self.filter.reaction.is_none() {
            let newest = "SELECT r.last_ts, r.conversation FROM newest r";
            walk.visit(newest, project_indexes(), "r.last_ts", (start, from))?;
            return Ok(walk.end());
        }
        // The counters of the window's last day may reach beyond the window, so that day is
        // searched by reactions.
        let mut counted_from = from;
        if record_failure {
            let last_day = (end.div_euclid(DAY_MICROS) * DAY_MICROS).max(start);
            let of_day = placed(project_indexes()).and_filter(self.filter);
            walk.visit(reactions, of_day, "r.ts", (last_day, from))?;
            counted_from = from.min(last_day - 1);
        }
        let counters = "SELECT r.last_ts, r.conversation FROM activity r";
        let counted = project_indexes().and_filter(self.filter);
        walk.visit(counters, counted, "r.last_ts", (start, counted_from))?;
        Ok(walk.end())
    }

    fn goes_on_after(&self, end: i64) -> sql::Result<bool> {
        self.connection.exists(
            "SELECT 1 FROM newest WHERE project = ?1 AND last_ts > ?2 LIMIT 1",
            (self.project, end),
        )
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
        let by_user = if self.user.is_some() { "AND user = ?5" } else { "" };
        let mut select = self.connection.prepare_cached(&format!(
            "SELECT ts FROM reactions
             WHERE conversation = ?1 AND origin = ?2 AND reaction = ?3 AND ts <= ?4 {by_user}
             ORDER BY ts DESC LIMIT 1"
        ))?;
        let end = self.window.end.as_micros();
        let mut newest = None;
        for (origin, reaction) in self.combinations() {
            let values = [conversation, origin.code().into(), reaction.code().into(), end];
            let values = params_from_iter(values.into_iter().chain(self.user));
            let found: Option<i64> = select.find_row_with(values, |row| row.get(0))?;
            newest = newest.max(found);
        }
        Ok(newest)
    }

    fn show(
        &self,
        mark: PeriodCursor,
        with_reactions: bool,
    ) -> Result<ActiveConversation, StoreError> {
        let id: String =
            self.connection.read_row("SELECT id FROM conversations WHERE key = ?1", [mark.key])?;
        let started_at: Option<i64> = self.connection.find_row(
            "SELECT ts FROM turns WHERE conversation = ?1 ORDER BY ts LIMIT 1",
            [mark.key],
        )?;
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

    fn reactions(&self, conversation: Key) -> Result<Vec<StoredReaction>, StoreError> {
        let mut condition = Where::default()
            .and("r.conversation = ?", conversation)
            .and("r.ts >= ?", self.window.start.as_micros())
            .and("r.ts <= ?", self.window.end.as_micros())
            .and_filter(self.filter);
        if let Some(user) = self.user {
            condition = condition.and("r.user = ?", user);
        }
        let newest =
            format!("ORDER BY r.ts DESC, r.position DESC LIMIT {MAX_CONVERSATION_REACTIONS}");
        let mut found = reactions::select(self.connection, condition, &newest)?;
        found.reverse();
        Ok(found)
    }
}
