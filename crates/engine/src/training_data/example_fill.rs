//! Keeps a project's pool in step with the store.

use std::sync::Arc;
use store::LabelledTurnReads;

use model::{Scope, Vector};
use store::{Changed, GivenCorrection, LabelledTurn, TurnNumber};

use super::examples::{apart, panicked};
use crate::changes::truncate_for_embedding;
use crate::error::FlowError;
use crate::training_data::TrainingData;
use crate::training_data::example_pool::{
    Offered, Place, Pool, ProjectExamples, of_correction, of_turn,
};

/// Questions of one project that are kept: corrected ones first, then the newest.
const MOST: usize = 100_000;
/// A pool that has grown by so many beyond that is filled anew.
const SLACK: usize = 20_000;
/// Turns or corrections that are read at once.
const PAGE: usize = 500;

impl TrainingData {
    /// Brings a project's pool up to date with everything that is stored by now.
    pub(super) async fn reach_examples(
        &self,
        scope: &Scope,
        project: &Arc<ProjectExamples>,
    ) -> Result<(), FlowError> {
        let mut reached = project.reached.lock().await;
        let head = self.core.head();
        if reached.is_some_and(|reached| reached >= head) {
            return Ok(());
        }
        let mut behind = match *reached {
            Some(reached) => reached,
            None => {
                let filled = self.filled(scope).await?;
                project.change(|pool| *pool = filled);
                self.examples.tidy();
                head
            }
        };
        loop {
            let changed = self.core.store.changed(scope, behind, PAGE).await?;
            let (upto, more) = (changed.upto, changed.more);
            self.take_in(project, changed).await;
            // Only now: whoever asks may go away in between.
            (behind, *reached) = (upto, Some(upto));
            if !more {
                break;
            }
        }
        if project.len() > MOST + SLACK {
            *reached = None;
        }
        Ok(())
    }

    /// The same where somebody asked before; whoever asks first fills it anyway.
    pub(crate) async fn refresh_examples(&self, scope: &Scope) -> Result<(), FlowError> {
        match self.examples.known(scope) {
            Some(project) => self.reach_examples(scope, &project).await,
            None => Ok(()),
        }
    }

    /// A pool with everything: corrections, then accepted answers, the newest first.
    async fn filled(&self, scope: &Scope) -> Result<Pool, FlowError> {
        let mut pool = Pool::default();
        let mut before = None;
        loop {
            let page = self.core.store.corrections(scope, before, PAGE).await?;
            let turns = self.core.store.judged(page.turns).await?;
            pool = self.put_all(pool, turns, page.loose).await?;
            before = page.next;
            if before.is_none() || pool.len() >= MOST {
                break;
            }
        }
        let mut older_than: Option<TurnNumber> = None;
        while pool.len() < MOST {
            let turns = self.core.store.accepted(scope, older_than, PAGE).await?;
            let Some(last) = turns.last() else { break };
            older_than = Some(last.number);
            pool = self.put_all(pool, turns, Vec::new()).await?;
        }
        Ok(pool)
    }

    /// On a thread that may take its time.
    async fn put_all(
        &self,
        mut pool: Pool,
        turns: Vec<LabelledTurn>,
        loose: Vec<GivenCorrection>,
    ) -> Result<Pool, FlowError> {
        let directed = self.directed(&turns, &loose).await;
        let task = move || {
            directed.iter().for_each(|(offered, vector)| pool.put(offered, vector));
            pool
        };
        Ok(tokio::task::spawn_blocking(task).await.map_err(panicked)?)
    }

    /// Puts turns in as they are now.
    async fn take_in(&self, project: &ProjectExamples, changed: Changed) {
        let Changed { turns, loose, gone, .. } = changed;
        let (names, known): (Vec<_>, Vec<_>) = turns.into_iter().unzip();
        let known: Vec<LabelledTurn> = known.into_iter().flatten().collect();
        let directed = self.directed(&known, &loose).await;
        project.change(|pool| {
            names.iter().for_each(|turn| pool.forget(turn));
            gone.iter().for_each(|at| pool.forget_loose(*at));
            // What stood by itself until its turn came belongs to the turn from then on.
            let of_turns = known.iter().flat_map(|exchange| &exchange.corrections);
            of_turns.for_each(|given| pool.forget_loose(given.position));
            directed.iter().for_each(|(offered, vector)| pool.put(offered, vector));
        });
    }

    /// What was chosen is no longer so: takes it in as it is.
    pub(super) async fn take_again(
        &self,
        scope: &Scope,
        project: &ProjectExamples,
        stale: &[Place],
    ) -> Result<(), FlowError> {
        let (turns, gone) = apart(stale);
        let known = self.core.store.judged(turns).await?;
        let loose = self.core.store.loose(scope, gone.clone()).await?;
        let turns = known.into_iter().map(|now| (now.turn.clone(), Some(now))).collect();
        self.take_in(project, Changed { turns, loose, gone, ..Changed::default() }).await;
        Ok(())
    }

    /// What turns and corrections offer, and where their questions point: turns have that stored.
    async fn directed(
        &self,
        turns: &[LabelledTurn],
        loose: &[GivenCorrection],
    ) -> Vec<(Offered, Vector)> {
        let of_turns = turns.iter().flat_map(|exchange| {
            of_turn(exchange).into_iter().map(|offered| (offered, exchange.vector.clone()))
        });
        let by_themselves = loose.iter().filter_map(of_correction).map(|offered| (offered, None));
        let all: Vec<(Offered, Option<Vector>)> = of_turns.chain(by_themselves).collect();
        let unknown = all.iter().filter(|(_, vector)| vector.is_none());
        let questions: Vec<String> = unknown
            .map(|(offered, _)| truncate_for_embedding(&offered.question).to_owned())
            .collect();
        let mut made = self.core.embed_texts(questions).await.into_iter();
        let with = |(offered, vector): (Offered, Option<Vector>)| {
            Some((offered, vector.or_else(|| made.next())?))
        };
        all.into_iter().filter_map(with).collect()
    }
}
