//! Alerts and their deliveries.

use model::{Position, Project, Scope, Tenant, Timestamp};
use serde_json::{Map, Value};
use sql::{Connection, Row};

use crate::error::{StoreError, Task};
use crate::event_rows::{self, StoredEvent};
use crate::row_keys::{all_scopes, find_project, read_project_scope, read_scope};
use crate::store::Store;

/// A tenant's targets and the time they took effect.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredTargets {
    pub tenant: Tenant,
    pub position: Position,
    pub settings: Map<String, Value>,
}

/// A metric that missed its target.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredAlert {
    pub scope: Scope,
    pub metric: String,
    pub raised: Option<StoredEvent>,
    pub cleared: Option<StoredEvent>,
    /// The delivery of the alert, when a webhook is set.
    pub told: Option<Delivery>,
}

/// The delivery state of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    pub attempts: u32,
    /// The next attempt; `None` when delivered or given up.
    pub next_at: Option<Timestamp>,
    pub error: Option<String>,
}

/// An event to deliver.
#[derive(Clone, Debug, PartialEq)]
pub struct Undelivered {
    pub stored: StoredEvent,
    pub attempts: u32,
}

impl Store {
    /// The targets of every tenant that has any.
    pub fn targets(&self) -> Task<'_, Vec<StoredTargets>> {
        self.pool.run(targets)
    }

    pub fn scopes(&self) -> Task<'_, Vec<Scope>> {
        self.pool.run(|connection| Ok(all_scopes(connection)?))
    }

    /// The newest alerts of a tenant or of one of its projects, newest first.
    pub fn alerts(
        &self,
        tenant: &Tenant,
        project: Option<&Project>,
        limit: usize,
    ) -> Task<'_, Vec<StoredAlert>> {
        let (tenant, project) = (tenant.clone(), project.cloned());
        self.pool.run(move |connection| alerts(connection, &tenant, project.as_ref(), limit))
    }

    /// The position of the newest alert of each metric of a project, and whether it is active.
    pub fn newest_alerts(&self, scope: &Scope) -> Task<'_, Vec<(String, Position, bool)>> {
        let scope = scope.clone();
        self.pool.run_short(move |connection| newest(connection, &scope))
    }

    /// The metrics with an active alert, of one tenant or of all, by project.
    pub fn standing_alerts(&self, tenant: Option<&Tenant>) -> Task<'_, Vec<(Scope, String)>> {
        let tenant = tenant.cloned();
        self.pool.run_short(move |connection| standing(connection, tenant.as_ref()))
    }

    /// The deliveries due for a tenant, in order: undelivered alerts, unless cleared before `news`,
    /// and retries.
    pub fn undelivered(
        &self,
        tenant: &Tenant,
        news: Timestamp,
        now: Timestamp,
    ) -> Task<'_, Vec<Undelivered>> {
        let tenant = tenant.clone();
        self.pool.run(move |connection| undelivered(connection, &tenant, news, now))
    }

    /// Schedules failed deliveries of a tenant again. Abandoned ones only while their alert is
    /// active.
    pub fn tell_anew(&self, tenant: &Tenant, now: Timestamp) -> Task<'_, ()> {
        let tenant = tenant.clone();
        Box::pin(self.writer.run(move |connection| tell_anew(connection, &tenant, now)))
    }

    pub fn note_delivery(&self, position: Position, delivery: Delivery) -> Task<'_, ()> {
        Box::pin(self.writer.run(move |connection| note(connection, position, &delivery)))
    }
}

fn targets(connection: &Connection) -> Result<Vec<StoredTargets>, StoreError> {
    let mut select = connection.prepare_cached("SELECT tenant, position, settings FROM targets")?;
    let mut rows = select.query(())?;
    let mut found = Vec::new();
    while let Some(row) = &rows.next()? {
        let (tenant, settings): (String, String) = (row.get(0)?, row.get(2)?);
        let unreadable = || StoreError::Corrupt(format!("invalid targets of tenant {tenant}"));
        found.push(StoredTargets {
            position: position(row.get(1)?),
            settings: serde_json::from_str(&settings).map_err(|_| unreadable())?,
            tenant: Tenant::new(tenant.clone()).map_err(|_| unreadable())?,
        });
    }
    Ok(found)
}

fn position(number: i64) -> Position {
    Position(number.unsigned_abs())
}

fn alerts(
    connection: &Connection,
    tenant: &Tenant,
    project: Option<&Project>,
    limit: usize,
) -> Result<Vec<StoredAlert>, StoreError> {
    let mut select = connection.prepare_cached(
        "SELECT a.project, a.metric, a.raised, a.cleared, d.attempts, d.next_ts, d.error
         FROM alerts a JOIN projects p ON p.key = a.project
             LEFT JOIN deliveries d ON d.position = a.raised
         WHERE p.tenant = ?1 AND (p.project = ?2 OR ?2 IS NULL)
         ORDER BY a.raised DESC LIMIT ?3",
    )?;
    let project = project.map(|project| project.as_str());
    let mut rows = select.query((tenant.as_str(), project, limit as i64))?;
    let mut found = Vec::new();
    while let Some(row) = &rows.next()? {
        let scope = read_project_scope(connection, row.get(0)?)?;
        let cleared: Option<i64> = row.get(3)?;
        found.push(StoredAlert {
            metric: row.get(1)?,
            raised: event_rows::event_at(connection, &scope, row.get(2)?)?,
            cleared: match cleared {
                None => None,
                Some(cleared) => event_rows::event_at(connection, &scope, cleared)?,
            },
            told: delivery(row)?,
            scope,
        });
    }
    Ok(found)
}

fn delivery(row: &Row<'_>) -> sql::Result<Option<Delivery>> {
    let Some(attempts) = row.get(4)? else { return Ok(None) };
    let next: Option<i64> = row.get(5)?;
    let next_at = next.map(Timestamp::from_micros);
    Ok(Some(Delivery { attempts, next_at, error: row.get(6)? }))
}

fn newest(
    connection: &Connection,
    scope: &Scope,
) -> Result<Vec<(String, Position, bool)>, StoreError> {
    let Some(project) = find_project(connection, scope)? else { return Ok(Vec::new()) };
    let mut select = connection.prepare_cached(
        "SELECT metric, raised, cleared IS NULL FROM alerts a WHERE project = ?1 AND raised =
             (SELECT max(raised) FROM alerts b WHERE b.project = a.project AND b.metric = a.metric)
         ORDER BY metric",
    )?;
    let read = |row: &Row<'_>| Ok((row.get(0)?, position(row.get(1)?), row.get(2)?));
    let found = select.query_map([project], read)?.collect::<Result<_, _>>()?;
    Ok(found)
}

fn standing(
    connection: &Connection,
    tenant: Option<&Tenant>,
) -> Result<Vec<(Scope, String)>, StoreError> {
    let mut select = connection.prepare_cached(
        "SELECT p.tenant, p.project, a.metric FROM alerts a JOIN projects p ON p.key = a.project
         WHERE a.cleared IS NULL AND (p.tenant = ?1 OR ?1 IS NULL) AND a.raised =
             (SELECT max(raised) FROM alerts b WHERE b.project = a.project AND b.metric = a.metric)
         ORDER BY p.key, a.metric",
    )?;
    let read = |row: &Row<'_>| Ok((read_scope(row)?, row.get(2)?));
    let found = select.query_map([tenant.map(Tenant::as_str)], read)?.collect::<Result<_, _>>()?;
    Ok(found)
}

/// An undelivered alert stays news while it is active and for a while after.
fn undelivered(
    connection: &Connection,
    tenant: &Tenant,
    news: Timestamp,
    now: Timestamp,
) -> Result<Vec<Undelivered>, StoreError> {
    let mut select = connection.prepare_cached(
        "WITH said (project, position, over) AS (
             SELECT a.project, a.raised, a.cleared FROM alerts a
             UNION ALL
             SELECT a.project, a.cleared, a.cleared FROM alerts a WHERE a.cleared IS NOT NULL)
         SELECT s.project, s.position, coalesce(d.attempts, 0)
         FROM said s JOIN projects p ON p.key = s.project
             LEFT JOIN deliveries d ON d.position = s.position
             LEFT JOIN events e ON e.position = s.over
         WHERE p.tenant = ?1 AND (d.next_ts <= ?3
             OR d.position IS NULL AND (s.over IS NULL OR e.ts >= ?2))
         ORDER BY s.position",
    )?;
    let mut rows = select.query((tenant.as_str(), news.as_micros(), now.as_micros()))?;
    let mut found = Vec::new();
    while let Some(row) = &rows.next()? {
        let scope = read_project_scope(connection, row.get(0)?)?;
        if let Some(stored) = event_rows::event_at(connection, &scope, row.get(1)?)? {
            found.push(Undelivered { stored, attempts: row.get(2)? });
        }
    }
    Ok(found)
}

fn tell_anew(connection: &Connection, tenant: &Tenant, now: Timestamp) -> Result<(), StoreError> {
    connection
        .prepare_cached(
            "UPDATE deliveries SET attempts = 0, next_ts = ?2
             WHERE error IS NOT NULL AND EXISTS (
                 SELECT 1 FROM alerts a JOIN projects p ON p.key = a.project
                 WHERE p.tenant = ?1 AND (
                     deliveries.next_ts IS NOT NULL
                         AND deliveries.position IN (a.raised, a.cleared)
                     OR deliveries.position = a.raised AND a.cleared IS NULL))",
        )?
        .execute((tenant.as_str(), now.as_micros()))?;
    Ok(())
}

fn note(
    connection: &Connection,
    position: Position,
    delivery: &Delivery,
) -> Result<(), StoreError> {
    connection
        .prepare_cached(
            "REPLACE INTO deliveries (position, attempts, next_ts, error) VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute((
            position.0 as i64,
            delivery.attempts,
            delivery.next_at.map(Timestamp::as_micros),
            &delivery.error,
        ))?;
    Ok(())
}
