//! A set of queries with candidates, retriever scores and relevance grades.

use rustc_hash::FxHashMap;

/// Candidates per query.
pub(crate) const CANDIDATES: usize = 50;

pub(crate) struct Query {
    /// Index of the question.
    pub(crate) cluster: u64,
    /// Documents, best first.
    pub(crate) candidates: Vec<Candidate>,
    /// The ten best possible gains, whether or not the retriever found them.
    ideal: f64,
}

pub(crate) struct Candidate {
    pub(crate) document: u64,
    pub(crate) score: f64,
    /// Grade from 0 to 4.
    pub(crate) grade: u8,
}

pub(crate) struct Set {
    pub(crate) name: &'static str,
    pub(crate) queries: Vec<Query>,
}

impl Query {
    /// Keeps the best candidates. `grades` covers every graded document.
    pub(crate) fn new(cluster: u64, scored: Vec<(u64, f64)>, grades: &FxHashMap<u64, u8>) -> Self {
        let mut scored = scored;
        scored.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        scored.truncate(CANDIDATES);
        let grade = |document: &u64| grades.get(document).copied().unwrap_or(0);
        let candidates = scored
            .iter()
            .map(|(document, score)| Candidate {
                document: *document,
                score: *score,
                grade: grade(document),
            })
            .collect();
        let mut best: Vec<u8> = grades.values().copied().collect();
        best.sort_unstable_by(|a, b| b.cmp(a));
        Self { cluster, candidates, ideal: gain(best.into_iter()) }
    }

    pub(crate) fn has_anything_relevant(&self) -> bool {
        self.ideal > 0.0
    }

    /// NDCG@10 of the candidates in this order.
    pub(crate) fn ndcg(&self, order: impl Iterator<Item = usize>) -> f64 {
        gain(order.map(|place| self.candidates[place].grade)) / self.ideal
    }
}

fn gain(grades: impl Iterator<Item = u8>) -> f64 {
    grades
        .take(10)
        .zip(2u8..)
        .map(|(grade, place)| f64::from(grade) / f64::from(place).log2())
        .sum()
}
