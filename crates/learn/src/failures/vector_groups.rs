//! Groups of like vectors, without being told how many.
//!
//! The nearest neighbours make a graph, and its communities, refined by their middles, are groups.
//! How finely the graph is cut depends on the turns at hand: it is cut at a number of resolutions,
//! and the mean of these, weighted by how good a silhouette each gives, is the one that is used. A
//! mean and not the best, because the best can change from one to another when a single turn joins,
//! and with it every pattern; the mean moves a little, and mostly not over the next step. `bench/learning` compares the groups with
//! those of k-means that is told the right number.

use std::collections::BTreeMap;

use super::agglomeration::absorbed;
use super::centroids::{Centres, Groups, refined};
use super::louvain::{Graph, communities};
use super::neighbours::{Neighbour, neighbours};

/// How finely the graph is cut, as powers of two.
const RESOLUTIONS: [f64; 9] = [-2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
/// A silhouette this much below the best weighs a third (1/e).
const FALL: f64 = 0.01;
/// Finer than the mean by this power: two patterns that say the same cost a reader less than one
/// that mixes two.
const FINER: f64 = 0.5;
/// The resolution that is used goes in steps of this power: the groups of two resolutions differ,
/// however near they are.
const STEP: f64 = 0.5;
/// What is used must have at least this part of the best silhouette.
const ABOUT: f64 = 0.95;
/// Neighbours of a vector: about the root of how many there are, within these.
const FEWEST_NEIGHBOURS: usize = 5;
const MOST_NEIGHBOURS: usize = 25;
/// Vectors that the silhouette is computed of; a mean over more is the same.
const SAMPLE: usize = 2_000;

/// Groups whose middles are at least this near are one: many turns that are nearly the same fall
/// apart in a graph of neighbours, since each knows only some of the others.
const ONE: f32 = 0.9;
/// Neighbours of a middle that are looked at, and rounds of joining.
const NEAR_MIDDLES: usize = 5;
const ROUNDS: usize = 20;

/// The group of each vector of length 1, numbered from 0; `None` for those that are like no
/// others. Two are alike from `floor` on. Equal vectors are one to begin with.
pub(super) fn group(vectors: &[Vec<f32>], floor: f32) -> Groups {
    let mut places: BTreeMap<Vec<u32>, usize> = BTreeMap::new();
    let (mut distinct, mut times) = (Vec::new(), Vec::new());
    let mut place = |vector: &Vec<f32>| {
        let bits: Vec<u32> = vector.iter().map(|value| value.to_bits()).collect();
        let at = *places.entry(bits).or_insert(distinct.len());
        if at == distinct.len() {
            distinct.push(vector.clone());
            times.push(0);
        }
        times[at] += 1;
        at
    };
    let of: Vec<usize> = vectors.iter().map(&mut place).collect();
    let mut groups = joined(&distinct, group_distinct(&distinct, floor));
    // Turns that are equal and like no others are a group.
    let mut next = groups.iter().flatten().max().map_or(0, |last| last + 1);
    for (group, times) in groups.iter_mut().zip(times) {
        if group.is_none() && times > 1 {
            *group = Some(next);
            next += 1;
        }
    }
    of.into_iter().map(|at| groups[at]).collect()
}

fn joined(vectors: &[Vec<f32>], mut groups: Groups) -> Groups {
    for _ in 0..ROUNDS {
        let centres = Centres::of(vectors, &groups);
        let (middles, sizes) = centres.middles();
        let joins = absorbed(&neighbours(middles, NEAR_MIDDLES, ONE), &sizes, |_, _| true);
        if joins.iter().enumerate().all(|(at, to)| at == *to) {
            break;
        }
        groups.iter_mut().flatten().for_each(|group| *group = joins[*group as usize] as u32);
    }
    groups
}

fn group_distinct(vectors: &[Vec<f32>], floor: f32) -> Groups {
    let root = (vectors.len() as f64).sqrt() as usize;
    let near = neighbours(vectors, root.clamp(FEWEST_NEIGHBOURS, MOST_NEIGHBOURS), floor);
    let graph = graph_of(&near);
    let cut = |power: f64| {
        let found = communities(&graph, power.exp2()).into_iter().map(Some).collect();
        refined(vectors, &near, found, floor)
    };
    let tried = RESOLUTIONS.map(|power| {
        let groups = cut(power);
        (silhouette(vectors, &groups), groups)
    });
    let power = mean_power(std::array::from_fn(|at| tried[at].0)) + FINER;
    let between = cut((power / STEP).round() * STEP);
    let fit = silhouette(vectors, &between);
    let best = tried.into_iter().reduce(|best, next| if next.0 > best.0 { next } else { best });
    // Among few turns one resolution can be right and the next take everything apart.
    best.filter(|best| fit < best.0 * ABOUT).map_or(between, |(_, groups)| groups)
}

fn mean_power(fits: [f64; RESOLUTIONS.len()]) -> f64 {
    let best = fits.into_iter().fold(f64::MIN, f64::max);
    let weights = fits.map(|fit| ((fit - best) / FALL).exp());
    let weighted = weights.iter().zip(RESOLUTIONS).map(|(weight, power)| weight * power);
    weighted.sum::<f64>() / weights.iter().sum::<f64>()
}

/// An edge weighs how alike its ends are, twice when each is among the other's nearest.
fn graph_of(near: &[Vec<Neighbour>]) -> Graph {
    let mut edges = vec![Vec::new(); near.len()];
    for (at, list) in near.iter().enumerate() {
        for neighbour in list {
            let weight = f64::from(neighbour.similarity);
            edges[at].push((neighbour.of, weight));
            edges[neighbour.of as usize].push((at as u32, weight));
        }
    }
    Graph::new(edges)
}

/// How much nearer vectors are to the rest of their group than to the next group, 0 for those in
/// none; the mean. By middles, so that it costs little.
fn silhouette(vectors: &[Vec<f32>], groups: &Groups) -> f64 {
    let centres = Centres::of(vectors, groups);
    let step = vectors.len().div_ceil(SAMPLE).max(1);
    let sampled = (0..vectors.len()).step_by(step);
    let count = sampled.len().max(1);
    let of = |at: usize| {
        let Some(own) = groups[at].map(|own| own as usize) else { return 0.0 };
        let inside = 1.0 - centres.nearness_to_the_others(own, &vectors[at]);
        let others = (0..centres.count()).filter(|other| *other != own);
        let nearest = others.map(|other| centres.nearness(other, &vectors[at])).fold(0.0, f32::max);
        let outside = 1.0 - nearest;
        f64::from(outside - inside) / f64::from(outside.max(inside).max(f32::EPSILON))
    };
    sampled.map(of).sum::<f64>() / count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_with_close_centroids_are_merged() {
        let direction = |angle: f32| vec![angle.cos(), angle.sin()];
        let vectors = [0.0, 0.01, 0.02, 0.03, 1.5, 1.51].map(direction);
        let apart = vec![Some(0), Some(0), Some(1), Some(1), Some(2), Some(2)];
        let groups = joined(&vectors, apart);
        assert_eq!(groups, [Some(0), Some(0), Some(0), Some(0), Some(2), Some(2)]);
    }
}
