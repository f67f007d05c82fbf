//! Reads how good the answers are: out of the sums, or turn by turn where only some users count.

use std::collections::BTreeMap;

use event::{Scope, TurnId};

use super::SqliteStore;
use super::apply::{Facts, HOUR_MICROS, hour_of};
use super::keys::{Key, Table, find_key, scope_of};
use crate::error::StoreError;
use crate::log::Task;
use crate::read::quality::{
    AnsweredBy, QualityBucket, QualityCounts, QualityQuery, QualityReads, QualityUsers,
};
use crate::sql::{self, Connection, Row, Value, params_from_iter};

impl QualityReads for SqliteStore {
    fn quality(&self, query: QualityQuery) -> Task<'_, Vec<QualityBucket>> {
        self.pool.run(move |connection| quality(connection, &query))
    }

    fn negative_turns(&self, query: QualityQuery, limit: usize) -> Task<'_, Vec<(Scope, TurnId)>> {
        self.pool.run(move |connection| negative_turns(connection, &query, limit))
    }

    fn answered_by(&self, query: QualityQuery) -> Task<'_, Vec<AnsweredBy>> {
        self.pool.run(move |connection| answered_by(connection, &query))
    }

    fn answered_by_strategy(&self, query: QualityQuery) -> Task<'_, Vec<(String, u64)>> {
        self.pool.run(move |connection| answered_by_strategy(connection, &query))
    }
}

/// By the hour they begin.
type Buckets = BTreeMap<i64, QualityBucket>;

/// By stretches of time.
fn quality(
    connection: &Connection,
    query: &QualityQuery,
) -> Result<Vec<QualityBucket>, StoreError> {
    let mut buckets = Buckets::new();
    for project in projects(connection, query)? {
        match &query.users {
            None => {
                add_sums(connection, query, project, &mut buckets)?;
                add_waits(connection, query, project, &mut buckets)?;
            }
            Some(users) => {
                for user in keys_of(connection, project, users)? {
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

/// Turns of which something went wrong, newest first. Of one user's, or of some users', all are looked at.
fn negative_turns(
    connection: &Connection,
    query: &QualityQuery,
    limit: usize,
) -> Result<Vec<(Scope, TurnId)>, StoreError> {
    let mut found: Vec<(i64, Scope, String)> = Vec::new();
    for project in projects(connection, query)? {
        let scope = scope_of(connection, project)?;
        let users = match &query.users {
            None => vec![None],
            Some(users) => keys_of(connection, project, users)?.into_iter().map(Some).collect(),
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
        let unreadable = |_| StoreError::Corrupt("the id of a turn".to_owned());
        Ok((scope, TurnId::new(id).map_err(unreadable)?))
    };
    found.into_iter().map(turn).collect()
}

fn answered_by(
    connection: &Connection,
    query: &QualityQuery,
) -> Result<Vec<AnsweredBy>, StoreError> {
    let mut counts: BTreeMap<(String, String), u64> = BTreeMap::new();
    for project in projects(connection, query)? {
        let mut select = connection.prepare_cached(
            "SELECT model, prompt, sum(answered) FROM quality
             WHERE project = ?1 AND hour BETWEEN ?2 AND ?3 GROUP BY model, prompt",
        )?;
        let first = hour_of(query.window.start.as_micros());
        let mut rows = select.query((project, first, last_hour(query)))?;
        while let Some(row) = &rows.next()? {
            let answered: i64 = row.get(2)?;
            *counts.entry((row.get(0)?, row.get(1)?)).or_default() += answered.unsigned_abs();
        }
    }
    let one = |((model, prompt), answered)| AnsweredBy { model, prompt, answered };
    Ok(counts.into_iter().map(one).collect())
}

/// Whole hours, as the sums it is compared with.
fn answered_by_strategy(
    connection: &Connection,
    query: &QualityQuery,
) -> Result<Vec<(String, u64)>, StoreError> {
    const HOUR: i64 = 3_600_000_000;
    let start = hour_of(query.window.start.as_micros()) * HOUR;
    let end = (last_hour(query) + 1) * HOUR;
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

/// The last hour that counts: a window that ends on the hour ends before it.
fn last_hour(query: &QualityQuery) -> i64 {
    hour_of(query.window.end.as_micros() - 1).max(hour_of(query.window.start.as_micros()))
}

/// The hour in which the stretch of an hour begins.
fn bucket_of(query: &QualityQuery, hour: i64) -> i64 {
    let (size, shift) = (i64::from(query.bucket_hours.max(1)), i64::from(query.bucket_shift));
    (hour + shift).div_euclid(size) * size - shift
}

fn at(buckets: &mut Buckets, hour: i64) -> &mut QualityBucket {
    buckets.entry(hour).or_insert_with(|| QualityBucket { hour, ..QualityBucket::default() })
}

/// Rows of a project's hours, models and prompts that count, in stretches. A prompt without a version
/// stands for all of its versions.
fn select(what: &str, table: &str, more: &str) -> String {
    format!(
        "SELECT (hour + ?1) / ?2 * ?2 - ?1 AS bucket, {what} FROM {table}
         WHERE project = ?3 AND hour BETWEEN ?4 AND ?5
             AND (model = ?6 OR ?6 IS NULL)
             AND (prompt = ?7 OR ?7 IS NULL
                 OR substr(prompt, 1, length(?7) + 1) = ?7 || '@')
         GROUP BY bucket{more}"
    )
}

fn each(
    connection: &Connection,
    sql: &str,
    query: &QualityQuery,
    project: Key,
    mut add: impl FnMut(&Row<'_>) -> sql::Result<()>,
) -> sql::Result<()> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query((
        query.bucket_shift,
        query.bucket_hours.max(1),
        project,
        hour_of(query.window.start.as_micros()),
        last_hour(query),
        &query.model,
        &query.prompt,
    ))?;
    while let Some(row) = &rows.next()? {
        add(row)?;
    }
    Ok(())
}

fn add_sums(
    connection: &Connection,
    query: &QualityQuery,
    project: Key,
    buckets: &mut Buckets,
) -> sql::Result<()> {
    let sums: Vec<String> =
        QualityCounts::COLUMNS.iter().map(|name| format!("sum({name})")).collect();
    each(connection, &select(&sums.join(", "), "quality", ""), query, project, |row| {
        let mut values = QualityCounts::default().values();
        for (column, value) in values.iter_mut().enumerate() {
            *value = row.get(column + 1)?;
        }
        let bucket = at(buckets, row.get(0)?);
        bucket.counts = bucket.counts.plus(&QualityCounts::from_values(values));
        Ok(())
    })
}

fn add_waits(
    connection: &Connection,
    query: &QualityQuery,
    project: Key,
    buckets: &mut Buckets,
) -> sql::Result<()> {
    each(connection, &select("step, sum(count)", "waits", ", step"), query, project, |row| {
        wait(at(buckets, row.get(0)?), row.get(1)?, row.get(2)?);
        Ok(())
    })
}

fn wait(bucket: &mut QualityBucket, step: u32, count: i64) {
    match bucket.waits.binary_search_by_key(&step, |(step, _)| *step) {
        Ok(place) => bucket.waits[place].1 += count,
        Err(place) => bucket.waits.insert(place, (step, count)),
    }
}

/// The users of a project who count.
fn keys_of(connection: &Connection, project: Key, users: &QualityUsers) -> sql::Result<Vec<Key>> {
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
        // Whatever its type: a number and a truth value are compared as they are written. The name is
        // looked for among the keys, since it may hold what means something in a path.
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
    // By whole hours, as the sums are.
    let start = hour_of(query.window.start.as_micros()) * HOUR_MICROS;
    let end = (last_hour(query) + 1) * HOUR_MICROS;
    let mut rows = select.query((user, start, end, &query.model, &query.prompt))?;
    while let Some(row) = &rows.next()? {
        let facts = Facts::read(row)?;
        let Some(place) = facts.place() else { continue };
        let bucket = at(buckets, bucket_of(query, place.hour));
        bucket.counts = bucket.counts.plus(&facts.counts());
        if let Some(step) = facts.step() {
            wait(bucket, step, 1);
        }
    }
    Ok(())
}
