//! Writes find their rows by an index.
//!
//! Plans are made before parameters are known. A partial index is used only when the statement
//! contains its condition as a literal.

use model::{Change, Outcome, Scope, UserId, Write};
use sql::recorded_statements;

use super::open;
use crate::contract::retention::cover_all_events;
use crate::contract::{quality, rebuild};
use crate::projections::PROJECTIONS;
use crate::projections::apply::USER_EVENTS;

/// Tables that grow with all events, turns or users.
const LONGEST: [&str; 4] = ["claims", "events", "baseline_turn_facts", "baseline_profiles"];

fn writes(sql: &str) -> bool {
    ["INSERT ", "UPDATE ", "DELETE ", "REPLACE "].iter().any(|verb| sql.contains(verb))
}

#[tokio::test]
async fn writes_never_scan_the_longest_tables() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    rebuild::play_everything(&store).await;
    let erase = vec![Change::EraseUser(UserId::new("u1").unwrap())];
    let erasure =
        Write::new(testkit::redacted(testkit::event(&Scope::default(), "erasure")), erase);
    let outcomes = store.commit(vec![erasure]).await.unwrap();
    assert!(matches!(outcomes[..], [Outcome::Stored(_)]), "{outcomes:?}");
    drop(store);
    let file = rusqlite::Connection::open(folder.path().join("uptake.db")).unwrap();
    // A store's connection has foreign keys off.
    file.pragma_update(None, "foreign_keys", false).unwrap();
    // May include statements of concurrent tests.
    let statements: Vec<String> =
        recorded_statements().into_iter().filter(|sql| writes(sql)).collect();
    for part in [
        "UPDATE claims INDEXED BY",
        "INSERT INTO copies_due",
        "INSERT INTO turn_index",
        "UPDATE baseline_turn_facts",
        "UPDATE baseline_profiles",
    ] {
        assert!(statements.iter().any(|sql| sql.contains(part)), "{part} was not heard of");
    }
    for sql in statements {
        // Another test may have created tables.
        let Ok(mut explain) = file.prepare(&format!("EXPLAIN QUERY PLAN {sql}")) else { continue };
        let mut steps = explain.raw_query();
        while let Some(step) = steps.next().unwrap() {
            let step: String = step.get("detail").unwrap();
            let scans = |table: &&str| format!("{step} ").starts_with(&format!("SCAN {table} "));
            assert!(!LONGEST.iter().any(scans), "{step}: {sql}");
        }
    }
}

/// Other writers wait for a step that moves a baseline.
#[tokio::test]
async fn baseline_finds_its_rows_by_an_index() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    quality::play_anything(&store).await;
    cover_all_events(&store, quality::changes_of).await;
    drop(store);
    let file = rusqlite::Connection::open(folder.path().join("uptake.db")).unwrap();
    // Statements of a step name the plain table as an alias. Other tests record their statements too.
    let of_step = |sql: &str| {
        PROJECTIONS.iter().any(|(table, _)| sql.contains(&format!("baseline_{table} AS {table}")))
    };
    // A migration reads all experiments.
    let of_baseline = |sql: &String| of_step(sql) && !sql.ends_with("experiments ORDER BY key");
    let statements: Vec<String> = recorded_statements().into_iter().filter(of_baseline).collect();
    assert!(statements.iter().any(|sql| sql.contains("baseline_turn_facts AS turn_facts")));
    for sql in statements {
        let Ok(mut explain) = file.prepare(&format!("EXPLAIN QUERY PLAN {sql}")) else { continue };
        let mut steps = explain.raw_query();
        while let Some(step) = steps.next().unwrap() {
            let step: String = step.get("detail").unwrap();
            let scans = |table: &str| {
                let table = table.trim_start_matches("baseline_");
                // Also the alias of a subquery.
                table != "newest" && PROJECTIONS.iter().any(|(name, _)| *name == table)
            };
            let scanned = step.strip_prefix("SCAN ").and_then(|rest| rest.split(' ').next());
            assert!(!scanned.is_some_and(scans), "{step}: {sql}");
        }
    }
}

#[tokio::test]
async fn user_reactions_are_counted_by_an_index() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    rebuild::play_everything(&store).await;
    let user = UserId::new("u1").unwrap();
    store.user_data(&Scope::default(), &user).await.unwrap();
    drop(store);
    let file = rusqlite::Connection::open(folder.path().join("uptake.db")).unwrap();
    let counting = |sql: &String| sql.starts_with("SELECT count(*) FROM reactions WHERE");
    let statements: Vec<String> = recorded_statements().into_iter().filter(counting).collect();
    assert!(!statements.is_empty());
    for sql in statements {
        let mut explain = file.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let mut steps = explain.raw_query();
        while let Some(step) = steps.next().unwrap() {
            let step: String = step.get("detail").unwrap();
            assert!(!step.starts_with("SCAN"), "{step}: {sql}");
        }
    }
}

/// All writes wait for an erasure.
#[test]
fn erasure_finds_events_by_an_index() {
    // The tables of the statement by alias. The other names are its own results.
    const ALIASES: [&str; 8] = ["events", "e", "t", "other", "d", "early", "r", "same"];
    let folder = tempfile::tempdir().unwrap();
    drop(open(folder.path()).unwrap());
    let file = rusqlite::Connection::open(folder.path().join("uptake.db")).unwrap();
    let sql = format!(
        "EXPLAIN QUERY PLAN {USER_EVENTS} SELECT e.turn FROM theirs CROSS JOIN events e
         WHERE e.position = theirs.position"
    );
    let mut explain = file.prepare(&sql).unwrap();
    let mut steps = explain.raw_query();
    let mut found = Vec::new();
    while let Some(step) = steps.next().unwrap() {
        let step: String = step.get("detail").unwrap();
        let scans = |alias: &&str| format!("{step} ").starts_with(&format!("SCAN {alias} "));
        found.push(step.clone());
        assert!(!ALIASES.iter().any(scans), "{step}: {found:#?}");
    }
    for index in ["decisions_by_made", "returned_by_position"] {
        assert!(found.iter().any(|step| step.contains(index)), "{index} is not used: {found:?}");
    }
}
