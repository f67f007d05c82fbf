//! Matches a text with the failure pattern nearest in meaning.

use std::collections::HashMap;

use learn::{FailurePattern, PatternRule};
use model::{Vector, dot};

/// Vectors of a turn's question and of the remark on its answer.
pub(crate) type TurnVectors = (Vector, Option<Vector>);

/// Centroids of each pattern's questions and, separately, of its remarks. A comment may repeat
/// either.
#[derive(Debug, Default)]
pub(crate) struct PatternCentroids(Vec<(usize, Vec<f32>)>);

impl PatternCentroids {
    pub(crate) fn compute(patterns: &[FailurePattern], turns: &HashMap<&str, TurnVectors>) -> Self {
        let mut centroids = Vec::with_capacity(patterns.len() * 2);
        for (place, pattern) in patterns.iter().enumerate() {
            let members = || pattern.turns.iter().filter_map(|turn| turns.get(turn.as_str()));
            let asked = compute_centroid(members().map(|(asked, _)| asked));
            let said = compute_centroid(members().filter_map(|(_, said)| said.as_ref()));
            centroids.extend([asked, said].into_iter().flatten().map(|vector| (place, vector)));
        }
        Self(centroids)
    }

    /// The nearest pattern and its similarity. `None` below the similarity from which turns are
    /// clustered.
    pub(crate) fn find_nearest(&self, text: &str) -> Option<(usize, f32)> {
        let floor = PatternRule::default().min_similarity;
        let vector = embed::built_in().embed(text);
        if vector.is_zero() {
            return None;
        }
        let near = self.0.iter().map(|(place, centroid)| (*place, dot(vector.values(), centroid)));
        // Equal similarities go to the first, which is the larger pattern.
        let best = near.reduce(|best, next| if next.1 > best.1 { next } else { best });
        best.filter(|(_, similarity)| *similarity >= floor)
    }
}

fn compute_centroid<'a>(vectors: impl Iterator<Item = &'a Vector>) -> Option<Vec<f32>> {
    let mut sum: Vec<f32> = Vec::new();
    for vector in vectors {
        sum.resize(vector.values().len(), 0.0);
        sum.iter_mut().zip(vector.values()).for_each(|(sum, value)| *sum += value);
    }
    let length = dot(&sum, &sum).sqrt();
    (length > 0.0).then(|| sum.into_iter().map(|value| value / length).collect())
}
