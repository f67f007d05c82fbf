//! The positions that this node committed, so that it reads only the entries of other nodes from a
//! shared log.

use std::collections::VecDeque;

use model::Position;
use parking_lot::Mutex;

/// Runs of positions, ascending. Adjacent runs are merged, so a sole writer keeps one.
#[derive(Debug, Default)]
pub(crate) struct OwnPositions(Mutex<VecDeque<Run>>);

#[derive(Clone, Copy, Debug)]
struct Run {
    first: Position,
    last: Position,
}

/// Positions to read from the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForeignRange {
    /// Read after this position.
    pub after: Position,
    /// The last position before the next own run; `None` without one.
    pub upto: Option<Position>,
}

impl OwnPositions {
    /// Adds a committed group. Call it before the new head is announced.
    pub(crate) fn record(&self, first: Position, last: Position) {
        let mut runs = self.0.lock();
        match runs.back_mut() {
            Some(run) if run.last.0 + 1 == first.0 => run.last = last,
            Some(_) | None => runs.push_back(Run { first, last }),
        }
    }

    /// Skips own positions behind `after`. Runs up to it are forgotten.
    pub(crate) fn skip(&self, after: Position) -> ForeignRange {
        let mut runs = self.0.lock();
        let mut after = after;
        while let Some(run) = runs.front().copied() {
            if run.first.0 > after.0 + 1 {
                return ForeignRange { after, upto: Some(Position(run.first.0 - 1)) };
            }
            after = after.max(run.last);
            // The newest run stays, so that the next group extends it.
            if runs.len() == 1 {
                break;
            }
            runs.pop_front();
        }
        ForeignRange { after, upto: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_positions_of_other_nodes_are_read() {
        let own = OwnPositions::default();
        let skip = |after| {
            let ForeignRange { after, upto } = own.skip(Position(after));
            (after.0, upto.map(|at| at.0))
        };
        assert_eq!(skip(7), (7, None), "before the first commit");
        own.record(Position(8), Position(10));
        own.record(Position(11), Position(12));
        assert_eq!(own.0.lock().len(), 1, "a sole writer keeps one run");
        assert_eq!(skip(5), (5, Some(7)), "6 and 7 are foreign");
        assert_eq!(skip(7), (12, None));
        own.record(Position(15), Position(15));
        own.record(Position(20), Position(21));
        assert_eq!(skip(12), (12, Some(14)));
        assert_eq!(skip(14), (15, Some(19)));
        assert_eq!(skip(19), (21, None));
        assert_eq!(skip(25), (25, None), "the reader is ahead of the last run");
        own.record(Position(26), Position(27));
        assert_eq!(skip(25), (27, None));
    }
}
