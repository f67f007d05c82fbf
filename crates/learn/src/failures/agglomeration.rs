//! One round of agglomerative merging: many clusters merge at once, nearest first.

use super::neighbours::Neighbour;

/// Returns the merge target of each cluster, itself when it stays.
///
/// A cluster merges with the nearest neighbour that `can_merge` allows. A target does not move
/// itself.
pub(super) fn plan_merges(
    near: &[Vec<Neighbour>],
    sizes: &[usize],
    can_merge: impl Fn(usize, &Neighbour) -> bool,
) -> Vec<usize> {
    let mut candidates: Vec<(f32, usize, usize)> = Vec::new();
    for (index, list) in near.iter().enumerate() {
        if let Some(best) = list.iter().find(|neighbour| can_merge(index, neighbour)) {
            let other = best.index as usize;
            // The smaller merges into the larger; of equals, the later into the earlier.
            let smaller = (sizes[index], other) < (sizes[other], index);
            let (from, to) = if smaller { (index, other) } else { (other, index) };
            candidates.push((best.similarity, from, to));
        }
    }
    candidates.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    let mut targets: Vec<usize> = (0..near.len()).collect();
    let mut is_target = vec![false; near.len()];
    for (_, from, to) in candidates {
        if targets[from] == from && !is_target[from] && targets[to] == to {
            targets[from] = to;
            is_target[to] = true;
        }
    }
    targets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merge_plan_never_targets_a_cluster_that_moves() {
        let near = |index: u32, similarity: f32| vec![Neighbour { index, similarity }];
        // 1 and 2 are nearest to 0. 3 is nearest to 2, which moves.
        let lists = [near(1, 0.9), near(0, 0.9), near(0, 0.8), near(2, 0.7), vec![]];
        assert_eq!(plan_merges(&lists, &[5, 1, 2, 1, 1], |_, _| true), [0, 0, 0, 3, 4]);
        assert_eq!(plan_merges(&lists, &[5, 1, 2, 1, 1], |_, _| false), [0, 1, 2, 3, 4]);
        assert_eq!(plan_merges(&[near(1, 0.5), near(0, 0.5)], &[1, 1], |_, _| true), [0, 0]);
    }
}
