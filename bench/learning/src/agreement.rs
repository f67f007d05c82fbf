//! Agreement of groups with known classes (Rosenberg and Hirschberg's V-measure).

use std::collections::BTreeMap;

/// Each from 0 to 1.
pub(crate) struct Agreement {
    /// Groups contain one class only.
    pub(crate) homogeneity: f64,
    /// Classes are in one group only.
    pub(crate) completeness: f64,
    /// Harmonic mean of the two.
    pub(crate) v: f64,
}

impl Agreement {
    pub(crate) fn compute(truth: &[&str], groups: &[usize]) -> Self {
        let count = truth.len() as f64;
        let mut kinds: BTreeMap<&str, f64> = BTreeMap::new();
        let mut sizes: BTreeMap<usize, f64> = BTreeMap::new();
        let mut both: BTreeMap<(&str, usize), f64> = BTreeMap::new();
        for (kind, group) in truth.iter().zip(groups) {
            *kinds.entry(kind).or_default() += 1.0;
            *sizes.entry(*group).or_default() += 1.0;
            *both.entry((kind, *group)).or_default() += 1.0;
        }
        let entropy = |n: f64| -n / count * (n / count).ln();
        let of_kinds: f64 = kinds.values().map(|n| entropy(*n)).sum();
        let of_groups: f64 = sizes.values().map(|n| entropy(*n)).sum();
        let joint: f64 = both.values().map(|n| entropy(*n)).sum();
        let part = |left: f64, whole: f64| if whole > 0.0 { 1.0 - left / whole } else { 1.0 };
        let homogeneity = part(joint - of_groups, of_kinds);
        let completeness = part(joint - of_kinds, of_groups);
        let sum = homogeneity + completeness;
        let v = if sum > 0.0 { 2.0 * homogeneity * completeness / sum } else { 0.0 };
        Self { homogeneity, completeness, v }
    }
}
