//! Figures and what explains them: quality, alerts, failure patterns, suggestions, lists.

pub(crate) mod alert_delivery;
pub(crate) mod alerts;
pub(crate) mod conversation_list;
pub(crate) mod drafts;
pub(crate) mod failures;
pub(crate) mod patterns;
pub(crate) mod quality;
pub(crate) mod reports;
pub(crate) mod suggestions;
pub(crate) mod targets;

use std::sync::Arc;

use outbound::ChatClient;

use crate::cluster::Cluster;
use crate::core::Core;
use crate::core::commit::{CommitObserver, CommitSummary, ObserverFuture};
use crate::dirty_scopes::DirtyScopes;
use crate::error::FlowError;
use crate::experiments::Experiments;
use crate::insights::drafts::Drafts;
use crate::insights::patterns::KeptPatterns;
use crate::insights::targets::AllTargets;

/// Owns the targets of tenants and the caches of failure patterns and drafts.
pub struct Insights {
    pub(crate) core: Arc<Core>,
    pub(crate) cluster: Arc<Cluster>,
    pub(crate) experiments: Arc<Experiments>,
    pub(crate) targets: AllTargets,
    /// Projects with commits since their figures were last compared with the targets.
    pub(crate) for_targets: DirtyScopes,
    pub(crate) patterns: KeptPatterns,
    pub(crate) drafts: Drafts,
}

impl Insights {
    /// `writer` is a model that drafts suggestions; without it they come from rules alone.
    pub(crate) async fn open(
        core: Arc<Core>,
        cluster: Arc<Cluster>,
        experiments: Arc<Experiments>,
        writer: Option<ChatClient>,
    ) -> Result<Self, FlowError> {
        let targets = AllTargets::load(&core.store).await?;
        Ok(Self {
            core,
            cluster,
            experiments,
            targets,
            for_targets: DirtyScopes::default(),
            patterns: KeptPatterns::default(),
            drafts: writer.map_or_else(Drafts::default, Drafts::by),
        })
    }

    async fn reload_targets(&self) -> Result<(), FlowError> {
        let store = &self.core.store;
        self.targets.take_over(AllTargets::load(store).await?);
        self.for_targets.mark_dirty(store.scopes().await?.into_iter().collect());
        Ok(())
    }
}

impl CommitObserver for Insights {
    fn on_commit<'a>(&'a self, commit: &'a CommitSummary) -> ObserverFuture<'a> {
        self.for_targets.mark_dirty(commit.scopes.clone());
        if commit.is_peer() {
            if !commit.erasures.is_empty() {
                self.patterns.clear();
                self.drafts.clear();
            }
            if commit.targets {
                return Box::pin(self.reload_targets());
            }
        }
        Box::pin(std::future::ready(Ok(())))
    }
}
