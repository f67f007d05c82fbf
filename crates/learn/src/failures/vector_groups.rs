//! Groups similar vectors without a given number of groups.
//!
//! The nearest neighbours form a graph. Its communities, refined by their centroids, are the
//! groups. The graph is cut at several resolutions, and the mean resolution, weighted by
//! silhouette, is used. The best resolution would be less stable: one more turn can change it, and
//! with it every pattern. `bench/learning` compares the groups with k-means that is given the right
//! number.

use std::collections::BTreeMap;

use model::dot;

use super::louvain::{Graph, detect_communities};
use super::neighbours::{Neighbour, find_neighbours, plan_merges};
use super::turn_vector::add_vector;

/// Resolutions to try, as powers of two.
const RESOLUTIONS: [f64; 9] = [-2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
/// A silhouette this much below the best has weight 1/e.
const SILHOUETTE_DECAY: f64 = 0.01;
/// Added to the mean power: two similar patterns cost a reader less than one mixed pattern.
const RESOLUTION_OFFSET: f64 = 0.5;
/// Grid of the resolution used. Even close resolutions give different groups.
const RESOLUTION_STEP: f64 = 0.5;
/// Minimum silhouette of the chosen resolution, relative to the best.
const MIN_SILHOUETTE_RATIO: f64 = 0.95;
/// Bounds of the neighbours per vector, otherwise the square root of the number of vectors.
const MIN_NEIGHBOURS: usize = 5;
const MAX_NEIGHBOURS: usize = 25;
const SILHOUETTE_SAMPLE: usize = 2_000;

/// Groups whose centroids are this similar are merged. A neighbour graph splits large sets of
/// near-duplicates, because each knows only some of the others.
const MIN_MERGE_SIMILARITY: f32 = 0.9;
const CENTROID_NEIGHBOURS: usize = 5;
const MAX_MERGE_ROUNDS: usize = 20;

/// Later rounds move almost no vectors.
const MAX_REFINEMENT_ROUNDS: usize = 5;

/// Group of each vector; `None` for vectors in no group.
pub(super) type GroupAssignment = Vec<Option<u32>>;

/// Returns the group of each unit vector, numbered from 0; `None` for outliers.
///
/// Two vectors are similar from `floor` on. Equal vectors count as one vector at first.
pub(super) fn group_vectors(vectors: &[Vec<f32>], floor: f32) -> GroupAssignment {
    let mut index_by_bits: BTreeMap<Vec<u32>, usize> = BTreeMap::new();
    let (mut distinct, mut counts) = (Vec::new(), Vec::new());
    let mut intern = |vector: &Vec<f32>| {
        let bits: Vec<u32> = vector.iter().map(|value| value.to_bits()).collect();
        let index = *index_by_bits.entry(bits).or_insert(distinct.len());
        if index == distinct.len() {
            distinct.push(vector.clone());
            counts.push(0);
        }
        counts[index] += 1;
        index
    };
    let indexes: Vec<usize> = vectors.iter().map(&mut intern).collect();
    let mut groups = merge_close_groups(&distinct, group_distinct_vectors(&distinct, floor));
    // Equal vectors without other neighbours form a group.
    let mut next = groups.iter().flatten().max().map_or(0, |last| last + 1);
    for (group, count) in groups.iter_mut().zip(counts) {
        if group.is_none() && count > 1 {
            *group = Some(next);
            next += 1;
        }
    }
    indexes.into_iter().map(|index| groups[index]).collect()
}

fn merge_close_groups(vectors: &[Vec<f32>], mut groups: GroupAssignment) -> GroupAssignment {
    for _ in 0..MAX_MERGE_ROUNDS {
        let centroids = Centroids::from_groups(vectors, &groups);
        let near = find_neighbours(&centroids.vectors, CENTROID_NEIGHBOURS, MIN_MERGE_SIMILARITY);
        let targets = plan_merges(&near, &centroids.sizes, |_, _| true);
        if targets.iter().enumerate().all(|(at, to)| at == *to) {
            break;
        }
        groups.iter_mut().flatten().for_each(|group| *group = targets[*group as usize] as u32);
    }
    groups
}

fn group_distinct_vectors(vectors: &[Vec<f32>], floor: f32) -> GroupAssignment {
    let root = (vectors.len() as f64).sqrt() as usize;
    let near = find_neighbours(vectors, root.clamp(MIN_NEIGHBOURS, MAX_NEIGHBOURS), floor);
    let graph = build_graph(&near);
    let cut = |power: f64| {
        let found = detect_communities(&graph, power.exp2()).into_iter().map(Some).collect();
        refine_groups(vectors, &near, found, floor)
    };
    let candidates = RESOLUTIONS.map(|power| {
        let groups = cut(power);
        (mean_silhouette(vectors, &groups), groups)
    });
    let power = mean_resolution(std::array::from_fn(|at| candidates[at].0)) + RESOLUTION_OFFSET;
    let chosen = cut((power / RESOLUTION_STEP).round() * RESOLUTION_STEP);
    let chosen_fit = mean_silhouette(vectors, &chosen);
    let best =
        candidates.into_iter().reduce(|best, next| if next.0 > best.0 { next } else { best });
    // With few turns, one resolution can fit and the next can split everything.
    best.filter(|best| chosen_fit < best.0 * MIN_SILHOUETTE_RATIO)
        .map_or(chosen, |(_, groups)| groups)
}

fn mean_resolution(fits: [f64; RESOLUTIONS.len()]) -> f64 {
    let best = fits.into_iter().fold(f64::MIN, f64::max);
    let weights = fits.map(|fit| ((fit - best) / SILHOUETTE_DECAY).exp());
    let weighted = weights.iter().zip(RESOLUTIONS).map(|(weight, power)| weight * power);
    weighted.sum::<f64>() / weights.iter().sum::<f64>()
}

/// Edge weight is the similarity, doubled when both are among each other's nearest.
fn build_graph(near: &[Vec<Neighbour>]) -> Graph {
    let mut edges = vec![Vec::new(); near.len()];
    for (at, list) in near.iter().enumerate() {
        for neighbour in list {
            let weight = f64::from(neighbour.similarity);
            edges[at].push((neighbour.index, weight));
            edges[neighbour.index as usize].push((at as u32, weight));
        }
    }
    Graph::new(edges)
}

/// Mean silhouette of the vectors, 0 for those in no group. It uses centroids, which is cheap.
fn mean_silhouette(vectors: &[Vec<f32>], groups: &GroupAssignment) -> f64 {
    let centroids = Centroids::from_groups(vectors, groups);
    let step = vectors.len().div_ceil(SILHOUETTE_SAMPLE).max(1);
    let sampled = (0..vectors.len()).step_by(step);
    let count = sampled.len().max(1);
    let silhouette_at = |index: usize| {
        let Some(own) = groups[index].map(|own| own as usize) else { return 0.0 };
        let inside = 1.0 - centroids.similarity_without_self(own, &vectors[index]);
        let others = (0..centroids.vectors.len()).filter(|other| *other != own);
        let nearest =
            others.map(|other| centroids.similarity(other, &vectors[index])).fold(0.0, f32::max);
        let outside = 1.0 - nearest;
        f64::from(outside - inside) / f64::from(outside.max(inside).max(f32::EPSILON))
    };
    sampled.map(silhouette_at).sum::<f64>() / count as f64
}

#[derive(Clone, Debug)]
struct Centroids {
    vectors: Vec<Vec<f32>>,
    lengths: Vec<f32>,
    sizes: Vec<usize>,
}

impl Centroids {
    fn from_groups(vectors: &[Vec<f32>], groups: &GroupAssignment) -> Self {
        let dims = vectors.first().map_or(0, Vec::len);
        let count = groups.iter().flatten().max().map_or(0, |last| *last as usize + 1);
        let mut sums = vec![vec![0.0; dims]; count];
        let mut sizes = vec![0; count];
        for (vector, group) in vectors.iter().zip(groups) {
            if let Some(group) = group.map(|group| group as usize) {
                add_vector(&mut sums[group], vector);
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

    fn similarity(&self, group: usize, vector: &[f32]) -> f32 {
        dot(&self.vectors[group], vector)
    }

    /// Similarity of a member to the centroid of the other members; 0 for a group of one.
    fn similarity_without_self(&self, group: usize, vector: &[f32]) -> f32 {
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
fn refine_groups(
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
    let mut numbers = 0..;
    let renumber = |size: &u32| if *size > 1 { numbers.next() } else { None };
    let kept: Vec<Option<u32>> = sizes.iter().map(renumber).collect();
    groups.iter().map(|group| group.and_then(|group| kept[group as usize])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_with_close_centroids_are_merged() {
        let direction = |angle: f32| vec![angle.cos(), angle.sin()];
        let vectors = [0.0, 0.01, 0.02, 0.03, 1.5, 1.51].map(direction);
        let apart = vec![Some(0), Some(0), Some(1), Some(1), Some(2), Some(2)];
        let groups = merge_close_groups(&vectors, apart);
        assert_eq!(groups, [Some(0), Some(0), Some(0), Some(0), Some(2), Some(2)]);
    }
}
