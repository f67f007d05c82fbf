//! Finds the turns a transaction touched: by an update hook on SQLite and by triggers on Postgres.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use rusqlite::hooks::Action;
use sql::Connection;

use crate::row_keys::Key;

/// Touched turns, and whether their vector changed.
pub(crate) type Turns = BTreeMap<Key, bool>;

pub(crate) enum Touched {
    Heard(Arc<Mutex<Turns>>),
    /// Postgres triggers number the touched turns on every node. This is the last number seen.
    #[cfg(feature = "scaled")]
    Numbered(i64),
}

impl Touched {
    /// Installs the update hook on the writer's connection.
    pub(crate) fn install_hooks(connection: &mut rusqlite::Connection) -> rusqlite::Result<Self> {
        let heard = Arc::new(Mutex::new(Turns::new()));
        let turns = Arc::clone(&heard);
        connection.update_hook(Some(move |_: Action, _: &str, table: &str, row: i64| {
            let vector = match table {
                "turn_vectors" => true,
                "turn_index" => false,
                _ => return,
            };
            let mut turns = turns.lock();
            *turns.entry(row).or_default() |= vector;
        }))?;
        Ok(Self::Heard(heard))
    }

    /// Starts after the turns touched so far.
    #[cfg(feature = "scaled")]
    pub(crate) fn from_now(connection: &Connection) -> sql::Result<Self> {
        let newest = "SELECT coalesce(max(touched), 0) FROM turn_touches";
        connection.query_row(newest, (), |row| row.get(0)).map(Self::Numbered)
    }

    #[cfg_attr(
        not(feature = "scaled"),
        expect(unused_variables, reason = "the update hook has recorded the turns")
    )]
    /// Passes the touched turns to `keep`. When it fails, they are passed again next time.
    pub(crate) fn look(
        &mut self,
        connection: &Connection,
        keep: impl FnOnce(&Turns) -> sql::Result<()>,
    ) -> sql::Result<()> {
        match self {
            Self::Heard(heard) => {
                let mut heard = heard.lock();
                keep(&heard)?;
                heard.clear();
            }
            #[cfg(feature = "scaled")]
            Self::Numbered(last) => {
                let touched: Vec<(Key, bool, i64)> = connection.read_rows(
                    "SELECT turn, vectored > ?1, touched FROM turn_touches WHERE touched > ?1",
                    [*last],
                )?;
                let newest = touched.iter().map(|(.., number)| *number).fold(*last, i64::max);
                let turns = touched.iter().map(|(turn, vectored, _)| (*turn, *vectored)).collect();
                keep(&turns)?;
                *last = newest;
            }
        }
        Ok(())
    }
}
