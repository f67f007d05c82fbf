//! Simulated readers: which of the shown items they use.

use rand::RngExt;
use rand::rngs::StdRng;

/// Click model of a reader.
#[derive(Clone, Copy)]
pub(crate) enum Reader {
    /// Examines each rank with probability 1/rank, independently.
    ByPosition,
    /// Reads from the top, and tends to stop after a helpful item.
    Cascade,
}

/// Probability to continue after an item that was used, and after one that was not.
const ON_AFTER_USE: f64 = 0.5;
const ON_AFTER_NOTHING: f64 = 0.9;

impl Reader {
    pub(crate) const ALL: [(Self, &'static str); 2] =
        [(Self::ByPosition, "position-based"), (Self::Cascade, "cascade")];

    /// For each item, true when it was used, by its grade.
    pub(crate) fn read(self, grades: &[u8], random: &mut StdRng) -> Vec<bool> {
        let mut goes_on = true;
        let mut used = Vec::with_capacity(grades.len());
        for (grade, rank) in grades.iter().zip(1u32..) {
            let chance: f64 = random.random();
            let looks = match self {
                Self::ByPosition => chance < 1.0 / f64::from(rank),
                Self::Cascade => goes_on,
            };
            let liking: f64 = random.random();
            let uses = looks && liking < chance_of_use(*grade);
            let after = if uses { ON_AFTER_USE } else { ON_AFTER_NOTHING };
            let going: f64 = random.random();
            goes_on &= going < after;
            used.push(uses);
        }
        used
    }
}

/// Irrelevant items are used sometimes, and perfect ones not always.
fn chance_of_use(grade: u8) -> f64 {
    0.05 + 0.9 * f64::from(grade) / 4.0
}
