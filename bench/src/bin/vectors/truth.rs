//! Exact search results on the original vectors, and the recall against them.

use vector_index::{Found, Labels, Near};

use crate::source::{labels, user};

/// Number of neighbours compared.
pub(crate) const NEAREST: usize = 10;

/// The nearest of each tier, of all users and of one user.
pub(crate) struct Truth {
    pub(crate) user: u32,
    pub(crate) all: [Vec<Near>; 3],
    pub(crate) own: [Vec<Near>; 3],
}

impl Truth {
    pub(crate) fn new(query: usize) -> Self {
        Self { user: user(query), all: Default::default(), own: Default::default() }
    }

    /// Adds vectors, numbered from `first`.
    pub(crate) fn extend(&mut self, query: &[f32], first: usize, vectors: &[Vec<f32>]) {
        for (at, vector) in (first..).zip(vectors) {
            let near =
                Near { key: at as i64, similarity: dot(query, vector), labels: Labels::default() };
            let labels = labels(at);
            keep(&mut self.all[labels.tier as usize], near);
            if labels.user == self.user {
                keep(&mut self.own[labels.tier as usize], near);
            }
        }
    }
}

/// Share of the nearest that were found.
#[derive(Default)]
pub(crate) struct Recall {
    found: usize,
    wanted: usize,
}

impl Recall {
    pub(crate) fn add(&mut self, found: &[Near], wanted: &[Near]) {
        let hit = |near: &&Near| found.iter().any(|found| found.key == near.key);
        self.found += wanted.iter().filter(hit).count();
        self.wanted += wanted.len();
    }

    pub(crate) fn share(&self) -> f64 {
        self.found as f64 / self.wanted.max(1) as f64
    }
}

/// In the order of `Tier`.
pub(crate) fn tiers(found: Found) -> [Vec<Near>; 3] {
    [found.accepted, found.neutral, found.rejected]
}

/// The nearest of all tiers together.
pub(crate) fn nearest(tiers: &[Vec<Near>; 3]) -> Vec<Near> {
    let mut all = Vec::new();
    tiers.iter().flatten().for_each(|near| keep(&mut all, *near));
    all
}

fn keep(best: &mut Vec<Near>, near: Near) {
    if best.len() < NEAREST || best[NEAREST - 1].similarity < near.similarity {
        let at = best.partition_point(|better| better.similarity >= near.similarity);
        best.insert(at, near);
        best.truncate(NEAREST);
    }
}

/// Eight partial sums, for SIMD.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0f32; 8];
    for (x, y) in a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0) {
        for lane in 0..8 {
            sums[lane] += x[lane] * y[lane];
        }
    }
    sums.iter().sum()
}
