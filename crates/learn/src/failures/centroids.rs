//! Group centroids, and reassignment of vectors to their nearest centroid.

use model::dot;

use super::neighbours::Neighbour;

/// Group of each vector; `None` for vectors in no group.
pub(super) type GroupAssignment = Vec<Option<u32>>;

/// Later rounds move almost no vectors.
const MAX_REFINEMENT_ROUNDS: usize = 5;

#[derive(Clone, Debug)]
pub(super) struct Centroids {
    vectors: Vec<Vec<f32>>,
    lengths: Vec<f32>,
    sizes: Vec<u32>,
}

impl Centroids {
    pub(super) fn from_groups(vectors: &[Vec<f32>], groups: &GroupAssignment) -> Self {
        let dims = vectors.first().map_or(0, Vec::len);
        let count = groups.iter().flatten().max().map_or(0, |last| *last as usize + 1);
        let mut sums = vec![vec![0.0; dims]; count];
        let mut sizes = vec![0; count];
        for (vector, group) in vectors.iter().zip(groups) {
            if let Some(group) = group.map(|group| group as usize) {
                sums[group].iter_mut().zip(vector).for_each(|(sum, value)| *sum += value);
                sizes[group] += 1;
            }
        }
        let length = |sum: &Vec<f32>| dot(sum, sum).sqrt().max(f32::MIN_POSITIVE);
        let lengths: Vec<f32> = sums.iter().map(length).collect();
        for (sum, length) in sums.iter_mut().zip(&lengths) {
            sum.iter_mut().for_each(|value| *value /= length);
        }
        Self { vectors: sums, lengths, sizes }
    }

    pub(super) fn group_count(&self) -> usize {
        self.vectors.len()
    }

    pub(super) fn with_sizes(&self) -> (&[Vec<f32>], Vec<usize>) {
        (&self.vectors, self.sizes.iter().map(|size| *size as usize).collect())
    }

    pub(super) fn similarity(&self, group: usize, vector: &[f32]) -> f32 {
        dot(&self.vectors[group], vector)
    }

    /// Similarity of a member to the centroid of the other members; 0 for a group of one.
    pub(super) fn similarity_without_self(&self, group: usize, vector: &[f32]) -> f32 {
        let (sum, similarity) = (self.lengths[group], self.similarity(group, vector));
        // For s - v with |v| = 1: its product with v, and its length.
        let product = sum * similarity - 1.0;
        let length = (sum * sum - 2.0 * sum * similarity + 1.0).max(0.0).sqrt();
        if length > 1e-3 { product / length } else { 0.0 }
    }
}

/// Moves each vector to the nearest group among its own and its neighbours' groups.
///
/// Vectors below `floor` similarity leave their group, and groups of one are dissolved.
pub(super) fn refine_groups(
    vectors: &[Vec<f32>],
    near: &[Vec<Neighbour>],
    mut groups: GroupAssignment,
    floor: f32,
) -> GroupAssignment {
    for _ in 0..MAX_REFINEMENT_ROUNDS {
        let centroids = Centroids::from_groups(vectors, &groups);
        let next = (0..vectors.len()).map(|at| {
            let neighbour_groups = near[at].iter().filter_map(|n| groups[n.index as usize]);
            let mut candidates: Vec<u32> = neighbour_groups.chain(groups[at]).collect();
            candidates.sort_unstable();
            candidates.dedup();
            let similarity = |group: u32| centroids.similarity(group as usize, &vectors[at]);
            candidates
                .into_iter()
                .filter(|group| centroids.sizes[*group as usize] > 1)
                .map(|group| (similarity(group), group))
                .filter(|(similarity, _)| *similarity >= floor)
                // Ties go to the lower group number.
                .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)))
                .map(|(_, group)| group)
        });
        let next: GroupAssignment = next.collect();
        if next == groups {
            break;
        }
        groups = next;
    }
    drop_singletons(&groups)
}

/// Keeps groups of at least two, renumbered from 0 without gaps.
fn drop_singletons(groups: &GroupAssignment) -> GroupAssignment {
    let count = groups.iter().flatten().max().map_or(0, |last| *last as usize + 1);
    let mut sizes = vec![0u32; count];
    groups.iter().flatten().for_each(|group| sizes[*group as usize] += 1);
    let mut next = 0;
    let numbers: Vec<Option<u32>> = sizes
        .iter()
        .map(|size| {
            (*size > 1).then(|| {
                next += 1;
                next - 1
            })
        })
        .collect();
    groups.iter().map(|group| group.and_then(|group| numbers[group as usize])).collect()
}
