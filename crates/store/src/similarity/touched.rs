//! Which turns a transaction touched, told by the database itself: no way of writing can be
//! forgotten.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::hooks::Action;
use sql::Connection;

use crate::row_keys::Key;

/// Turns that were touched since the last look, and whether their vector was.
pub(crate) type Turns = BTreeMap<Key, bool>;

/// Finds them.
pub(crate) enum Touched {
    Heard(Arc<Mutex<Turns>>),
    /// Postgres numbers what is written, on whatever node: up to here it was looked at.
    #[cfg(feature = "scaled")]
    Numbered(i64),
}

impl Touched {
    /// Listens on the connection that writes.
    pub(crate) fn listen(connection: &mut rusqlite::Connection) -> rusqlite::Result<Self> {
        let heard = Arc::new(Mutex::new(Turns::new()));
        let turns = Arc::clone(&heard);
        connection.update_hook(Some(move |_: Action, _: &str, table: &str, row: i64| {
            let vector = match table {
                "turn_vectors" => true,
                "turn_index" => false,
                _ => return,
            };
            let mut turns = turns.lock().unwrap_or_else(PoisonError::into_inner);
            *turns.entry(row).or_default() |= vector;
        }))?;
        Ok(Self::Heard(heard))
    }

    /// Looks at what is written from now on.
    #[cfg(feature = "scaled")]
    pub(crate) fn from_now(connection: &Connection) -> sql::Result<Self> {
        let newest = "SELECT coalesce(max(touched), 0) FROM turn_touches";
        connection.query_row(newest, (), |row| row.get(0)).map(Self::Numbered)
    }

    #[cfg_attr(not(feature = "scaled"), expect(unused_variables, reason = "it was heard already"))]
    /// Gives what was touched to `keep`; if that fails it is given again the next time.
    pub(crate) fn look(
        &mut self,
        connection: &Connection,
        keep: impl FnOnce(&Turns) -> sql::Result<()>,
    ) -> sql::Result<()> {
        match self {
            Self::Heard(heard) => {
                let mut heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
                keep(&heard)?;
                heard.clear();
            }
            #[cfg(feature = "scaled")]
            Self::Numbered(last) => {
                let mut select = connection.prepare_cached(
                    "SELECT turn, vectored > ?1, touched FROM turn_touches WHERE touched > ?1",
                )?;
                let mut rows = select.query([*last])?;
                let (mut turns, mut newest) = (Turns::new(), *last);
                while let Some(row) = &rows.next()? {
                    turns.insert(row.get(0)?, row.get(1)?);
                    newest = newest.max(row.get(2)?);
                }
                keep(&turns)?;
                *last = newest;
            }
        }
        Ok(())
    }
}
