//! The target database of a migration, with the record of its progress.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use bytes::Bytes;
use model::Position;
use sql::{Connection, Session};

use super::Handover;
use super::columns::Layout;
use super::tables::{self, Table};
use crate::error::StoreError;
use crate::meta;
use crate::postgres::{self, MIGRATION_NOTE, Server};

/// The advisory lock of migration runs.
const LOCK: i64 = 0x7570_6d69_6772;
/// An interrupted run may hold the lock briefly.
const MAX_ATTEMPTS: u32 = 50;
const RETRY_INTERVAL: Duration = Duration::from_millis(200);

pub(crate) struct Target(Connection);

impl Target {
    /// Locks the database, which must be empty or hold an unfinished run from the same source.
    pub(crate) fn claim(address: &str, source: &Handover) -> Result<Self, StoreError> {
        let connection = Server::parse(address)?.open()?;
        lock(&connection)?;
        let target = Self(connection);
        target.0.raw_batch("BEGIN")?;
        let claimed = postgres::lock(&target.0).and_then(|()| target.prepare(source));
        target.0.raw_batch(if claimed.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
        claimed?;
        // Progress is as durable as its rows. Only the end waits for fsync.
        target.0.raw_batch("SET synchronous_commit = off")?;
        Ok(target)
    }

    pub(crate) fn session(&self) -> Result<&Session, StoreError> {
        match &self.0 {
            Connection::Postgres(session) => Ok(session),
            Connection::Sqlite(_) => {
                Err(StoreError::Migration("the target is not a Postgres database".into()))
            }
        }
    }

    fn prepare(&self, source: &Handover) -> Result<(), StoreError> {
        let name = source_name(source);
        if postgres::is_unfinished(&self.0)? {
            return self.go_on(source, &name);
        }
        let here = "SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p', 'v', 'm', 'f')";
        let known = format!("{here} AND c.relname = 'schema_version'");
        let count = |sql: &str| self.0.query_row(sql, (), |row| row.get::<_, i64>(0));
        if count(&known)? > 0 {
            let why = if meta::find_seal_key(&self.0)? == Some(source.seal_key) {
                "the target already holds a complete copy of this store"
            } else {
                "the target holds another store"
            };
            return Err(StoreError::Migration(format!("{why}; name an empty database")));
        }
        let others = count(here)?;
        if others > 0 {
            let why = format!("the target holds {others} tables of another application");
            return Err(StoreError::Migration(format!("{why}; name an empty database")));
        }
        postgres::migrate(&self.0)?;
        self.0.raw_batch(&format!(
            "DELETE FROM log_head;
             CREATE TABLE {MIGRATION_NOTE} (
                 part TEXT COLLATE \"C\" PRIMARY KEY,
                 rows BIGINT NOT NULL
             )"
        ))?;
        self.note(&name, source.head.0)
    }

    fn go_on(&self, source: &Handover, name: &str) -> Result<(), StoreError> {
        postgres::migrate(&self.0)?;
        let Some(head) = self.read_note(name)? else {
            let why = "the target holds an unfinished migration of another store; finish that \
                migration, or name an empty database";
            return Err(StoreError::Migration(why.into()));
        };
        if head == source.head.0 {
            return Ok(());
        }
        tracing::warn!("the store was used since the last run; copying from the beginning");
        for table in tables::all() {
            self.0.raw_batch(&format!("TRUNCATE {table}"))?;
        }
        self.0.raw_batch(&format!("DELETE FROM {MIGRATION_NOTE}; TRUNCATE turn_touches"))?;
        self.note(name, source.head.0)
    }

    pub(crate) fn copied_rows(&self, table: &Table) -> Result<u64, StoreError> {
        Ok(self.read_note(&table.name)?.unwrap_or(0))
    }

    fn read_note(&self, part: &str) -> Result<Option<u64>, StoreError> {
        let select = format!("SELECT rows FROM {MIGRATION_NOTE} WHERE part = ?1");
        Ok(self.0.find_row(&select, [part])?)
    }

    fn note(&self, part: &str, more: u64) -> Result<(), StoreError> {
        let add = format!(
            "INSERT INTO {MIGRATION_NOTE} (part, rows) VALUES (?1, ?2)
             ON CONFLICT (part) DO UPDATE SET rows = {MIGRATION_NOTE}.rows + excluded.rows"
        );
        self.0.execute_cached(&add, (part, more as i64))?;
        Ok(())
    }

    /// Adds rows to a table and records their number.
    pub(crate) fn add(
        &mut self,
        table: &Table,
        columns: &str,
        rows: u64,
        bytes: Bytes,
    ) -> Result<(), StoreError> {
        self.0.raw_batch("BEGIN")?;
        let copy = format!("COPY {table} ({columns}) FROM STDIN BINARY");
        let added = self.session().and_then(|session| Ok(session.copy_in(&copy, bytes)?));
        let added = added.and_then(|()| self.note(&table.name, rows));
        self.0.raw_batch(if added.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
        added
    }

    pub(crate) fn empty(&mut self, table: &Table) -> Result<(), StoreError> {
        let name = &table.name;
        Ok(self.0.raw_batch(&format!(
            "BEGIN; TRUNCATE {name}; DELETE FROM {MIGRATION_NOTE} WHERE part = '{name}'; COMMIT"
        ))?)
    }

    /// Creates the partitions before events are copied.
    pub(crate) fn make_partitions(&self, source: &Connection) -> Result<(), StoreError> {
        // Every position up to the head, since later partitions are created by the running nodes.
        let ends = "SELECT coalesce(min(position), 0), coalesce(max(position), 0) FROM events";
        let (first, last): (i64, i64) = source.read_row(ends, ())?;
        self.0.raw_batch(&format!(
            "SELECT make_partition(n)
             FROM generate_series(partition_number({first}), partition_number({last})) n"
        ))?;
        Ok(())
    }

    /// Deletes the progress record, which turns the database into a store.
    pub(crate) fn finish(&self, layouts: &[Layout], head: Position) -> Result<(), StoreError> {
        let mut end = String::from("SET synchronous_commit = on; BEGIN;");
        for layout in layouts {
            let table = &layout.table.name;
            for column in layout.columns.iter().filter(|column| column.is_identity) {
                let name = &column.name;
                end.push_str(&format!(
                    "SELECT setval(pg_get_serial_sequence('{table}', '{name}'),
                         coalesce(max({name}), 1), max({name}) IS NOT NULL) FROM {table};"
                ));
            }
        }
        let head = head.0;
        end.push_str(&format!(
            "INSERT INTO log_head (position) VALUES ({head}); DROP TABLE {MIGRATION_NOTE}; COMMIT;"
        ));
        self.0.raw_batch(&end)?;
        // Without statistics the first queries would have bad plans.
        Ok(self.0.raw_batch("ANALYZE")?)
    }
}

fn lock(connection: &Connection) -> Result<(), StoreError> {
    for _ in 0..MAX_ATTEMPTS {
        if connection.read_row("SELECT pg_try_advisory_lock(?1)", [LOCK])? {
            return Ok(());
        }
        std::thread::sleep(RETRY_INTERVAL);
    }
    Err(StoreError::Migration("another migration into this database is running".into()))
}

/// A hash that identifies the source without revealing its key.
fn source_name(source: &Handover) -> String {
    let mut hasher = DefaultHasher::new();
    source.seal_key.hash(&mut hasher);
    format!("source {:016x}", hasher.finish())
}
