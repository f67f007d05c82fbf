//! Exact nearest neighbours of every vector, and merges of near clusters.
//!
//! Vectors are quantised to 16-bit integers, so similarities are the same on every machine and use
//! the widest SIMD registers. Each pair is compared once.

/// Keeps dot products of unit vectors and their partial sums inside 32 bits (Cauchy–Schwarz).
const QUANTISATION_SCALE: f32 = 32_000.0;
/// Vectors are compared in tiles of this many rows, which fit into the cache.
const TILE_ROWS: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Neighbour {
    pub(super) index: u32,
    pub(super) similarity: f32,
}

/// Returns for each unit vector its `max` nearest with at least `floor` similarity, nearest first.
pub(super) fn find_neighbours(vectors: &[Vec<f32>], max: usize, floor: f32) -> Vec<Vec<Neighbour>> {
    let dims = vectors.first().map_or(0, Vec::len);
    let quantise = |v: &f32| (v * QUANTISATION_SCALE).round() as i16;
    let rows: Vec<i16> = vectors.iter().flat_map(|vector| vector.iter().map(quantise)).collect();
    let lists = pulp::Arch::new().dispatch(PairwiseComparison { rows: &rows, dims, max, floor });
    let similarity = |dot: i32| dot as f32 / (QUANTISATION_SCALE * QUANTISATION_SCALE);
    let list = |near: Vec<(i32, u32)>| {
        near.into_iter()
            .map(|(dot, index)| Neighbour { index, similarity: similarity(dot) })
            .collect()
    };
    lists.into_iter().map(list).collect()
}

/// One inlined function, so that `pulp` compiles all of it for wide registers.
struct PairwiseComparison<'a> {
    rows: &'a [i16],
    dims: usize,
    max: usize,
    floor: f32,
}

impl pulp::NullaryFnOnce for PairwiseComparison<'_> {
    type Output = Vec<Vec<(i32, u32)>>;

    #[inline(always)]
    fn call(self) -> Self::Output {
        let rows: Vec<&[i16]> = self.rows.chunks_exact(self.dims.max(1)).collect();
        let least = (self.floor * QUANTISATION_SCALE * QUANTISATION_SCALE) as i32;
        let mut lists = vec![Vec::with_capacity(self.max + 1); rows.len()];
        for first in (0..rows.len()).step_by(TILE_ROWS) {
            for second in (first..rows.len()).step_by(TILE_ROWS) {
                for left in first..rows.len().min(first + TILE_ROWS) {
                    for right in second.max(left + 1)..rows.len().min(second + TILE_ROWS) {
                        let dot = dot_i16(rows[left], rows[right]);
                        if dot >= least {
                            insert_candidate(&mut lists[left], (dot, right as u32), self.max);
                            insert_candidate(&mut lists[right], (dot, left as u32), self.max);
                        }
                    }
                }
            }
        }
        lists
    }
}

#[inline(always)]
fn dot_i16(a: &[i16], b: &[i16]) -> i32 {
    a.iter().zip(b).map(|(x, y)| i32::from(*x) * i32::from(*y)).sum()
}

/// Keeps the list sorted and bounded. Ties go by index, so the order of pairs does not matter.
#[inline(always)]
fn insert_candidate(list: &mut Vec<(i32, u32)>, new: (i32, u32), max: usize) {
    let before = |a: (i32, u32), b: (i32, u32)| (-i64::from(a.0), a.1) < (-i64::from(b.0), b.1);
    if list.len() == max && list.last().is_none_or(|last| !before(new, *last)) {
        return;
    }
    let at = list.partition_point(|old| before(*old, new));
    list.insert(at, new);
    list.truncate(max);
}

/// One round of agglomerative merging, nearest first: the merge target of each cluster, itself when
/// it stays.
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
    fn neighbours_are_sorted_and_filtered_by_similarity() {
        let turned = |degrees: f32| vec![degrees.to_radians().cos(), degrees.to_radians().sin()];
        let vectors: Vec<Vec<f32>> = [0.0, 10.0, 30.0, 170.0].map(turned).into();
        let lists = find_neighbours(&vectors, 2, 0.3);
        let near = |i: usize| lists[i].iter().map(|n| n.index).collect::<Vec<_>>();
        assert_eq!((near(0), near(1), near(3)), (vec![1, 2], vec![0, 2], vec![]));
        assert!((lists[0][0].similarity - 10f32.to_radians().cos()).abs() < 1e-3);
    }

    #[test]
    fn neighbours_handle_empty_input_and_duplicates() {
        assert!(find_neighbours(&[], 5, 0.0).is_empty());
        let same = vec![vec![1.0, 0.0]; 200];
        let lists = find_neighbours(&same, 3, 0.3);
        assert_eq!(lists[199].iter().map(|n| n.index).collect::<Vec<_>>(), [0, 1, 2]);
    }

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
