//! One round of agglomerative merging: many clusters merge at once, nearest first.

use super::neighbours::Neighbour;

/// Returns the merge target of each cluster, itself when it stays.
///
/// A cluster merges with the nearest neighbour that `may` allows. A cluster that is a target stays
/// where it is for the rest of the round.
pub(super) fn plan_merges(
    near: &[Vec<Neighbour>],
    sizes: &[usize],
    may: impl Fn(usize, &Neighbour) -> bool,
) -> Vec<usize> {
    let mut wishes: Vec<(f32, usize, usize)> = Vec::new();
    for (at, list) in near.iter().enumerate() {
        if let Some(best) = list.iter().find(|neighbour| may(at, neighbour)) {
            let other = best.index as usize;
            // The smaller merges into the larger; of equals, the later into the earlier.
            let smaller = (sizes[at], other) < (sizes[other], at);
            let (from, to) = if smaller { (at, other) } else { (other, at) };
            wishes.push((best.similarity, from, to));
        }
    }
    wishes.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    let mut joins: Vec<usize> = (0..near.len()).collect();
    let mut stays = vec![false; near.len()];
    for (_, from, to) in wishes {
        if joins[from] == from && !stays[from] && joins[to] == to {
            joins[from] = to;
            stays[to] = true;
        }
    }
    joins
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
