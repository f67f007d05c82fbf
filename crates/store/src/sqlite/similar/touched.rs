//! Which turns a transaction touched, told by SQLite itself: no way of writing can be forgotten.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;
use rusqlite::hooks::Action;

use super::super::keys::Key;

/// Turns that were touched since the last look, and whether their vector was.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Touched(Arc<Mutex<BTreeMap<Key, bool>>>);

impl Touched {
    /// Listens on the connection that writes.
    pub(in super::super) fn listen(connection: &mut Connection) -> rusqlite::Result<Self> {
        let touched = Self::default();
        let turns = Arc::clone(&touched.0);
        connection.update_hook(Some(move |_: Action, _: &str, table: &str, row: i64| {
            let vector = match table {
                "turn_vectors" => true,
                "turn_index" => false,
                _ => return,
            };
            let mut turns = turns.lock().unwrap_or_else(PoisonError::into_inner);
            *turns.entry(row).or_default() |= vector;
        }))?;
        Ok(touched)
    }

    /// Not done with yet.
    pub(in super::super) fn put_back(&self, turns: BTreeMap<Key, bool>) {
        let mut touched = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (turn, vector) in turns {
            *touched.entry(turn).or_default() |= vector;
        }
    }

    /// What was touched; it is forgotten here.
    pub(in super::super) fn take(&self) -> BTreeMap<Key, bool> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
