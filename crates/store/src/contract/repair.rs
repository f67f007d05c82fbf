//! Contract of a rebuild that finds differences.

use std::collections::BTreeMap;

use model::{Change, Event, Fields, Project, Reaction, Scope, SettingsChange, TurnChange};
use rusqlite::Connection as File;
use sql::Connection;

use crate::contract::scene::{Scene, play, turn_id};
use crate::contract::{experiments, quality, rebuild};
use crate::maintenance::migrations;
use crate::projections::PROJECTIONS;
use crate::projections::baseline::ChangesOf;
use crate::{Rebuild, Rebuilt, Store};

async fn run(store: &Store, changes_of: ChangesOf) -> Rebuilt {
    store.rebuild(Rebuild { changes_of, progress: Box::new(|_, _| {}) }).await.unwrap()
}

async fn execute(store: &Store, sql: String) {
    store.writer.run(move |connection| Ok(connection.execute_batch(&sql)?)).await.unwrap();
}

/// The projections with their columns.
fn columns() -> Vec<(&'static str, Vec<String>)> {
    let schema = Connection::Sqlite(File::open_in_memory().unwrap());
    migrations::create_schema(&schema).unwrap();
    let columns = |table| {
        let select = "SELECT name FROM pragma_table_info(?1)";
        (table, schema.read_rows(select, [table]).unwrap())
    };
    PROJECTIONS.iter().map(|(table, _)| columns(*table)).collect()
}

/// All rows of the projections.
async fn rows(store: &Store) -> BTreeMap<&'static str, Vec<String>> {
    let read = |connection: &Connection| {
        let mut found = BTreeMap::new();
        for (table, columns) in columns() {
            let select = format!("SELECT {} FROM {table}", columns.join(", "));
            let mut rows: Vec<String> = connection.read_rows_with(&select, (), |row| {
                let values = (0..columns.len()).map(|column| row.get_ref(column));
                let values = values.collect::<sql::Result<Vec<_>>>()?;
                Ok::<_, sql::Error>(format!("{values:?}"))
            })?;
            rows.sort_unstable();
            found.insert(table, rows);
        }
        Ok(found)
    };
    store.pool.run(read).await.unwrap()
}

pub(crate) async fn damage_of_every_projection_is_repaired(store: &Store) {
    quality::play_anything(store).await;
    // In another project, because their ids are the same.
    let [a, ..] = other_projects();
    play(store, experiments::scenes().into_iter().map(|scene| scene.of(&a))).await;
    let changes_of = |event: &Event| match event.scope == Scope::default() {
        true => quality::changes_of(event),
        false => experiments::changes_of(event),
    };
    let expected = rows(store).await;
    assert!(!run(store, changes_of).await.changed);
    let keys: BTreeMap<&str, &str> = PROJECTIONS.into_iter().collect();
    let others = || columns().into_iter().filter(|(table, _)| *table != "turns");
    let additions = others().map(|(table, columns)| {
        let values = vec!["'99'"; columns.len()].join(", ");
        format!("INSERT INTO {table} ({}) VALUES ({values});", columns.join(", "))
    });
    // The last column that is not part of the key.
    let changes = columns().into_iter().filter_map(|(table, columns)| {
        let is_key = |column: &&String| keys[table].split(", ").any(|key| key == column.as_str());
        let last = columns.iter().rfind(|column| !is_key(column))?;
        Some(format!("UPDATE {table} SET {last} = '98';"))
    });
    let deletions = others().map(|(table, _)| format!("DELETE FROM {table};"));
    let turns = "UPDATE turns SET conversation = NULL, opened = 7;".to_owned();
    for damage in [additions.collect(), changes.collect(), deletions.collect(), turns] {
        execute(store, damage.clone()).await;
        let damaged = rows(store).await;
        let words: Vec<&str> = damage.split([' ', ';']).collect();
        for table in expected.keys().filter(|table| words.contains(table)) {
            let is_empty = expected[table].is_empty() && !damage.contains("INSERT");
            assert!(is_empty || damaged[table] != expected[table], "{table} was not damaged");
        }
        assert!(run(store, changes_of).await.changed, "{damage}");
        let repaired = rows(store).await;
        for (table, rows) in &expected {
            assert_eq!(repaired[table], *rows, "{table} after {damage}");
        }
        assert!(!run(store, changes_of).await.changed, "{damage}");
    }
}

/// A newer program may derive changes that name ids which the store has never seen.
pub(crate) async fn rebuild_creates_ids_that_changes_name(store: &Store) {
    rebuild::play_everything(store).await;
    let changes_of: ChangesOf = |event| {
        let mut changes = rebuild::changes_of(event);
        for change in &mut changes {
            if let Change::Turn(TurnChange::React { detected_in, .. }) = change {
                *detected_in = Some(turn_id("unheard of"));
            }
        }
        changes
    };
    assert!(run(store, changes_of).await.changed);
    assert!(!run(store, changes_of).await.changed);
    let found = rows(store).await;
    assert_eq!(found["turns"].iter().filter(|row| row.contains("unheard of")).count(), 1);
}

fn other_projects() -> [Scope; 3] {
    ["a", "b", "c"].map(|name| Scope { project: Project::new(name).unwrap(), ..Scope::default() })
}

pub(crate) async fn projects_are_rebuilt_side_by_side(store: &Store) {
    rebuild::play_everything(store).await;
    for scope in other_projects() {
        play(store, rebuild::scenes_of(&scope)).await;
    }
    let expected = rows(store).await;
    let unchanged = Rebuilt { events: 44, changed: false };
    assert_eq!(run(store, rebuild::changes_of).await, unchanged);
    for table in ["activity", "decisions", "turn_vectors", "turn_facts"] {
        execute(store, format!("DELETE FROM {table}")).await;
    }
    assert_eq!(run(store, rebuild::changes_of).await, Rebuilt { changed: true, ..unchanged });
    assert_eq!(rows(store).await, expected);
}

pub(crate) async fn newest_settings_of_a_tenant_apply_after_a_rebuild(store: &Store) {
    let changes_of: ChangesOf = |event| {
        let id = event.id.as_str().to_owned();
        let mut settings = Fields::default();
        settings.insert("set_by".to_owned(), id.into());
        vec![Change::Settings(SettingsChange::Privacy(settings))]
    };
    let [a, b, _] = other_projects();
    for (id, scope) in [("first", &b), ("second", &Scope::default()), ("third", &a), ("last", &b)] {
        let mut scene = Scene::react(id, "t1", Reaction::Ok).of(scope);
        scene.change = changes_of(&scene.event).remove(0);
        play(store, [scene]).await;
    }
    assert!(!run(store, changes_of).await.changed);
    execute(store, "DELETE FROM privacy".to_owned()).await;
    assert!(run(store, changes_of).await.changed);
    let privacy = rows(store).await.remove("privacy").unwrap();
    assert!(privacy.len() == 1 && privacy[0].contains("last"), "{privacy:?}");
}
