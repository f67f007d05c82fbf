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
        self.pool.run(|connection| {
            connection.read_rows_with("SELECT tenant, position, settings FROM targets", (), |row| {
                let (tenant, position, settings): (String, i64, String) = row.read()?;
                let unreadable =
                    || StoreError::Corrupt(format!("invalid targets of tenant {tenant}"));
                Ok(StoredTargets {
                    position: Position(position.unsigned_abs()),
                    settings: serde_json::from_str(&settings).map_err(|_| unreadable())?,
                    tenant: Tenant::new(tenant.clone()).map_err(|_| unreadable())?,
                })
            })
        })
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
        self.pool.run(move |connection| {
            connection.read_rows_with(
                "SELECT a.project, a.metric, a.raised, a.cleared, d.attempts, d.next_ts, d.error
                 FROM alerts a JOIN projects p ON p.key = a.project
                     LEFT JOIN deliveries d ON d.position = a.raised
                 WHERE p.tenant = ?1 AND (p.project = ?2 OR ?2 IS NULL)
                 ORDER BY a.raised DESC LIMIT ?3",
                (tenant.as_str(), project.as_ref().map(Project::as_str), limit as i64),
                |row| read_alert(connection, row),
            )
        })
    }

    /// The position of the newest alert of each metric of a project, and whether it is active.
    pub fn newest_alerts(&self, scope: &Scope) -> Task<'_, Vec<(String, Position, bool)>> {
        let scope = scope.clone();
        self.pool.run_short(move |connection| {
            let Some(project) = find_project(connection, &scope)? else { return Ok(Vec::new()) };
            connection.read_rows_with(
                "SELECT metric, raised, cleared IS NULL FROM alerts a
                 WHERE project = ?1 AND raised =
                     (SELECT max(raised) FROM alerts b
                      WHERE b.project = a.project AND b.metric = a.metric)
                 ORDER BY metric",
                [project],
                |row| Ok((row.get(0)?, Position(row.get(1)?), row.get(2)?)),
            )
        })
    }

    /// The metrics with an active alert, of one tenant or of all, by project.
    pub fn standing_alerts(&self, tenant: Option<&Tenant>) -> Task<'_, Vec<(Scope, String)>> {
        let tenant = tenant.cloned();
        self.pool.run_short(move |connection| {
            connection.read_rows_with(
                "SELECT p.tenant, p.project, a.metric
                 FROM alerts a JOIN projects p ON p.key = a.project
                 WHERE a.cleared IS NULL AND (p.tenant = ?1 OR ?1 IS NULL) AND a.raised =
                     (SELECT max(raised) FROM alerts b
                      WHERE b.project = a.project AND b.metric = a.metric)
                 ORDER BY p.key, a.metric",
                [tenant.as_ref().map(Tenant::as_str)],
                |row| Ok((read_scope(row)?, row.get(2)?)),
            )
        })
    }

    /// The deliveries due for a tenant, in order: undelivered alerts, unless cleared before `news`,
    /// and retries. An undelivered alert stays news while it is active and for a while after.
    pub fn list_due_deliveries(
        &self,
        tenant: &Tenant,
        news: Timestamp,
        now: Timestamp,
    ) -> Task<'_, Vec<Undelivered>> {
        let tenant = tenant.clone();
        self.pool.run(move |connection| {
            let found = connection.read_rows_with(
                "WITH said (project, position, over) AS (
                     SELECT a.project, a.raised, a.cleared FROM alerts a
                     UNION ALL
                     SELECT a.project, a.cleared, a.cleared FROM alerts a
                     WHERE a.cleared IS NOT NULL)
                 SELECT s.project, s.position, coalesce(d.attempts, 0)
                 FROM said s JOIN projects p ON p.key = s.project
                     LEFT JOIN deliveries d ON d.position = s.position
                     LEFT JOIN events e ON e.position = s.over
                 WHERE p.tenant = ?1 AND (d.next_ts <= ?3
                     OR d.position IS NULL AND (s.over IS NULL OR e.ts >= ?2))
                 ORDER BY s.position",
                (tenant.as_str(), news.as_micros(), now.as_micros()),
                |row| {
                    let (project, position, attempts) = row.read()?;
                    let scope = read_project_scope(connection, project)?;
                    let stored = event_rows::event_at(connection, &scope, position)?;
                    Ok::<_, StoreError>(stored.map(|stored| Undelivered { stored, attempts }))
                },
            )?;
            Ok(found.into_iter().flatten().collect())
        })
    }

    /// Schedules a tenant's failed deliveries again; abandoned ones only while the alert is active.
    pub fn reschedule_deliveries(&self, tenant: &Tenant, now: Timestamp) -> Task<'_, ()> {
        let tenant = tenant.clone();
        Box::pin(self.writer.run(move |connection| {
            connection.execute_cached(
                "UPDATE deliveries SET attempts = 0, next_ts = ?2
                 WHERE error IS NOT NULL AND EXISTS (
                     SELECT 1 FROM alerts a JOIN projects p ON p.key = a.project
                     WHERE p.tenant = ?1 AND (
                         deliveries.next_ts IS NOT NULL
                             AND deliveries.position IN (a.raised, a.cleared)
                         OR deliveries.position = a.raised AND a.cleared IS NULL))",
                (tenant.as_str(), now.as_micros()),
            )?;
            Ok(())
        }))
    }

    pub fn record_delivery(&self, position: Position, delivery: Delivery) -> Task<'_, ()> {
        Box::pin(self.writer.run(move |connection| {
            let next = delivery.next_at.map(Timestamp::as_micros);
            connection.execute_cached(
                "REPLACE INTO deliveries (position, attempts, next_ts, error)
                 VALUES (?1, ?2, ?3, ?4)",
                (position.0 as i64, delivery.attempts, next, &delivery.error),
            )?;
            Ok(())
        }))
    }
}

fn read_alert(connection: &Connection, row: &Row<'_>) -> Result<StoredAlert, StoreError> {
    let (project, metric, raised, cleared): (_, _, i64, Option<i64>) = row.read()?;
    let scope = read_project_scope(connection, project)?;
    let event_at = |position| event_rows::event_at(connection, &scope, position);
    let next: Option<i64> = row.get(5)?;
    let told = match row.get(4)? {
        None => None,
        Some(attempts) => {
            let next_at = next.map(Timestamp::from_micros);
            Some(Delivery { attempts, next_at, error: row.get(6)? })
        }
    };
    let (raised, cleared) = (event_at(raised)?, cleared.map_or(Ok(None), event_at)?);
    Ok(StoredAlert { metric, raised, cleared, told, scope })
}
