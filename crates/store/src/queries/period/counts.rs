//! Counts a conversation's reactions in the window.

use model::{Origin, Reaction};

use super::Search;
use crate::error::StoreError;
use crate::projections::apply::DAY_MICROS;
use crate::queries::period::ReactionCounts;
use crate::row_keys::Key;

impl Search<'_> {
    pub(crate) fn counts(&self, conversation: Key) -> Result<ReactionCounts, StoreError> {
        match self.user {
            None => self.counts_by_day(conversation),
            Some(user) => self.counts_of_user(conversation, user),
        }
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
                self.count_one_by_one(conversation, origin, reaction, within)?
            };
            counts.add(origin, reaction, count as u64);
        }
        Ok(counts)
    }

    fn count_one_by_one(
        &self,
        conversation: Key,
        origin: Origin,
        reaction: Reaction,
        (from, to): (i64, i64),
    ) -> sql::Result<i64> {
        self.connection
            .prepare_cached(
                "SELECT count(*) FROM reactions
                 WHERE conversation = ?1 AND origin = ?2 AND reaction = ?3
                     AND ts >= ?4 AND ts <= ?5",
            )?
            .query_row((conversation, origin.code(), reaction.code(), from, to), |row| row.get(0))
    }

    fn counts_of_user(&self, conversation: Key, user: Key) -> Result<ReactionCounts, StoreError> {
        let (start, end) = (self.window.start.as_micros(), self.window.end.as_micros());
        let mut counts = ReactionCounts::default();
        let mut select = self.connection.prepare_cached(
            "SELECT count(*) FROM reactions
             WHERE conversation = ?1 AND origin = ?2 AND reaction = ?3 AND ts >= ?4 AND ts <= ?5
                 AND user = ?6",
        )?;
        for (origin, reaction) in self.combinations() {
            let values = (conversation, origin.code(), reaction.code(), start, end, user);
            let count: i64 = select.query_row(values, |row| row.get(0))?;
            counts.add(origin, reaction, count as u64);
        }
        Ok(counts)
    }
}

fn sort(origin: u8, reaction: u8) -> Result<(Origin, Reaction), StoreError> {
    Origin::from_code(origin).zip(Reaction::from_code(reaction)).ok_or_else(|| {
        StoreError::Corrupt("a reaction counter has an unknown origin or reaction".into())
    })
}
