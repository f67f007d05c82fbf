//! Counts a conversation's reactions in the window.

use model::{Origin, Reaction};

use super::Search;
use crate::error::StoreError;
use crate::projections::apply::DAY_MICROS;
use crate::queries::period::ReactionCounts;
use crate::row_keys::Key;

impl Search<'_> {
    pub(crate) fn counts(&self, conversation: Key) -> Result<ReactionCounts, StoreError> {
        if self.user.is_none() {
            return self.counts_by_day(conversation);
        }
        let window = (self.window.start.as_micros(), self.window.end.as_micros());
        let mut counts = ReactionCounts::default();
        for (origin, reaction) in self.combinations() {
            counts.add(origin, reaction, self.count(conversation, origin, reaction, window)?);
        }
        Ok(counts)
    }

    /// Whole days come from the counters, partial days from the reactions.
    fn counts_by_day(&self, conversation: Key) -> Result<ReactionCounts, StoreError> {
        let (start, end) = (self.window.start.as_micros(), self.window.end.as_micros());
        let mut counts = ReactionCounts::default();
        let mut select = self.connection.prepare_cached(
            "SELECT day, origin, reaction, count, last_ts FROM activity
             WHERE conversation = ?1 AND day >= ?2 AND day <= ?3",
        )?;
        let days = (conversation, start.div_euclid(DAY_MICROS), end.div_euclid(DAY_MICROS));
        let mut rows = select.query(days)?;
        while let Some(row) = &rows.next()? {
            let (origin, reaction) = sort(row.get(1)?, row.get(2)?)?;
            if !self.combinations().any(|wanted| wanted == (origin, reaction)) {
                continue;
            }
            let first = row.get::<_, i64>(0)? * DAY_MICROS;
            let whole = first >= start && row.get::<_, i64>(4)? <= end;
            let count = if whole {
                row.get(3)?
            } else {
                let within = (first.max(start), (first + DAY_MICROS - 1).min(end));
                self.count(conversation, origin, reaction, within)?
            };
            counts.add(origin, reaction, count);
        }
        Ok(counts)
    }

    /// Counts the user's reactions, or all of them, one by one.
    fn count(
        &self,
        conversation: Key,
        origin: Origin,
        reaction: Reaction,
        (from, to): (i64, i64),
    ) -> sql::Result<u64> {
        let sql = "SELECT count(*) FROM reactions
            WHERE conversation = ?1 AND origin = ?2 AND reaction = ?3 AND ts >= ?4 AND ts <= ?5";
        let (origin, reaction) = (origin.code(), reaction.code());
        match self.user {
            None => self.connection.read_row(sql, (conversation, origin, reaction, from, to)),
            Some(user) => {
                let values = (conversation, origin, reaction, from, to, user);
                self.connection.read_row(&format!("{sql} AND user = ?6"), values)
            }
        }
    }
}

fn sort(origin: u8, reaction: u8) -> Result<(Origin, Reaction), StoreError> {
    Origin::from_code(origin).zip(Reaction::from_code(reaction)).ok_or_else(|| {
        StoreError::Corrupt("a reaction counter has an unknown origin or reaction".into())
    })
}
