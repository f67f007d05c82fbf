//! k-means with the true number of groups, as the baseline for patterns.

use model::dot;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

const ROUNDS: usize = 50;

/// The best of several starts (k-means++), by the sum of squared distances. Vectors are normalised.
pub(crate) fn kmeans(vectors: &[&[f32]], k: usize, restarts: u64, seed: u64) -> Vec<usize> {
    let runs = (0..restarts).map(|start| once(vectors, k, seed * 1_000 + start));
    let best = runs.min_by(|a, b| a.0.total_cmp(&b.0));
    best.map(|(_, groups)| groups).unwrap_or_default()
}

fn once(vectors: &[&[f32]], k: usize, seed: u64) -> (f64, Vec<usize>) {
    let mut centres = spread(vectors, k, seed);
    let mut groups = vec![usize::MAX; vectors.len()];
    for _ in 0..ROUNDS {
        let squares: Vec<f32> = centres.iter().map(|centre| dot(centre, centre)).collect();
        // For normalised x the nearest centre c has the smallest c·c - 2·x·c.
        let nearest = |vector: &&[f32]| {
            let far = |at: usize| squares[at] - 2.0 * dot(vector, &centres[at]);
            let all = (0..centres.len()).map(|at| (far(at), at));
            all.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or_default()
        };
        let found: Vec<(f32, usize)> = vectors.iter().map(nearest).collect();
        let next: Vec<usize> = found.iter().map(|(_, at)| *at).collect();
        if next == groups {
            break;
        }
        groups = next;
        centres = middles(vectors, &groups, centres);
    }
    let far = |(vector, at): (&&[f32], &usize)| {
        let centre = &centres[*at];
        f64::from(1.0 + dot(centre, centre) - 2.0 * dot(vector, centre))
    };
    (vectors.iter().zip(&groups).map(far).sum(), groups)
}

fn spread(vectors: &[&[f32]], k: usize, seed: u64) -> Vec<Vec<f32>> {
    let mut random = StdRng::seed_from_u64(seed);
    let mut centres = vec![vectors[random.random_range(0..vectors.len())].to_vec()];
    let mut far = vec![f64::INFINITY; vectors.len()];
    while centres.len() < k {
        let last = &centres[centres.len() - 1];
        for (far, vector) in far.iter_mut().zip(vectors) {
            *far = far.min(f64::from((2.0 - 2.0 * dot(last, vector)).max(0.0)));
        }
        let mut left = random.random_range(0.0..1.0) * far.iter().sum::<f64>();
        let taken = far.iter().position(|far| {
            left -= far;
            left <= 0.0
        });
        centres.push(vectors[taken.unwrap_or(vectors.len() - 1)].to_vec());
    }
    centres
}

fn middles(vectors: &[&[f32]], groups: &[usize], old: Vec<Vec<f32>>) -> Vec<Vec<f32>> {
    let mut sums = vec![vec![0.0f32; vectors[0].len()]; old.len()];
    let mut sizes = vec![0.0f32; old.len()];
    for (vector, at) in vectors.iter().zip(groups) {
        sums[*at].iter_mut().zip(*vector).for_each(|(sum, value)| *sum += value);
        sizes[*at] += 1.0;
    }
    let middle = |(at, old): (usize, Vec<f32>)| {
        if sizes[at] == 0.0 { old } else { sums[at].iter().map(|sum| sum / sizes[at]).collect() }
    };
    old.into_iter().enumerate().map(middle).collect()
}
