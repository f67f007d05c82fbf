//! Walks through the candidates of a page.

use std::collections::HashSet;

use model::Timestamp;
use sql::{Value, params_from_iter};

use super::Search;
use crate::error::StoreError;
use crate::queries::period::PeriodCursor;
use crate::queries::reactions::Where;
use crate::row_keys::Key;

/// Maximum candidates per page. A page that reaches it ends early.
const MAX_CANDIDATES: usize = 5_000;
const PAGE_CANDIDATES: usize = 500;

/// Visits candidates, newest first, until the page is full or the maximum is reached.
pub(crate) struct Walk<'a> {
    search: &'a Search<'a>,
    after: Option<PeriodCursor>,
    limit: usize,
    looked_at: usize,
    cut_short_at: Option<PeriodCursor>,
    seen: HashSet<Key>,
    marks: Vec<PeriodCursor>,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(search: &'a Search<'a>, after: Option<PeriodCursor>, limit: usize) -> Self {
        let (looked_at, cut_short_at) = (0, None);
        let (seen, marks) = (HashSet::new(), Vec::new());
        Self { search, after, limit, looked_at, cut_short_at, seen, marks }
    }

    pub(crate) fn end(self) -> (Vec<PeriodCursor>, Option<PeriodCursor>) {
        (self.marks, self.cut_short_at)
    }

    fn is_over(&self) -> bool {
        self.marks.len() >= self.limit || self.cut_short_at.is_some()
    }

    pub(crate) fn visit(
        &mut self,
        select: &str,
        condition: Where,
        ts: &str,
        (from, to): (i64, i64),
    ) -> Result<(), StoreError> {
        let sql = format!(
            "{select} WHERE {} AND {ts} >= ? AND {ts} <= ? AND ({ts}, r.conversation) < (?, ?)
             ORDER BY {ts} DESC, r.conversation DESC LIMIT {PAGE_CANDIDATES}",
            condition.sql()
        );
        let mut statement = self.search.connection.prepare_cached(&sql)?;
        let condition = condition.into_values();
        // No key is that large, so everything at `to` comes before it.
        let mut before = (to, Key::MAX);
        while !self.is_over() && from <= before.0 {
            let mut values = condition.clone();
            values.extend([from, before.0, before.0, before.1].map(Value::from));
            let mut rows = statement.query(params_from_iter(values))?;
            let mut found = 0;
            while !self.is_over()
                && let Some(row) = &rows.next()?
            {
                before = (row.get(0)?, row.get(1)?);
                let last_activity = Timestamp::from_micros(before.0);
                self.consider(PeriodCursor { last_activity, key: before.1 })?;
                found += 1;
            }
            if found < PAGE_CANDIDATES {
                break;
            }
        }
        Ok(())
    }

    fn consider(&mut self, mark: PeriodCursor) -> Result<(), StoreError> {
        let place = |mark: PeriodCursor| (mark.last_activity, mark.key);
        let behind = self.after.is_none_or(|after| place(mark) < place(after));
        if !behind {
            return Ok(());
        }
        self.looked_at += 1;
        // Shown only at its newest reaction, on this page or an earlier one.
        let newest = mark.last_activity.as_micros();
        if self.seen.insert(mark.key) && self.search.newest(mark.key)? == Some(newest) {
            self.marks.push(mark);
        }
        if self.looked_at >= MAX_CANDIDATES {
            self.cut_short_at = Some(mark);
        }
        Ok(())
    }
}
