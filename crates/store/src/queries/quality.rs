//! The quality report: from the sums, or turn by turn when it is filtered by users.

mod sums;

use std::collections::BTreeMap;

use model::{Project, Scope, Tenant, TurnId, UserId, Window};
use sql::{Connection, Value, params_from_iter};

use crate::error::{StoreError, Task};
use crate::projections::apply::{Facts, HOUR_MICROS, hour_number};
use crate::projections::counters::QualityCounts;
use crate::row_keys::{Key, Table, find_key, read_project_scope};
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
    pub bucket_hours: u32,
    /// Shifts the buckets by hours. Weeks start on Monday, but 1970 started on a Thursday.
    pub bucket_shift: u32,
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
        self.pool.run(move |connection| quality(connection, &query))
    }

    /// Turns with a problem in the window, newest first.
    pub fn negative_turns(
        &self,
        query: QualityQuery,
        limit: usize,
    ) -> Task<'_, Vec<(Scope, TurnId)>> {
        self.pool.run(move |connection| negative_turns(connection, &query, limit))
    }

    pub fn answered_by(&self, query: QualityQuery) -> Task<'_, Vec<AnsweredBy>> {
        self.pool.run(move |connection| sums::answered_by(connection, &query))
    }

    /// Answers per model and bucket: model, first hour and count. Ignores the user filter.
    pub fn answers_over_time(&self, query: QualityQuery) -> Task<'_, Vec<(String, i64, u64)>> {
        self.pool.run(move |connection| sums::answers_over_time(connection, &query))
    }

    /// Answers per strategy name. Ignores the user filter.
    pub fn answered_by_strategy(&self, query: QualityQuery) -> Task<'_, Vec<(String, u64)>> {
        self.pool.run(move |connection| answered_by_strategy(connection, &query))
    }
}

/// By first hour.
type Buckets = BTreeMap<i64, QualityBucket>;

fn quality(
    connection: &Connection,
    query: &QualityQuery,
) -> Result<Vec<QualityBucket>, StoreError> {
    let mut buckets = Buckets::new();
    for project in projects(connection, query)? {
        match &query.users {
            None => {
                sums::add_counts(connection, query, project, &mut buckets)?;
                sums::add_waits(connection, query, project, &mut buckets)?;
            }
            Some(users) => {
                for user in user_keys(connection, project, users)? {
                    add_turns(connection, query, user, &mut buckets)?;
                }
            }
        }
    }
    Ok(buckets.into_values().collect())
}

fn projects(connection: &Connection, query: &QualityQuery) -> sql::Result<Vec<Key>> {
    let sql = "SELECT key FROM projects
        WHERE tenant = ?1 AND (project = ?2 OR ?2 IS NULL) ORDER BY key";
    let project = query.project.as_ref().map(|project| project.as_str());
    connection
        .prepare_cached(sql)?
        .query_map((query.tenant.as_str(), project), |row| row.get(0))?
        .collect()
}

/// Turns with a problem, newest first. With a user filter all turns are read.
fn negative_turns(
    connection: &Connection,
    query: &QualityQuery,
    limit: usize,
) -> Result<Vec<(Scope, TurnId)>, StoreError> {
    let mut found: Vec<(i64, Scope, String)> = Vec::new();
    for project in projects(connection, query)? {
        let scope = read_project_scope(connection, project)?;
        let users = match &query.users {
            None => vec![None],
            Some(users) => user_keys(connection, project, users)?.into_iter().map(Some).collect(),
        };
        for user in users {
            let index = if user.is_some() { "turn_facts_by_user" } else { "turn_facts_negative" };
            let sql = format!(
                "SELECT f.ts, t.id FROM turn_facts f INDEXED BY {index} JOIN turns t ON t.key = f.turn
                 WHERE f.negative = 1 AND f.project = ?1 AND f.ts >= ?2 AND f.ts <= ?3
                     AND {}
                     AND (f.model = ?4 OR ?4 IS NULL)
                     AND (f.prompt = ?5 OR ?5 IS NULL
                         OR substr(f.prompt, 1, length(?5) + 1) = ?5 || '@')
                 ORDER BY f.ts DESC LIMIT ?6",
                if user.is_some() { "f.user = ?7" } else { "CAST(?7 AS BIGINT) IS NULL" }
            );
            let mut select = connection.prepare_cached(&sql)?;
            let (start, end) = (query.window.start.as_micros(), query.window.end.as_micros());
            let mut rows = select.query((
                project,
                start,
                end,
                &query.model,
                &query.prompt,
                limit as i64,
                user,
            ))?;
            while let Some(row) = &rows.next()? {
                found.push((row.get(0)?, scope.clone(), row.get(1)?));
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

/// Whole hours, like the sums.
fn answered_by_strategy(
    connection: &Connection,
    query: &QualityQuery,
) -> Result<Vec<(String, u64)>, StoreError> {
    let start = hour_number(query.window.start.as_micros()) * HOUR_MICROS;
    let end = (last_hour(query) + 1) * HOUR_MICROS;
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for project in projects(connection, query)? {
        let mut select = connection.prepare_cached(
            "SELECT strategy, count(*) FROM turn_facts INDEXED BY turn_facts_by_strategy
             WHERE project = ?1 AND ts >= ?2 AND ts < ?3 AND strategy <> '' AND answered = 1
                 AND (model = ?4 OR ?4 IS NULL)
                 AND (prompt = ?5 OR ?5 IS NULL OR substr(prompt, 1, length(?5) + 1) = ?5 || '@')
             GROUP BY strategy",
        )?;
        let mut rows = select.query((project, start, end, &query.model, &query.prompt))?;
        while let Some(row) = rows.next()? {
            let answered: i64 = row.get(1)?;
            *counts.entry(row.get(0)?).or_default() += answered.unsigned_abs();
        }
    }
    Ok(counts.into_iter().collect())
}

/// The last hour that counts. A window that ends on the hour excludes it.
fn last_hour(query: &QualityQuery) -> i64 {
    hour_number(query.window.end.as_micros() - 1).max(hour_number(query.window.start.as_micros()))
}

/// The first hour of the bucket of an hour.
fn bucket_start(query: &QualityQuery, hour: i64) -> i64 {
    let (size, shift) = (i64::from(query.bucket_hours.max(1)), i64::from(query.bucket_shift));
    (hour + shift).div_euclid(size) * size - shift
}

fn at(buckets: &mut Buckets, hour: i64) -> &mut QualityBucket {
    buckets.entry(hour).or_insert_with(|| QualityBucket { hour, ..QualityBucket::default() })
}

fn wait(bucket: &mut QualityBucket, step: u32, count: i64) {
    match bucket.waits.binary_search_by_key(&step, |(step, _)| *step) {
        Ok(place) => bucket.waits[place].1 += count,
        Err(place) => bucket.waits.insert(place, (step, count)),
    }
}

fn user_keys(connection: &Connection, project: Key, users: &QualityUsers) -> sql::Result<Vec<Key>> {
    let attributes = match users {
        QualityUsers::One(user) => {
            let key = find_key(connection, Table::Users, project, user.as_str())?;
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
        sql += match connection.sqlite() {
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
    connection.prepare(&sql)?.query_map(params_from_iter(values), |row| row.get(0))?.collect()
}

fn add_turns(
    connection: &Connection,
    query: &QualityQuery,
    user: Key,
    buckets: &mut Buckets,
) -> sql::Result<()> {
    let mut select = connection.prepare_cached(
        "SELECT * FROM turn_facts WHERE user = ?1 AND ts >= ?2 AND ts < ?3
             AND (model = ?4 OR ?4 IS NULL)
             AND (prompt = ?5 OR ?5 IS NULL OR substr(prompt, 1, length(?5) + 1) = ?5 || '@')",
    )?;
    // Whole hours, like the sums.
    let start = hour_number(query.window.start.as_micros()) * HOUR_MICROS;
    let end = (last_hour(query) + 1) * HOUR_MICROS;
    let mut rows = select.query((user, start, end, &query.model, &query.prompt))?;
    while let Some(row) = &rows.next()? {
        let facts = Facts::read(row)?;
        let Some(place) = facts.place() else { continue };
        let bucket = at(buckets, bucket_start(query, place.hour));
        bucket.counts = bucket.counts.plus(&facts.counts());
        if let Some(step) = facts.step() {
            wait(bucket, step, 1);
        }
    }
    Ok(())
}
