//! Streaks of rejected answers.

use model::VerdictStatus;

/// Counts consecutive rejected turns, starting at the newest.
pub fn count_rejection_streak(
    statuses_newest_first: impl IntoIterator<Item = VerdictStatus>,
) -> u32 {
    let rejected = statuses_newest_first.into_iter().take_while(|s| *s == VerdictStatus::Rejected);
    u32::try_from(rejected.count()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use VerdictStatus::{Accepted, Neutral, Rejected};

    #[test]
    fn streak_ends_at_the_first_turn_not_rejected() {
        let rows: [(&[VerdictStatus], u32); 6] = [
            (&[], 0),
            (&[Accepted, Rejected], 0),
            (&[Neutral, Rejected, Rejected], 0),
            (&[Rejected], 1),
            (&[Rejected, Rejected, Accepted, Rejected], 2),
            (&[Rejected, Rejected, Rejected], 3),
        ];
        for (statuses, expected) in rows {
            assert_eq!(count_rejection_streak(statuses.iter().copied()), expected, "{statuses:?}");
        }
    }
}
