//! Groups of like vectors, without being told how many.
//!
//! The nearest neighbours make a graph; its communities at a number of resolutions are candidates,
//! each refined by its middles; the silhouette says which is best. Where several are about equally
//! good the finest is taken: two patterns that say the same cost a reader less than one that mixes
//! two. `bench/learning` compares this with k-means that is told the right number.

use super::centres::{Centres, Groups, refined};
use super::communities::{Graph, communities};
use super::neighbours::{Neighbour, neighbours};

/// How finely graphs are cut. One alone would fix a size of groups relative to the whole.
const RESOLUTIONS: [f64; 7] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];
/// Neighbours of a vector: about the root of how many there are, within these.
const FEWEST_NEIGHBOURS: usize = 5;
const MOST_NEIGHBOURS: usize = 25;
/// Vectors that the silhouette is computed of; a mean over more is the same.
const SAMPLE: usize = 2_000;
/// A silhouette this near to the best counts as equal.
const ABOUT: f64 = 0.98;

/// The group of each vector of length 1, numbered from 0; `None` for those that are like no
/// others. Two are alike from `floor` on.
pub(super) fn group(vectors: &[Vec<f32>], floor: f32) -> Groups {
    let root = (vectors.len() as f64).sqrt() as usize;
    let near = neighbours(vectors, root.clamp(FEWEST_NEIGHBOURS, MOST_NEIGHBOURS), floor);
    let graph = graph_of(&near);
    let mut candidates: Vec<(f64, Groups)> = Vec::with_capacity(RESOLUTIONS.len());
    for resolution in RESOLUTIONS {
        let found = communities(&graph, resolution).into_iter().map(Some).collect();
        let groups = refined(vectors, &near, found, floor);
        candidates.push((silhouette(vectors, &groups), groups));
    }
    let best = candidates.iter().map(|(silhouette, _)| *silhouette).fold(0.0, f64::max);
    let good = candidates.into_iter().rev().find(|(silhouette, _)| *silhouette >= best * ABOUT);
    good.map_or_else(|| vec![None; vectors.len()], |(_, groups)| groups)
}

/// An edge weighs how alike its ends are, twice when each is among the other's nearest.
fn graph_of(near: &[Vec<Neighbour>]) -> Graph {
    let mut edges = vec![Vec::new(); near.len()];
    for (at, list) in near.iter().enumerate() {
        for neighbour in list {
            edges[at].push((neighbour.of, f64::from(neighbour.similarity)));
            edges[neighbour.of as usize].push((at as u32, f64::from(neighbour.similarity)));
        }
    }
    for list in &mut edges {
        list.sort_by_key(|edge: &(u32, f64)| edge.0);
        list.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
            }
            same
        });
    }
    Graph { edges }
}

/// How much nearer vectors are to the rest of their group than to the next group, 0 for those in
/// none; the mean. By middles, so that it costs no more than a round of moving.
fn silhouette(vectors: &[Vec<f32>], groups: &Groups) -> f64 {
    let centres = Centres::of(vectors, groups);
    let step = vectors.len().div_ceil(SAMPLE).max(1);
    let sampled = (0..vectors.len()).step_by(step);
    let count = sampled.len().max(1);
    let of = |at: usize| {
        let Some(own) = groups[at].map(|own| own as usize) else { return 0.0 };
        let inside = 1.0 - centres.nearness_to_the_others(own, &vectors[at]);
        let others = (0..centres.sums.len()).filter(|other| *other != own);
        let nearest = others.map(|other| centres.nearness(other, &vectors[at])).fold(0.0, f32::max);
        let outside = 1.0 - nearest;
        f64::from(outside - inside) / f64::from(outside.max(inside).max(f32::EPSILON))
    };
    sampled.map(of).sum::<f64>() / count as f64
}
