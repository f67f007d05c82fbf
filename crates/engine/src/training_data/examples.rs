//! Which answered questions to show a model beside a new one.
//!
//! ```text
//! question --catch up with the log--> pool --near, then unlike each other--> places
//!                                       ^                                      |
//!                                       +-- is no longer so: look again <-- words, from the store
//! ```
//!
//! A pool is filled from the store when a project is first asked, and follows the log from there: before
//! each answer it looks at the turns that events behind its position name, as they are by then. The
//! words are read last, and what they say stands above the pool.

use std::sync::Arc;
use store::LabelledTurnReads;

use learn::{ExampleQuery, ExampleSource, SelectedExample};
use model::{Position, Scope, TurnId, UnitInterval, Vector};
use store::{StoreError, TurnNumber};

use crate::changes::truncate_for_embedding;
use crate::error::FlowError;
use crate::training_data::TrainingData;
use crate::training_data::example_pool::{Offered, Place, ProjectExamples, of_correction, of_turn};

/// How often it is chosen anew because something chosen was no longer so.
const MOST_TRIES: usize = 8;
/// A pool of so many questions is searched on a thread that may take its time.
const MANY: usize = 2000;

/// What is asked.
#[derive(Clone, Debug)]
pub struct ExampleSearch {
    /// The question.
    pub query: String,
    /// How many are wanted.
    pub k: usize,
    /// How many tokens all of them may have together, by estimate.
    pub max_tokens: Option<u32>,
    /// 0: the nearest; 1: the least alike among the nearest.
    pub diversity: f64,
    /// A turn that is not to be shown: the one that asks.
    pub not: Option<TurnId>,
}

impl Default for ExampleSearch {
    fn default() -> Self {
        Self { query: String::new(), k: 3, max_tokens: None, diversity: 0.3, not: None }
    }
}

/// An example.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundExample {
    /// What was asked.
    pub question: String,
    /// A good answer.
    pub answer: String,
    /// What whoever corrected it says about it.
    pub explanation: Option<String>,
    /// Why it is good.
    pub source: ExampleSource,
    /// The turn it belongs to.
    pub turn: Option<TurnId>,
    /// The cosine of the two questions.
    pub similarity: f64,
    /// How it was rated, if it was.
    pub rating: Option<UnitInterval>,
}

impl TrainingData {
    /// The best examples of a project for a question, the nearest first.
    pub async fn examples(
        &self,
        scope: &Scope,
        search: ExampleSearch,
    ) -> Result<Vec<FoundExample>, FlowError> {
        let vector = Arc::new(self.core.embed_text(truncate_for_embedding(&search.query)).await);
        let search = Arc::new(search);
        let project = self.examples.of(scope);
        let mut tries = 0;
        loop {
            self.reach_examples(scope, &project).await?;
            let picked = pick(&project, &search, &vector).await?;
            let (found, stale) = self.with_their_words(scope, picked).await?;
            if stale.is_empty() {
                return Ok(found);
            }
            tries += 1;
            if tries == MOST_TRIES {
                // So many are no longer so that the pool is of another time: old events were dropped.
                *project.reached.lock().await = None;
            } else if tries > MOST_TRIES {
                return Ok(found);
            } else {
                self.take_again(scope, &project, &stale).await?;
            }
        }
    }

    /// The chosen ones with their words, and those that are no longer so.
    async fn with_their_words(
        &self,
        scope: &Scope,
        picked: Vec<SelectedExample<Place>>,
    ) -> Result<(Vec<FoundExample>, Vec<Place>), FlowError> {
        let places: Vec<Place> = picked.iter().map(|one| one.payload).collect();
        let offered = self.offered_at(scope, &places).await?;
        let (mut found, mut stale) = (Vec::with_capacity(picked.len()), Vec::new());
        for one in picked {
            let same =
                |offered: &&Offered| offered.place == one.payload && offered.source == one.source;
            match offered.iter().find(same) {
                Some(offered) => found.push(found_example(offered, one.similarity)),
                None => stale.push(one.payload),
            }
        }
        Ok((found, stale))
    }

    /// What is offered at these places now.
    async fn offered_at(&self, scope: &Scope, places: &[Place]) -> Result<Vec<Offered>, FlowError> {
        let (turns, loose) = apart(places);
        let mut offered = Vec::new();
        if !turns.is_empty() {
            let exchanges = self.core.store.judged(turns).await?;
            offered.extend(exchanges.iter().flat_map(of_turn));
        }
        if !loose.is_empty() {
            let corrections = self.core.store.loose(scope, loose).await?;
            offered.extend(corrections.iter().filter_map(of_correction));
        }
        Ok(offered)
    }

    pub(crate) async fn examples_for(
        &self,
        scope: &Scope,
        query: String,
        turn: &TurnId,
    ) -> Result<Vec<FoundExample>, FlowError> {
        let not = Some(turn.clone());
        self.examples(scope, ExampleSearch { query, not, ..ExampleSearch::default() }).await
    }
}

/// Turns and corrections by themselves.
pub(super) fn apart(places: &[Place]) -> (Vec<TurnNumber>, Vec<Position>) {
    let (mut turns, mut loose) = (Vec::new(), Vec::new());
    for place in places {
        match place {
            Place::Answer(turn) | Place::Correction(turn, _) => turns.push(*turn),
            Place::Loose(at) => loose.push(*at),
        }
    }
    turns.sort_unstable();
    turns.dedup();
    (turns, loose)
}

async fn pick(
    project: &Arc<ProjectExamples>,
    search: &Arc<ExampleSearch>,
    vector: &Arc<Vector>,
) -> Result<Vec<SelectedExample<Place>>, FlowError> {
    if project.len() < MANY {
        return Ok(pick_now(project, search, vector));
    }
    let (project, search, vector) = (Arc::clone(project), Arc::clone(search), Arc::clone(vector));
    let task = move || pick_now(&project, &search, &vector);
    Ok(tokio::task::spawn_blocking(task).await.map_err(panicked)?)
}

pub(super) fn panicked(_: tokio::task::JoinError) -> StoreError {
    StoreError::Corrupt("choosing examples panicked".into())
}

fn pick_now(
    project: &ProjectExamples,
    search: &ExampleSearch,
    vector: &Vector,
) -> Vec<SelectedExample<Place>> {
    let excluded: Vec<&str> = search.not.iter().map(TurnId::as_str).collect();
    let asked = ExampleQuery {
        query: &search.query,
        vector: vector.values(),
        k: search.k,
        max_tokens: search.max_tokens,
        diversity: search.diversity,
        excluded: &excluded,
    };
    project.read(|pool| pool.pick(&asked, vector.model()))
}

fn found_example(offered: &Offered, similarity: f64) -> FoundExample {
    FoundExample {
        question: offered.question.clone(),
        answer: offered.answer.clone(),
        explanation: offered.explanation.clone(),
        source: offered.source,
        turn: offered.turn.clone(),
        similarity,
        rating: offered.rating,
    }
}
