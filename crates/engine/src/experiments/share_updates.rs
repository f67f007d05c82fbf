//! Automatic share updates: rollout steps, rollbacks and adaptive shares.
//!
//! The leader checks projects with commits. Each move is an event with its evidence. The move's
//! number is claimed, so two nodes with the same conclusion store it once.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use learn::experiment::{
    ExperimentEvidence, ExperimentStatus, StepReason, TrafficShares, adaptive_shares,
    compute_results, next_step,
};
use model::{Claim, ClaimSpace, ExperimentRule, Need, Outcome, Scope, record_fields};
use serde_json::{Map, Value, json};
use store::Stopwatch;

use super::ExperimentView;
use crate::error::EngineError;
use crate::experiments::Experiments;
use crate::retriable::log_retriable;
use crate::tasks::StopSignal;

/// Minimum time between two rounds.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// The pause after a round, as a multiple of the round's duration.
const REST_FACTOR: u32 = 20;
/// Rounds between two checks of all projects: other nodes may have committed to them.
const ROUNDS_PER_FULL_SCAN: u32 = 60;
/// Adaptive shares move when the units grew by this factor since the last move. This bounds the
/// number of moves.
const MIN_UNIT_GROWTH: f64 = 1.1;
/// Adaptive shares move when at least one share changes by this much.
const MIN_SHARE_CHANGE: f64 = 0.01;

impl Experiments {
    /// Spawns the task that updates rollout and adaptive shares. Call it once, before serving.
    pub fn spawn_share_updates(self: &Arc<Self>) {
        let experiments = Arc::clone(self);
        self.core.tasks.spawn_task(|stop| run_share_updates(experiments, stop));
    }

    /// Updates the experiments of these projects, or of all. Returns how many moved.
    pub(crate) async fn update_all_shares(
        &self,
        scopes: Option<&HashSet<Scope>>,
    ) -> Result<usize, EngineError> {
        let mut moved = 0;
        for (scope, id) in self.core.store.experiments_going_on().await? {
            if scopes.is_some_and(|scopes| !scopes.contains(&scope)) {
                continue;
            }
            let view = match self.load_experiment(&scope, &id).await {
                Ok(view) => view,
                Err(error) if error.is_unavailable() => return Err(error),
                // An invalid imported definition, or a corrupt row.
                Err(error) => {
                    tracing::warn!(%error, experiment = %id, "experiment could not be read; skipping it");
                    continue;
                }
            };
            let moves = view.definition.rollout.is_some() || view.definition.adaptive.is_some();
            if !moves || view.is_rolled_back() {
                continue;
            }
            match self.update_shares(&scope, &view).await {
                Ok(has_moved) => moved += usize::from(has_moved),
                Err(error) if error.is_unavailable() => return Err(error),
                // One failing experiment must not block the rollback of others.
                Err(error) => {
                    tracing::warn!(%error, experiment = %id, "experiment shares could not be updated; retrying");
                    self.dirty_scopes.mark_dirty([scope].into());
                }
            }
        }
        Ok(moved)
    }

    async fn update_shares(
        &self,
        scope: &Scope,
        view: &ExperimentView,
    ) -> Result<bool, EngineError> {
        let evidence = self.load_evidence(scope, view).await?;
        match compute_next_move(view, &evidence) {
            Some((shares, step)) => self.store_move(scope, view, &shares, step).await,
            None => Ok(false),
        }
    }

    async fn store_move(
        &self,
        scope: &Scope,
        view: &ExperimentView,
        shares: &TrafficShares,
        step: Map<String, Value>,
    ) -> Result<bool, EngineError> {
        let number = view.moves.len() as u32 + 1;
        let rule = ExperimentRule::Moved {
            experiment_id: view.id.clone(),
            number,
            shares: shares.as_slice().to_vec(),
            step,
        };
        let mut write = self.build_experiment_write(scope, rule, None, None);
        let id = format!("{}/{number}", view.id);
        write.claims.push(Claim { space: ClaimSpace::Experiment, id, mac: None });
        let statuses = vec![view.status.word().to_owned()];
        write.needs.push(Need::Experiment { id: view.id.clone(), statuses });
        let outcome = self.core.store_writes(vec![write]).await?.pop().unwrap_or(Outcome::Failed);
        let is_new = matches!(outcome, Outcome::Stored(_));
        if is_new {
            tracing::info!(experiment = %view.id, number, "experiment shares moved");
        }
        Ok(is_new)
    }
}

/// The next shares and the reason for the move.
fn compute_next_move(
    view: &ExperimentView,
    evidence: &ExperimentEvidence,
) -> Option<(TrafficShares, Map<String, Value>)> {
    let Some(state) = &view.rollout else { return adapt_shares(view, evidence) };
    let step = next_step(&view.definition, state, evidence)?;
    let is_back = match step.reason {
        StepReason::GuardrailCrossed { .. } => true,
        StepReason::NotWorse { .. } => false,
    };
    // A paused experiment still serves the treatment to exposed units, so it can be rolled back.
    if view.status != ExperimentStatus::Running && !is_back {
        return None;
    }
    Some((TrafficShares::from_percent(&view.definition, step.to), record_fields(&step)))
}

/// New shares of an adaptive experiment, if they differ enough.
fn adapt_shares(
    view: &ExperimentView,
    evidence: &ExperimentEvidence,
) -> Option<(TrafficShares, Map<String, Value>)> {
    if view.status != ExperimentStatus::Running || view.definition.adaptive.is_none() {
        return None;
    }
    let units: u64 = evidence.exposed_units().iter().sum();
    let last = view.moves.last().and_then(|last| last.units);
    if (units as f64) < last.unwrap_or(0.0) * MIN_UNIT_GROWTH {
        return None;
    }
    let (now, next) = (view.shares(), adaptive_shares(&view.definition, evidence));
    let mut pairs = now.as_slice().iter().zip(next.as_slice());
    if !pairs.any(|(now, next)| (now - next).abs() >= MIN_SHARE_CHANGE) {
        return None;
    }
    let found = compute_results(&view.definition, view.status, evidence);
    let means: Vec<Value> = found
        .variants
        .iter()
        .map(|one| json!({"variant": one.name, "units": one.observed, "mean": one.mean}))
        .collect();
    let step = json!({"why": "learnt", "from": now.as_slice(), "to": next.as_slice(),
        "evidence": {"units": units, "variants": means}});
    Some((next, step.as_object().cloned().unwrap_or_default()))
}

async fn run_share_updates(experiments: Arc<Experiments>, mut stop: StopSignal) {
    let mut round = 0_u32;
    while experiments.cluster.leadership.wait_until_leader(&mut stop).await {
        let all = round.is_multiple_of(ROUNDS_PER_FULL_SCAN);
        let scopes = experiments.dirty_scopes.take_all();
        let watch = Stopwatch::start();
        let updated = if all {
            experiments.update_all_shares(None).await
        } else if scopes.is_empty() {
            Ok(0)
        } else {
            experiments.update_all_shares(Some(&scopes)).await
        };
        match updated {
            Ok(_) => round = round.wrapping_add(1),
            Err(error) => {
                log_retriable(error, "experiments could not be updated; retrying");
                experiments.dirty_scopes.mark_dirty(scopes);
            }
        }
        let rest = POLL_INTERVAL.max(watch.elapsed() * REST_FACTOR);
        tokio::select! {
            _ = stop.changed() => {}
            () = tokio::time::sleep(rest) => {}
        }
    }
}
