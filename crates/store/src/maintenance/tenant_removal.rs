//! Removes a tenant: its events, projections and ids.
//!
//! The projections still agree with the log afterwards. Positions are never reused, because readers
//! of the log may be beyond them.

use model::Tenant;
use sql::Connection;

use crate::error::StoreError;
use crate::event_rows::newest_position;
use crate::meta;
use crate::projections::PROJECTIONS;
use crate::projections::baseline_positions::lock_project;
use crate::row_keys::find_projects;
use crate::similarity::SimilarityIndexes;

/// Subqueries for the keys of a tenant.
const PROJECTS: &str = "(SELECT key FROM projects WHERE tenant = ?1)";
const TURNS: &str = "(SELECT key FROM turns WHERE project IN
    (SELECT key FROM projects WHERE tenant = ?1))";
const USERS: &str = "(SELECT key FROM users WHERE project IN
    (SELECT key FROM projects WHERE tenant = ?1))";
const EXPERIMENTS: &str = "(SELECT key FROM experiments WHERE project IN
    (SELECT key FROM projects WHERE tenant = ?1))";
const POSITIONS: &str = "(SELECT position FROM events WHERE project IN
    (SELECT key FROM projects WHERE tenant = ?1))";

/// Tables without a project column, with the column and the subquery that select a tenant's rows.
/// They come before the tables the subqueries read.
const TABLES_BY_KEY: [(&str, &str, &str); 15] = [
    ("deliveries", "position", POSITIONS),
    ("verdicts", "position", POSITIONS),
    ("verdicts", "turn", TURNS),
    ("verdicts", "detected_in", TURNS),
    ("turn_vectors", "turn", TURNS),
    ("turn_logs", "turn", TURNS),
    ("copies_due", "turn", TURNS),
    ("profiles", "user", USERS),
    ("experiment_moves", "experiment", EXPERIMENTS),
    ("experiment_units", "experiment", EXPERIMENTS),
    ("experiment_turns", "experiment", EXPERIMENTS),
    ("experiment_turns", "turn", TURNS),
    ("experiment_measures", "experiment", EXPERIMENTS),
    ("experiment_sums", "experiment", EXPERIMENTS),
    ("experiment_days", "experiment", EXPERIMENTS),
];

/// Tables with a project column. Tables that subqueries read come last.
const TABLES_BY_PROJECT: &str = "
    activity alerts baselines calibrations decisions early_outcomes entity_tallies newest open_sessions
    pair_tallies pending_traces quality quality_days rank_totals reacted reacted_days reactions relevance returned
    routers turn_facts turn_index waits waits_days claims dead_letters router_progress router_states
    router_turns events experiments turns conversations users";

/// Tables with a tenant column. API keys stay.
const TABLES_BY_TENANT: [&str; 3] = ["privacy", "targets", "projects"];

/// Removes a tenant in one transaction, then from memory. Returns the number of events.
pub(crate) fn remove_tenant(
    connection: &mut Connection,
    tenant: &Tenant,
    similar: &SimilarityIndexes,
) -> Result<usize, StoreError> {
    let transaction = connection.transaction()?;
    let projects = find_projects(&transaction, tenant, None)?;
    projects.iter().try_for_each(|project| lock_project(&transaction, *project))?;
    let end = newest_position(&transaction)?;
    let is_projection = |table: &str| PROJECTIONS.iter().any(|(name, _)| *name == table);
    let run = |sql: &str| transaction.prepare(sql)?.execute([tenant.as_str()]);
    // Baselines first, because they are selected through the other tables.
    for prefix in ["baseline_", ""] {
        let wanted = |table: &str| prefix.is_empty() || is_projection(table);
        for (table, column, keys) in TABLES_BY_KEY.into_iter().filter(|(table, ..)| wanted(table)) {
            run(&format!("DELETE FROM {prefix}{table} WHERE {column} IN {keys}"))?;
        }
    }
    for table in TABLES_BY_PROJECT.split_whitespace().filter(|table| is_projection(table)) {
        run(&format!("DELETE FROM baseline_{table} WHERE project IN {PROJECTS}"))?;
    }
    for table in TABLES_BY_TENANT.into_iter().filter(|table| is_projection(table)) {
        run(&format!("DELETE FROM baseline_{table} WHERE tenant = ?1"))?;
    }
    let mut events = 0;
    for table in TABLES_BY_PROJECT.split_whitespace() {
        let gone = run(&format!("DELETE FROM {table} WHERE project IN {PROJECTS}"))?;
        events += if table == "events" { gone } else { 0 };
    }
    for table in TABLES_BY_TENANT {
        run(&format!("DELETE FROM {table} WHERE tenant = ?1"))?;
    }
    if newest_position(&transaction)? < end {
        meta::write_position(&transaction, meta::REMOVED_POSITION, end)?;
    }
    transaction.commit()?;
    similar.forget(&projects);
    #[cfg(feature = "scaled")]
    if let Some(session) = connection.postgres() {
        ["users", "conversations", "turns"].iter().for_each(|table| session.keys().forget(table));
    }
    Ok(events)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::maintenance::migrations;
    use crate::sqlite;

    /// Tables without rows of a tenant, or whose rows stay.
    const SHARED_TABLES: [&str; 5] = ["meta", "cursors", "keys", "leases", "ended_visits"];

    #[test]
    fn every_table_is_thought_of() {
        let folder = tempfile::tempdir().unwrap();
        let file = sqlite::writer(&folder.path().join("uptake.db")).unwrap();
        let mut connection = Connection::Sqlite(file);
        migrations::migrate_to_newest(&mut connection).unwrap();
        let sql = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'
            AND name NOT LIKE 'baseline_%' AND name NOT LIKE 'event_words%'";
        let tables: Vec<String> = connection
            .prepare(sql)
            .unwrap()
            .query_map((), |row| row.get(0))
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        let others = TABLES_BY_KEY.iter().map(|(table, ..)| *table);
        let known: Vec<&str> = others
            .chain(TABLES_BY_PROJECT.split_whitespace())
            .chain(TABLES_BY_TENANT)
            .chain(SHARED_TABLES)
            .collect();
        assert!(tables.len() > 30);
        for table in tables {
            assert!(known.contains(&table.as_str()), "{table} would keep what was removed");
        }
    }
}
