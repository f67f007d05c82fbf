//! Readers who are made up: which of the items they are shown they use.

use rand::RngExt;
use rand::rngs::StdRng;

/// How a reader goes through a list.
#[derive(Clone, Copy)]
pub(crate) enum Reader {
    /// Looks at each rank with a chance of 1/rank, whatever else is there.
    ByPosition,
    /// Goes down from the top, and tends to stop at what helped.
    Cascade,
}

/// Chance to go on after an item that was used, and after one that was not.
const ON_AFTER_USE: f64 = 0.5;
const ON_AFTER_NOTHING: f64 = 0.9;

impl Reader {
    pub(crate) const ALL: [(Self, &'static str); 2] =
        [(Self::ByPosition, "position-based"), (Self::Cascade, "cascade")];

    /// Whether each of the items was used, by its grade.
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

/// Even what is beside the point is used now and then, and a perfect item is not always.
fn chance_of_use(grade: u8) -> f64 {
    0.05 + 0.9 * f64::from(grade) / 4.0
}
