//! Keeps a project's example pool in sync with the store.

use std::sync::Arc;
use store::LabelledTurnReads;

use model::{Scope, Vector};
use store::{Changed, GivenCorrection, LabelledTurn, TurnNumber};

use super::examples::{split_locations, thread_panic};
use crate::changes::truncate_for_embedding;
use crate::error::EngineError;
use crate::training_data::TrainingData;
use crate::training_data::example_pool::{
    ExampleCandidate, ExampleLocation, IndexedPool, ProjectPool, correction_candidate,
    turn_candidates,
};

/// Questions per pool: corrected ones first, then the newest.
const MAX_POOL_QUESTIONS: usize = 100_000;
/// A pool that exceeds the maximum by this many questions is rebuilt.
const POOL_SLACK: usize = 20_000;
/// Turns or corrections read per query.
const PAGE_ROWS: usize = 500;

impl TrainingData {
    /// Applies everything stored so far to a project's pool.
    pub(super) async fn catch_up(
        &self,
        scope: &Scope,
        project: &Arc<ProjectPool>,
    ) -> Result<(), EngineError> {
        let mut synced_to = project.synced_to.lock().await;
        let head = self.core.head();
        if synced_to.is_some_and(|synced_to| synced_to >= head) {
            return Ok(());
        }
        let mut behind = match *synced_to {
            Some(synced_to) => synced_to,
            None => {
                let build_pool = self.build_pool(scope).await?;
                project.update(|pool| *pool = build_pool);
                self.examples.evict();
                head
            }
        };
        loop {
            let changed = self.core.store.changed(scope, behind, PAGE_ROWS).await?;
            let (upto, more) = (changed.upto, changed.more);
            self.apply_changes(project, changed).await;
            // Set after each page, because the caller may be cancelled in between.
            (behind, *synced_to) = (upto, Some(upto));
            if !more {
                break;
            }
        }
        if project.len() > MAX_POOL_QUESTIONS + POOL_SLACK {
            *synced_to = None;
        }
        Ok(())
    }

    /// Updates the pool of a project if it exists. Otherwise its first use builds it.
    pub(crate) async fn refresh_examples(&self, scope: &Scope) -> Result<(), EngineError> {
        match self.examples.get(scope) {
            Some(project) => self.catch_up(scope, &project).await,
            None => Ok(()),
        }
    }

    /// Builds a pool: corrections, then accepted answers, newest first.
    async fn build_pool(&self, scope: &Scope) -> Result<IndexedPool, EngineError> {
        let mut pool = IndexedPool::default();
        let mut before = None;
        loop {
            let page = self.core.store.corrections(scope, before, PAGE_ROWS).await?;
            let turns = self.core.store.judged(page.turns).await?;
            pool = self.insert_all(pool, turns, page.loose).await?;
            before = page.next;
            if before.is_none() || pool.len() >= MAX_POOL_QUESTIONS {
                break;
            }
        }
        let mut older_than: Option<TurnNumber> = None;
        while pool.len() < MAX_POOL_QUESTIONS {
            let turns = self.core.store.accepted(scope, older_than, PAGE_ROWS).await?;
            let Some(last) = turns.last() else { break };
            older_than = Some(last.number);
            pool = self.insert_all(pool, turns, Vec::new()).await?;
        }
        Ok(pool)
    }

    /// Inserts on a blocking thread.
    async fn insert_all(
        &self,
        mut pool: IndexedPool,
        turns: Vec<LabelledTurn>,
        loose: Vec<GivenCorrection>,
    ) -> Result<IndexedPool, EngineError> {
        let with_vectors = self.with_vectors(&turns, &loose).await;
        let task = move || {
            with_vectors.iter().for_each(|(candidate, vector)| pool.insert(candidate, vector));
            pool
        };
        Ok(tokio::task::spawn_blocking(task).await.map_err(thread_panic)?)
    }

    /// Replaces the entries of changed turns by their current state.
    async fn apply_changes(&self, project: &ProjectPool, changed: Changed) {
        let Changed { turns, loose, gone, .. } = changed;
        let (names, known): (Vec<_>, Vec<_>) = turns.into_iter().unzip();
        let known: Vec<LabelledTurn> = known.into_iter().flatten().collect();
        let with_vectors = self.with_vectors(&known, &loose).await;
        project.update(|pool| {
            names.iter().for_each(|turn| pool.remove_turn(turn));
            gone.iter().for_each(|at| pool.remove_loose(*at));
            // A correction without a turn belongs to the turn once that arrives.
            let of_turns = known.iter().flat_map(|exchange| &exchange.corrections);
            of_turns.for_each(|given| pool.remove_loose(given.position));
            with_vectors.iter().for_each(|(candidate, vector)| pool.insert(candidate, vector));
        });
    }

    /// Reloads selected examples whose source has changed.
    pub(super) async fn reload_stale(
        &self,
        scope: &Scope,
        project: &ProjectPool,
        stale: &[ExampleLocation],
    ) -> Result<(), EngineError> {
        let (turns, gone) = split_locations(stale);
        let known = self.core.store.judged(turns).await?;
        let loose = self.core.store.loose(scope, gone.clone()).await?;
        let turns = known.into_iter().map(|now| (now.turn.clone(), Some(now))).collect();
        self.apply_changes(project, Changed { turns, loose, gone, ..Changed::default() }).await;
        Ok(())
    }

    /// Candidates of turns and corrections with their question vectors. Turns have theirs stored.
    async fn with_vectors(
        &self,
        turns: &[LabelledTurn],
        loose: &[GivenCorrection],
    ) -> Vec<(ExampleCandidate, Vector)> {
        let of_turns = turns.iter().flat_map(|exchange| {
            turn_candidates(exchange)
                .into_iter()
                .map(|candidate| (candidate, exchange.vector.clone()))
        });
        let by_themselves =
            loose.iter().filter_map(correction_candidate).map(|candidate| (candidate, None));
        let all: Vec<(ExampleCandidate, Option<Vector>)> = of_turns.chain(by_themselves).collect();
        let unknown = all.iter().filter(|(_, vector)| vector.is_none());
        let questions: Vec<String> = unknown
            .map(|(candidate, _)| truncate_for_embedding(&candidate.question).to_owned())
            .collect();
        let mut made = self.core.embed_texts(questions).await.into_iter();
        let with = |(candidate, vector): (ExampleCandidate, Option<Vector>)| {
            Some((candidate, vector.or_else(|| made.next())?))
        };
        all.into_iter().filter_map(with).collect()
    }
}
