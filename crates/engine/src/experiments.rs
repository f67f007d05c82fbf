//! Experiments: define, start, stop, list and evaluate them.
//!
//! ```text
//! definition, actions, moves ──events──> experiments, experiment_moves ──┐
//! assign ──exposure, once for each variant a unit is served──> experiment_units, experiment_sums
//! turns and their verdicts, ratings ──as differences───────────────────┘                  │
//!                                                          results, moves <── evidence <──┘
//! ```
//!
//! The state of an experiment is read from the projections each time. The cache only spares
//! assignments from parsing definitions, which never change.

pub(crate) mod experiment_cache;
pub(crate) mod view;
mod assign;
mod evidence;
mod share_updates;
mod sequence;

use std::sync::Arc;

use learn::experiment::{
    ExperimentDefinition, ExperimentResults, ExperimentStatus, InvalidTransition, LifecycleAction,
    Metric, compute_results,
};
use model::{
    BadData, Body, Claim, ClaimSpace, ExperimentId, ExperimentRule, Mac, Need, Outcome, Position,
    Redacted, Rule, Scope, Write,
};

pub use crate::experiments::view::ExperimentView;
pub use assign::Assignment;
pub use sequence::SequencePoint;

use crate::cluster::Cluster;
use crate::core::Core;
use crate::core::build_redacted_write;
use crate::core::commit::{CommitObserver, CommitSummary, ObserverFuture};
use crate::dirty_scopes::DirtyScopes;
use crate::error::EngineError;
use crate::experiments::experiment_cache::ExperimentCache;
use crate::receipt::RequestKey;

/// Owns the parsed definitions of experiments that units are assigned in.
pub struct Experiments {
    pub(crate) core: Arc<Core>,
    pub(crate) cluster: Arc<Cluster>,
    /// Projects with commits since the shares of their experiments were last moved.
    pub(crate) dirty_scopes: DirtyScopes,
    pub(crate) cache: ExperimentCache,
}

impl CommitObserver for Experiments {
    fn on_commit<'a>(&'a self, commit: &'a CommitSummary) -> ObserverFuture<'a> {
        self.dirty_scopes.mark_dirty(commit.scopes.clone());
        Box::pin(std::future::ready(Ok(())))
    }
}

impl Experiments {
    pub(crate) fn new(core: Arc<Core>, cluster: Arc<Cluster>) -> Self {
        let (dirty_scopes, cache) = (DirtyScopes::default(), ExperimentCache::default());
        Self { core, cluster, dirty_scopes, cache }
    }

    /// Defines an experiment with status DRAFT. Returns it, and `true` for a repeat of an earlier
    /// request with this id or key.
    pub async fn create_experiment(
        &self,
        scope: &Scope,
        id: Option<ExperimentId>,
        definition: &ExperimentDefinition,
        mac: Mac,
        key: Option<RequestKey>,
    ) -> Result<(ExperimentView, bool), EngineError> {
        definition.validate().map_err(EngineError::InvalidSetting)?;
        check_metrics(definition)?;
        let id = id.unwrap_or_else(|| self.core.ids.experiment_id(self.core.clock.now()));
        let written = serde_json::json!(definition).as_object().cloned().unwrap_or_default();
        let rule = ExperimentRule::Defined {
            experiment_id: id.clone(),
            unit: definition.unit,
            definition: written,
        };
        let mut write = self.build_experiment_write(scope, rule, Some(mac), key);
        let space = ClaimSpace::Experiment;
        write.claims.push(Claim { space, id: id.to_string(), mac: Some(mac) });
        let receipt = self.core.commit_one(write).await?;
        if !receipt.replayed {
            return Ok((self.load_experiment(scope, &id).await?, false));
        }
        // A repeat without an id is identified by the request key alone.
        let first = self.core.store.event(scope, &receipt.id).await?;
        let first_id = match first.map(|stored| stored.event.into_inner().body) {
            Some(Body::Rule(Rule::Experiment(rule))) => rule.into_experiment_id(),
            Some(_) | None => id,
        };
        Ok((self.load_experiment(scope, &first_id).await?, true))
    }

    /// Applies an action such as start or stop, if the current status allows it.
    pub async fn apply_action(
        &self,
        scope: &Scope,
        id: &ExperimentId,
        action: LifecycleAction,
        key: Option<RequestKey>,
    ) -> Result<ExperimentView, EngineError> {
        let from = ExperimentStatus::ALL_STATUSES
            .into_iter()
            .filter(|status| status.apply_action(action).is_ok());
        let statuses = from.clone().map(|status| status.word().to_owned()).collect();
        let leads_to = from.filter_map(|status| status.apply_action(action).ok()).next();
        let rule = ExperimentRule::Status {
            experiment_id: id.clone(),
            action: action.word().to_owned(),
            status: leads_to.unwrap_or_default().word().to_owned(),
        };
        let mut write = self.build_experiment_write(scope, rule, None, key);
        write.needs.push(Need::Experiment { id: id.clone(), statuses });
        let outcome = self.core.store_writes(vec![write]).await?.pop().unwrap_or(Outcome::Failed);
        match outcome {
            Outcome::Stored(_)
            | Outcome::StoredElsewhere(_)
            | Outcome::Replayed { .. }
            | Outcome::Unchanged => self.load_experiment(scope, id).await,
            Outcome::Missing(_) => {
                let status = self.load_experiment(scope, id).await?.status;
                Err(EngineError::PreconditionFailed(
                    InvalidTransition { status, action }.to_string(),
                ))
            }
            Outcome::Conflict(space) => Err(EngineError::Conflict(space)),
            Outcome::SetAside => Err(EngineError::DeadLettered),
            Outcome::Failed => Err(EngineError::NotStored),
        }
    }

    pub async fn load_experiment(
        &self,
        scope: &Scope,
        id: &ExperimentId,
    ) -> Result<ExperimentView, EngineError> {
        let stored = self.core.store.experiment(scope, id).await?;
        stored.and_then(ExperimentView::from_stored).ok_or(EngineError::NotFound("experiment"))
    }

    /// Experiments of a project that were defined after a position, in order.
    pub async fn list_experiments(
        &self,
        scope: &Scope,
        after: Position,
        limit: usize,
    ) -> Result<Vec<ExperimentView>, EngineError> {
        let (mut found, mut after) = (Vec::new(), after);
        while found.len() < limit {
            let stored = self.core.store.experiments(scope, after, limit - found.len()).await?;
            let Some(last) = stored.last() else { break };
            after = last.position;
            // An imported definition may be invalid. It is skipped, and the page is filled up: an empty
            // page would look like the end of the list.
            found.extend(stored.into_iter().filter_map(ExperimentView::from_stored));
        }
        Ok(found)
    }

    /// The experiment with its current results.
    pub async fn experiment_results(
        &self,
        scope: &Scope,
        id: &ExperimentId,
    ) -> Result<(ExperimentView, ExperimentResults), EngineError> {
        let view = self.load_experiment(scope, id).await?;
        let evidence = self.load_evidence(scope, &view).await?;
        let found = compute_results(&view.definition, view.status, &evidence);
        Ok((view, found))
    }

    /// Builds the write of an experiment rule. Definitions are settings of the application and are
    /// returned as received, so they are not redacted.
    fn build_experiment_write(
        &self,
        scope: &Scope,
        rule: ExperimentRule,
        mac: Option<Mac>,
        key: Option<RequestKey>,
    ) -> Write {
        let now = self.core.clock.now();
        let rule = Rule::Experiment(rule);
        let event = ingest::rule_event(scope, None, rule, self.core.ids.event_id(now), now);
        build_redacted_write(Redacted::assert_no_user_text(event), mac, key)
    }
}

/// Refuses the metric `reward`: a reward depends on a router's settings, which experiments lack.
fn check_metrics(definition: &ExperimentDefinition) -> Result<(), EngineError> {
    let guardrails = definition.guardrails.iter().enumerate();
    let guardrails = guardrails.map(|(n, one)| (format!("guardrails[{n}].metric"), one.metric));
    let mut all = std::iter::once(("metric".to_owned(), definition.metric)).chain(guardrails);
    let Some((field, _)) = all.find(|(_, metric)| *metric == Metric::Reward) else { return Ok(()) };
    let others = Metric::ALL_METRICS.into_iter().filter(|metric| *metric != Metric::Reward);
    let words: Vec<&str> = others.map(Metric::word).collect();
    Err(EngineError::InvalidSetting(BadData {
        field,
        got: "reward, which only routers know".to_owned(),
        expected: format!("one of {}", words.join(", ")),
    }))
}

#[cfg(test)]
mod tests;
