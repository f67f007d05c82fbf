//! A scratch database with the replayed projections of some projects. A file without fsync, deleted
//! at the end.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use model::{Change, SettingsChange};
use sql::Connection;

use crate::error::StoreError;
use crate::maintenance::migrations;
use crate::maintenance::rebuild::layout::Layout;
use crate::maintenance::rebuild::rows::{Cell, for_each_row};
use crate::projections::apply::{Subject, apply};
use crate::row_keys::{Key, Table};
use crate::sqlite;

/// Keys from here on are of ids that the replay names and the store lacks.
pub(super) const NEW_KEYS: Key = 1 << 62;

/// Tables of ids, with their columns.
const ID_TABLES: [(Table, &str, &str); 3] = [
    (Table::Users, "users", "key, project, id, erased"),
    (Table::Conversations, "conversations", "key, project, id"),
    (Table::Turns, "turns", "key, project, id"),
];

/// An id that the replay names and the store lacks.
pub(super) struct NewId {
    pub(super) table: Table,
    pub(super) project: Key,
    pub(super) id: String,
}

/// Indexes of queries. Changes do not read them.
const UNUSED_INDEXES: [&str; 20] = [
    "turns_by_track",
    "turns_answered",
    "turns_by_user",
    "reactions_by_time",
    "reactions_by_user",
    "reactions_of_users",
    "activity_by_time",
    "newest_by_time",
    "decisions_by_conversation",
    "decisions_by_made",
    "returned_by_position",
    "idx_feedback_status",
    "turn_index_by_review",
    "turn_index_by_corrected",
    "open_sessions_by_time",
    "turn_facts_by_time",
    "turn_facts_by_strategy",
    "turn_facts_negative",
    "entities_by_use",
    "entities_by_neglect",
];

const PREFIX: &str = "rebuild-";
const SUFFIX: &str = ".scratch";
static NEXT_NUMBER: AtomicU64 = AtomicU64::new(0);

pub(super) struct Scratch {
    pub(super) connection: Connection,
    pub(super) projects: HashSet<Key>,
    // Settings of tenants. The newest of all projects applies.
    pub(super) settings: Vec<(Subject, Change)>,
    // Dropped after the connection.
    _file: ScratchFile,
}

/// Deletes the file when dropped.
struct ScratchFile(PathBuf);

impl Drop for ScratchFile {
    fn drop(&mut self) {
        // On Unix it is gone already.
        drop(std::fs::remove_file(&self.0));
    }
}

/// Removes files of a process that was killed.
pub(super) fn remove_abandoned(folder: &Path) {
    let own = format!("{PREFIX}{}-", std::process::id());
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(PREFIX) && name.ends_with(SUFFIX) && !name.starts_with(&own) {
            drop(std::fs::remove_file(entry.path()));
        }
    }
}

impl Scratch {
    /// Creates an empty one, with the keys of all projects.
    pub(super) fn create(folder: &Path, store: &Connection) -> Result<Self, StoreError> {
        let number = NEXT_NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("{PREFIX}{}-{number}{SUFFIX}", std::process::id());
        let file = ScratchFile(folder.join(name));
        let connection = Connection::Sqlite(sqlite::scratch(&file.0)?);
        migrations::create_schema(&connection)?;
        // An open file stays readable. A killed process leaves none.
        #[cfg(unix)]
        drop(std::fs::remove_file(&file.0));
        let unused: String =
            UNUSED_INDEXES.iter().map(|index| format!("DROP INDEX IF EXISTS {index};")).collect();
        connection.execute_batch(&unused)?;
        connection.execute_batch("BEGIN")?;
        for (_, table, _) in ID_TABLES {
            let first = format!("INSERT INTO {table} (key, project, id) VALUES (?1, 0, '')");
            connection.execute(&first, [NEW_KEYS])?;
        }
        let (projects, settings) = (HashSet::new(), Vec::new());
        let scratch = Self { connection, projects, settings, _file: file };
        scratch.copy_projects(store)?;
        Ok(scratch)
    }

    pub(super) fn copy_projects(&self, store: &Connection) -> Result<(), StoreError> {
        self.copy(store, "projects", "key, tenant, project", "1 = 1")
    }

    /// Copies the ids of projects, with their keys. `projects` is a list of keys.
    pub(super) fn copy_ids(&self, store: &Connection, projects: &str) -> Result<(), StoreError> {
        for (_, table, columns) in ID_TABLES {
            self.copy(store, table, columns, &format!("project IN ({projects})"))?;
        }
        Ok(())
    }

    fn copy(
        &self,
        store: &Connection,
        table: &str,
        columns: &str,
        condition: &str,
    ) -> Result<(), StoreError> {
        let places: Vec<String> =
            (1..=columns.split(", ").count()).map(|n| format!("?{n}")).collect();
        let mut insert = self.connection.prepare(&format!(
            "INSERT OR IGNORE INTO {table} ({columns}) VALUES ({})",
            places.join(", ")
        ))?;
        let select = format!("SELECT {columns} FROM {table} WHERE {condition}");
        for_each_row(store, &select, |row| {
            let cells: sql::Result<Vec<Cell>> =
                (0..places.len()).map(|column| Ok(Cell::from(row.get_ref(column)?))).collect();
            insert.execute(cells?)?;
            Ok(ControlFlow::Continue(()))
        })
    }

    /// Copies rows of a projection's baseline that satisfy a condition.
    pub(super) fn copy_baseline(
        &self,
        store: &Connection,
        layout: &Layout,
        condition: &str,
    ) -> Result<(), StoreError> {
        let names = layout.names();
        let replace = layout.insert().replacen("INSERT", "REPLACE", 1);
        let mut insert = self.connection.prepare(&replace)?;
        let select = format!("SELECT {names} FROM baseline_{} WHERE {condition}", layout.table);
        for_each_row(store, &select, |row| {
            insert.execute(layout.parameters(&layout.cells(row)?))?;
            Ok(ControlFlow::Continue(()))
        })
    }

    /// Applies the changes of an event.
    pub(super) fn apply(&mut self, subject: &Subject, changes: Vec<Change>) -> sql::Result<()> {
        for change in changes {
            if is_of_tenant(&change) {
                self.keep_settings(subject, change);
            } else {
                apply(&self.connection, subject, &change)?;
            }
        }
        Ok(())
    }

    /// Keeps the newest settings of each sort and project.
    fn keep_settings(&mut self, subject: &Subject, change: Change) {
        let is_older = |(other, old): &(Subject, Change)| {
            other.project == subject.project && is_privacy(old) == is_privacy(&change)
        };
        self.settings.retain(|one| !is_older(one));
        self.settings.push((subject.clone(), change));
    }

    /// Ids that the replay created.
    pub(super) fn new_ids(&self) -> sql::Result<Vec<NewId>> {
        let mut found = Vec::new();
        for (table, name, _) in ID_TABLES {
            let select = format!("SELECT project, id FROM {name} WHERE key > ?1");
            found.extend(self.connection.read_rows_with(&select, [NEW_KEYS], |row| {
                let (project, id) = row.read()?;
                Ok::<_, sql::Error>(NewId { table, project, id })
            })?);
        }
        Ok(found)
    }
}

/// The project whose replay holds the settings of a project's tenant: the default project, which
/// has their baseline, otherwise the oldest.
pub(super) fn owner_of_settings(store: &Connection, project: Key) -> sql::Result<Key> {
    store.read_row(
        "SELECT key FROM projects WHERE tenant = (SELECT tenant FROM projects WHERE key = ?1)
         ORDER BY CASE project WHEN 'default' THEN 0 ELSE 1 END, key LIMIT 1",
        [project],
    )
}

fn is_of_tenant(change: &Change) -> bool {
    matches!(change, Change::Settings(SettingsChange::Privacy(_) | SettingsChange::Targets(_)))
}

fn is_privacy(change: &Change) -> bool {
    matches!(change, Change::Settings(SettingsChange::Privacy(_)))
}
