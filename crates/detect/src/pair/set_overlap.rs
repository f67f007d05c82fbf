//! Shares that two sets have in common.

use crate::hashed_set::HashedSet;

pub(super) struct SetOverlap {
    pub jaccard: f32,
    pub containment: f32,
    pub min_containment: f32,
}

impl SetOverlap {
    pub(super) fn from_sorted(a: &[u32], b: &[u32]) -> Self {
        Self::from_counts(count_shared(a, b) as f32, a.len() as f32, b.len() as f32)
    }

    pub(super) fn from_hashed<const N: usize>(a: &HashedSet<N>, b: &HashedSet<N>) -> Self {
        Self::from_counts(a.count_shared(b) as f32, a.count_bits() as f32, b.count_bits() as f32)
    }

    pub(super) fn from_counts(both: f32, a: f32, b: f32) -> Self {
        let share = |of: f32| if of > 0.0 { both / of } else { 0.0 };
        Self {
            jaccard: share(a + b - both),
            containment: share(a.min(b)),
            min_containment: share(a.max(b)),
        }
    }
}

/// Number of entries that two sorted sets have in common.
pub(crate) fn count_shared(a: &[u32], b: &[u32]) -> usize {
    let (mut i, mut j, mut both) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => (i, j, both) = (i + 1, j + 1, both + 1),
        }
    }
    both
}
