//! Selects few-shot examples for a question.
//!
//! ```text
//! question --catch up with the log--> pool --similar, then diverse--> locations
//!                                       ^                                 |
//!                                       +-- stale: reload and retry <-- texts, from the store
//! ```
//!
//! A pool is built when a project first needs examples, and follows the log from there. Texts are
//! read last, and override the pool where they differ.

use std::sync::Arc;
use store::LabelledTurnReads;

use learn::{ExampleQuery, ExampleSource, SelectedExample};
use model::{Position, Scope, TurnId, UnitInterval, Vector};
use store::{StoreError, TurnNumber};

use crate::changes::truncate_for_embedding;
use crate::error::EngineError;
use crate::training_data::TrainingData;
use crate::training_data::example_pool::{
    ExampleCandidate, ExampleLocation, ProjectPool, correction_candidate, turn_candidates,
};

/// Selections before a pool with stale entries is rebuilt.
const MAX_ATTEMPTS: usize = 8;
/// Pools of this many questions are searched on a blocking thread.
const BLOCKING_THRESHOLD: usize = 2000;

#[derive(Clone, Debug)]
pub struct ExampleSearch {
    pub query: String,
    /// Number of examples.
    pub k: usize,
    /// Maximum estimated tokens of all examples together.
    pub max_tokens: Option<u32>,
    /// 0 prefers similar examples, 1 prefers diverse ones.
    pub diversity: f64,
    /// A turn to exclude: the one that asks.
    pub not: Option<TurnId>,
}

impl Default for ExampleSearch {
    fn default() -> Self {
        Self { query: String::new(), k: 3, max_tokens: None, diversity: 0.3, not: None }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct FoundExample {
    pub question: String,
    pub answer: String,
    /// The explanation given with the correction.
    pub explanation: Option<String>,
    pub source: ExampleSource,
    pub turn: Option<TurnId>,
    /// Cosine similarity of the two questions.
    pub similarity: f64,
    pub rating: Option<UnitInterval>,
}

impl TrainingData {
    /// The best examples of a project for a question, most similar first.
    pub async fn examples(
        &self,
        scope: &Scope,
        search: ExampleSearch,
    ) -> Result<Vec<FoundExample>, EngineError> {
        let vector = Arc::new(self.core.embed_text(truncate_for_embedding(&search.query)).await);
        let search = Arc::new(search);
        let project = self.examples.get_or_create(scope);
        let mut tries = 0;
        loop {
            self.catch_up(scope, &project).await?;
            let picked = select(&project, &search, &vector).await?;
            let (found, stale) = self.load_texts(scope, picked).await?;
            if stale.is_empty() {
                return Ok(found);
            }
            tries += 1;
            if tries == MAX_ATTEMPTS {
                // Persistently stale entries mean that retention dropped events: rebuild the pool.
                *project.synced_to.lock().await = None;
            } else if tries > MAX_ATTEMPTS {
                return Ok(found);
            } else {
                self.reload_stale(scope, &project, &stale).await?;
            }
        }
    }

    /// The selected examples with their texts, and the stale selections.
    async fn load_texts(
        &self,
        scope: &Scope,
        picked: Vec<SelectedExample<ExampleLocation>>,
    ) -> Result<(Vec<FoundExample>, Vec<ExampleLocation>), EngineError> {
        let locations: Vec<ExampleLocation> = picked.iter().map(|one| one.payload).collect();
        let candidates = self.load_candidates(scope, &locations).await?;
        let (mut found, mut stale) = (Vec::with_capacity(picked.len()), Vec::new());
        for one in picked {
            let same = |candidate: &&ExampleCandidate| {
                candidate.location == one.payload && candidate.source == one.source
            };
            match candidates.iter().find(same) {
                Some(candidate) => found.push(build_example(candidate, one.similarity)),
                None => stale.push(one.payload),
            }
        }
        Ok((found, stale))
    }

    /// Current candidates at these locations.
    async fn load_candidates(
        &self,
        scope: &Scope,
        locations: &[ExampleLocation],
    ) -> Result<Vec<ExampleCandidate>, EngineError> {
        let (turns, loose) = split_locations(locations);
        let mut candidates = Vec::new();
        if !turns.is_empty() {
            let exchanges = self.core.store.judged(turns).await?;
            candidates.extend(exchanges.iter().flat_map(turn_candidates));
        }
        if !loose.is_empty() {
            let corrections = self.core.store.loose(scope, loose).await?;
            candidates.extend(corrections.iter().filter_map(correction_candidate));
        }
        Ok(candidates)
    }

    pub(crate) async fn examples_excluding(
        &self,
        scope: &Scope,
        query: String,
        turn: &TurnId,
    ) -> Result<Vec<FoundExample>, EngineError> {
        let not = Some(turn.clone());
        self.examples(scope, ExampleSearch { query, not, ..ExampleSearch::default() }).await
    }
}

/// Separates turns from corrections without a turn.
pub(super) fn split_locations(locations: &[ExampleLocation]) -> (Vec<TurnNumber>, Vec<Position>) {
    let (mut turns, mut loose) = (Vec::new(), Vec::new());
    for location in locations {
        match location {
            ExampleLocation::Answer(turn) | ExampleLocation::Correction(turn, _) => {
                turns.push(*turn)
            }
            ExampleLocation::Loose(at) => loose.push(*at),
        }
    }
    turns.sort_unstable();
    turns.dedup();
    (turns, loose)
}

async fn select(
    project: &Arc<ProjectPool>,
    search: &Arc<ExampleSearch>,
    vector: &Arc<Vector>,
) -> Result<Vec<SelectedExample<ExampleLocation>>, EngineError> {
    if project.len() < BLOCKING_THRESHOLD {
        return Ok(select_now(project, search, vector));
    }
    let (project, search, vector) = (Arc::clone(project), Arc::clone(search), Arc::clone(vector));
    let task = move || select_now(&project, &search, &vector);
    Ok(tokio::task::spawn_blocking(task).await.map_err(thread_panic)?)
}

pub(super) fn thread_panic(_: tokio::task::JoinError) -> StoreError {
    StoreError::Corrupt("example selection thread panicked".into())
}

fn select_now(
    project: &ProjectPool,
    search: &ExampleSearch,
    vector: &Vector,
) -> Vec<SelectedExample<ExampleLocation>> {
    let excluded: Vec<&str> = search.not.iter().map(TurnId::as_str).collect();
    let asked = ExampleQuery {
        query: &search.query,
        vector: vector.values(),
        k: search.k,
        max_tokens: search.max_tokens,
        diversity: search.diversity,
        excluded: &excluded,
    };
    project.read(|pool| pool.select(&asked, vector.model()))
}

fn build_example(candidate: &ExampleCandidate, similarity: f64) -> FoundExample {
    FoundExample {
        question: candidate.question.clone(),
        answer: candidate.answer.clone(),
        explanation: candidate.explanation.clone(),
        source: candidate.source,
        turn: candidate.turn.clone(),
        similarity,
        rating: candidate.rating,
    }
}
