//! The quality report: from the sums, or turn by turn when it is filtered by users.

mod sums;

use std::collections::BTreeMap;

use model::{Origin, Project, Reaction, Scope, Tenant, TurnId, UserId, Window};
use sql::{Connection, Value, params_from_iter};

use crate::error::{StoreError, Task};
use crate::projections::apply::{Facts, HOUR_MICROS, hour_number};
use crate::projections::counters::QualityCounts;
use crate::row_keys::{Key, Table, find_key, find_projects, read_project_scope};
use crate::store::Store;

/// Selects the turns that count.
#[derive(Clone, Debug)]
pub struct QualityQuery {
    pub tenant: Tenant,
    /// `None`: all projects.
    pub project: Option<Project>,
    pub window: Window,
    pub model: Option<String>,
    /// `id` for all versions of a prompt, or `id@version`.
    pub prompt: Option<String>,
    /// Filters by user. Events without a turn then do not count.
    pub users: Option<QualityUsers>,
    pub by: ReactionTime,
    pub bucket_hours: u32,
    /// Shifts the buckets by hours. Weeks start on Monday, but 1970 started on a Thursday.
    pub bucket_shift: u32,
}

/// The time that places a user's reaction in a window. Everything else counts by the turn's time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReactionTime {
    /// The time of the turn it is about.
    #[default]
    Turn,
    /// The time at which it was given.
    Reaction,
}

#[derive(Clone, Debug, PartialEq)]
pub enum QualityUsers {
    One(UserId),
    With(Vec<(String, String)>),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QualityBucket {
    /// The first hour, counted from 1970.
    pub hour: i64,
    pub counts: QualityCounts,
    /// Latencies: histogram step and count, sorted by step.
    pub waits: Vec<(u32, i64)>,
}

/// Answers by one model with one prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnsweredBy {
    /// Empty when it was not reported.
    pub model: String,
    /// `id@version`; empty when it was not reported.
    pub prompt: String,
    pub answered: u64,
}

impl Store {
    /// Buckets in order of time, without empty ones.
    pub fn quality(&self, query: QualityQuery) -> Task<'_, Vec<QualityBucket>> {
        self.pool.run(move |connection| Report { connection, query: &query }.buckets())
    }

    /// Turns with a problem in the window, newest first. With a user filter all turns are read.
    pub fn negative_turns(
        &self,
        query: QualityQuery,
        limit: usize,
    ) -> Task<'_, Vec<(Scope, TurnId)>> {
        self.pool.run(move |connection| Report { connection, query: &query }.negative_turns(limit))
    }

    /// Questions of the newest answered turns without a problem. Ignores the user filter.
    pub fn passed_questions(&self, query: QualityQuery, limit: usize) -> Task<'_, Vec<String>> {
        self.pool
            .run(move |connection| Report { connection, query: &query }.passed_questions(limit))
    }

    pub fn answered_by(&self, query: QualityQuery) -> Task<'_, Vec<AnsweredBy>> {
        self.pool.run(move |connection| Report { connection, query: &query }.answered_by())
    }

    /// Answers per model and bucket: model, first hour and count. Ignores the user filter.
    pub fn answers_over_time(&self, query: QualityQuery) -> Task<'_, Vec<(String, i64, u64)>> {
        self.pool.run(move |connection| Report { connection, query: &query }.answers_over_time())
    }

    /// Answers per strategy name. Ignores the user filter.
    pub fn answered_by_strategy(&self, query: QualityQuery) -> Task<'_, Vec<(String, u64)>> {
        self.pool.run(move |connection| Report { connection, query: &query }.answered_by_strategy())
    }
}

struct Report<'a> {
    connection: &'a Connection,
    query: &'a QualityQuery,
}

/// By first hour.
type Buckets = BTreeMap<i64, QualityBucket>;

impl Report<'_> {
    fn buckets(&self) -> Result<Vec<QualityBucket>, StoreError> {
        let mut buckets = Buckets::new();
        for project in self.projects()? {
            match &self.query.users {
                None => {
                    self.add_counts(project, &mut buckets)?;
                    self.add_waits(project, &mut buckets)?;
                }
                Some(users) => {
                    for user in self.user_keys(project, users)? {
                        self.add_turns(user, &mut buckets)?;
                    }
                }
            }
        }
        if self.query.by == ReactionTime::Reaction {
            self.replace_reactions(&mut buckets)?;
        }
        Ok(buckets.into_values().collect())
    }

    /// Counts reactions by their own time instead of the turn's.
    fn replace_reactions(&self, buckets: &mut Buckets) -> sql::Result<()> {
        for bucket in buckets.values_mut() {
            (bucket.counts.ok, bucket.counts.not_ok, bucket.counts.neutral) = (0, 0, 0);
        }
        for project in self.projects()? {
            match &self.query.users {
                None => self.add_reactions(project, buckets)?,
                Some(users) => {
                    for user in self.user_keys(project, users)? {
                        self.add_user_reactions((project, user), buckets)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Reactions that the user gave.
    fn add_user_reactions(
        &self,
        (project, user): (Key, Key),
        buckets: &mut Buckets,
    ) -> sql::Result<()> {
        let (start, end) = self.whole_hours();
        let rows: Vec<(i64, u8)> = self.connection.read_rows(
            "SELECT r.ts, r.reaction
             FROM reactions r LEFT JOIN turn_facts f ON f.turn = r.turn
             WHERE r.project = ?1 AND r.user = ?6 AND r.ts >= ?2 AND r.ts < ?3
                 AND r.origin = ?7 AND r.conversation IS NOT NULL
                 AND (f.model = ?4 OR ?4 IS NULL)
                 AND (f.prompt = ?5 OR ?5 IS NULL
                     OR substr(f.prompt, 1, length(?5) + 1) = ?5 || '@')",
            (project, start, end, &self.query.model, &self.query.prompt, user, Origin::User.code()),
        )?;
        for (ts, reaction) in rows {
            let bucket = bucket_at(buckets, self.bucket_start(hour_number(ts)));
            add_reaction(bucket, reaction, 1);
        }
        Ok(())
    }

    fn projects(&self) -> sql::Result<Vec<Key>> {
        find_projects(self.connection, &self.query.tenant, self.query.project.as_ref())
    }

    fn negative_turns(&self, limit: usize) -> Result<Vec<(Scope, TurnId)>, StoreError> {
        let QualityQuery { window, model, prompt, users, .. } = self.query;
        let (start, end) = (window.start.as_micros(), window.end.as_micros());
        let mut found: Vec<(i64, Scope, String)> = Vec::new();
        for project in self.projects()? {
            let scope = read_project_scope(self.connection, project)?;
            let users = match users {
                None => vec![None],
                Some(users) => self.user_keys(project, users)?.into_iter().map(Some).collect(),
            };
            for user in users {
                let (index, by_user) = match user {
                    Some(_) => ("turn_facts_by_user", "f.user = ?7"),
                    None => ("turn_facts_negative", "CAST(?7 AS BIGINT) IS NULL"),
                };
                let sql = format!(
                    "SELECT f.ts, t.id
                     FROM turn_facts f INDEXED BY {index} JOIN turns t ON t.key = f.turn
                     WHERE f.negative = 1 AND f.project = ?1 AND f.ts >= ?2 AND f.ts <= ?3
                         AND {by_user}
                         AND (f.model = ?4 OR ?4 IS NULL)
                         AND (f.prompt = ?5 OR ?5 IS NULL
                             OR substr(f.prompt, 1, length(?5) + 1) = ?5 || '@')
                     ORDER BY f.ts DESC LIMIT ?6"
                );
                let values = (project, start, end, model, prompt, limit as i64, user);
                for (ts, id) in self.connection.read_rows::<(i64, String)>(&sql, values)? {
                    found.push((ts, scope.clone(), id));
                }
            }
        }
        found.sort_by_key(|(ts, ..)| std::cmp::Reverse(*ts));
        found.truncate(limit);
        let turn = |(_, scope, id): (i64, Scope, String)| {
            let unreadable = |_| StoreError::Corrupt("a turn has an invalid id".to_owned());
            Ok((scope, TurnId::new(id).map_err(unreadable)?))
        };
        found.into_iter().map(turn).collect()
    }

    fn passed_questions(&self, limit: usize) -> Result<Vec<String>, StoreError> {
        let (start, end) = self.whole_hours();
        let mut found = Vec::new();
        for project in self.projects()? {
            let questions: Vec<Option<String>> = self.connection.read_rows(
                &format!(
                    "SELECT json_extract(o.data, '$.text')
                     FROM (SELECT turn, ts FROM turn_facts INDEXED BY turn_facts_by_time
                           WHERE project = ?1 AND ts >= ?2 AND ts < ?3 AND ts IS NOT NULL
                               AND negative = 0 AND answered = 1 AND {BY_MODEL_AND_PROMPT}
                           ORDER BY ts DESC, turn DESC LIMIT ?6) f
                     JOIN turns t ON t.key = f.turn JOIN events o ON o.position = t.opened
                     ORDER BY f.ts DESC, f.turn DESC"
                ),
                (project, start, end, &self.query.model, &self.query.prompt, limit as i64),
            )?;
            found.extend(questions.into_iter().flatten().filter(|text| !text.is_empty()));
        }
        found.truncate(limit);
        Ok(found)
    }

    fn answered_by_strategy(&self) -> Result<Vec<(String, u64)>, StoreError> {
        let (start, end) = self.whole_hours();
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for project in self.projects()? {
            let answers: Vec<(String, i64)> = self.connection.read_rows(
                &format!(
                    "SELECT strategy, count(*) FROM turn_facts INDEXED BY turn_facts_by_strategy
                     WHERE project = ?1 AND ts >= ?2 AND ts < ?3 AND strategy <> '' AND answered = 1
                         AND {BY_MODEL_AND_PROMPT}
                     GROUP BY strategy"
                ),
                (project, start, end, &self.query.model, &self.query.prompt),
            )?;
            for (strategy, answered) in answers {
                *counts.entry(strategy).or_default() += answered.unsigned_abs();
            }
        }
        Ok(counts.into_iter().collect())
    }

    /// The last hour that counts. A window that ends on the hour excludes it.
    fn last_hour(&self) -> i64 {
        let Window { start, end } = self.query.window;
        hour_number(end.as_micros() - 1).max(hour_number(start.as_micros()))
    }

    /// The window in whole hours, like the sums. The end is excluded.
    fn whole_hours(&self) -> (i64, i64) {
        let first = hour_number(self.query.window.start.as_micros());
        (first * HOUR_MICROS, (self.last_hour() + 1) * HOUR_MICROS)
    }

    /// The first hour of the bucket of an hour.
    fn bucket_start(&self, hour: i64) -> i64 {
        let size = i64::from(self.query.bucket_hours.max(1));
        let shift = i64::from(self.query.bucket_shift);
        (hour + shift).div_euclid(size) * size - shift
    }

    fn user_keys(&self, project: Key, users: &QualityUsers) -> sql::Result<Vec<Key>> {
        let attributes = match users {
            QualityUsers::One(user) => {
                let key = find_key(self.connection, Table::Users, project, user.as_str())?;
                return Ok(key.into_iter().collect());
            }
            QualityUsers::With(attributes) => attributes,
        };
        let mut sql = "SELECT u.key FROM users u JOIN profiles p ON p.user = u.key
            WHERE u.project = ? AND u.erased IS NULL"
            .to_owned();
        let mut values = vec![Value::from(project)];
        for (name, value) in attributes {
            // Numbers and booleans are compared by their text. The name is matched among the keys,
            // because it may contain path syntax.
            sql += match self.connection.sqlite() {
                Some(_) => {
                    " AND EXISTS (SELECT 1 FROM json_each(p.attributes) a WHERE a.key = ?
                        AND CASE a.type WHEN 'true' THEN 'true' WHEN 'false' THEN 'false'
                            ELSE CAST(a.value AS TEXT) END = ?)"
                }
                None => {
                    " AND EXISTS (SELECT 1 FROM json_each_text(CAST(p.attributes AS json)) a
                        WHERE a.key = ? AND a.value = ?)"
                }
            };
            values.extend([Value::from(name.clone()), Value::from(value.clone())]);
        }
        let mut select = self.connection.prepare(&sql)?;
        select.read_rows_with(params_from_iter(values), |row| row.get(0))
    }

    fn add_turns(&self, user: Key, buckets: &mut Buckets) -> sql::Result<()> {
        let (start, end) = self.whole_hours();
        let mut select = self.connection.prepare_cached(&format!(
            "SELECT * FROM turn_facts
             WHERE user = ?1 AND ts >= ?2 AND ts < ?3 AND {BY_MODEL_AND_PROMPT}"
        ))?;
        let mut rows = select.query((user, start, end, &self.query.model, &self.query.prompt))?;
        while let Some(row) = &rows.next()? {
            let facts = Facts::read(row)?;
            let Some(place) = facts.place() else { continue };
            let bucket = bucket_at(buckets, self.bucket_start(place.hour));
            bucket.counts = bucket.counts.plus(&facts.counts());
            if let Some(step) = facts.step() {
                wait(bucket, step, 1);
            }
        }
        Ok(())
    }
}

/// A prompt without a version matches all versions.
const BY_MODEL_AND_PROMPT: &str = "(model = ?4 OR ?4 IS NULL)
    AND (prompt = ?5 OR ?5 IS NULL OR substr(prompt, 1, length(?5) + 1) = ?5 || '@')";

fn bucket_at(buckets: &mut Buckets, hour: i64) -> &mut QualityBucket {
    buckets.entry(hour).or_insert_with(|| QualityBucket { hour, ..QualityBucket::default() })
}

fn add_reaction(bucket: &mut QualityBucket, reaction: u8, count: i64) {
    match Reaction::from_code(reaction) {
        Some(Reaction::Ok) => bucket.counts.ok += count,
        Some(Reaction::NotOk) => bucket.counts.not_ok += count,
        Some(Reaction::Neutral) => bucket.counts.neutral += count,
        None => {}
    }
}

fn wait(bucket: &mut QualityBucket, step: u32, count: i64) {
    match bucket.waits.binary_search_by_key(&step, |(step, _)| *step) {
        Ok(place) => bucket.waits[place].1 += count,
        Err(place) => bucket.waits.insert(place, (step, count)),
    }
}
