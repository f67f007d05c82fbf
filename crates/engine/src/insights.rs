//! Quality figures, alerts, failure patterns, suggestions and conversation lists.

pub(crate) mod alert_delivery;
pub(crate) mod alerts;
pub(crate) mod conversation_list;
pub(crate) mod drafts;
pub(crate) mod failures;
pub(crate) mod quality;
pub(crate) mod reports;
pub(crate) mod suggestions;
pub(crate) mod targets;

use std::sync::Arc;

use outbound::{ChatClient, Webhook};

use crate::cluster::Cluster;
use crate::core::Core;
use crate::core::commit::{CommitObserver, CommitSummary, ObserverFuture};
use crate::dirty_scopes::DirtyScopes;
use crate::error::EngineError;
use crate::experiments::Experiments;
use crate::insights::drafts::Drafts;
use crate::insights::failures::PatternCache;
use crate::insights::targets::TenantTargets;

/// Owns the targets of tenants and the caches of failure patterns and drafts.
pub struct Insights {
    pub(crate) core: Arc<Core>,
    pub(crate) cluster: Arc<Cluster>,
    pub(crate) experiments: Arc<Experiments>,
    pub(crate) targets: TenantTargets,
    /// Projects with commits since their figures were last compared with the targets.
    pub(crate) dirty_scopes: DirtyScopes,
    pub(crate) patterns: PatternCache,
    pub(crate) drafts: Drafts,
    pub(crate) webhook: Webhook,
}

impl Insights {
    /// `writer` is a model that drafts suggestions. Without it, suggestions come from templates.
    /// `webhook` delivers alerts.
    pub(crate) async fn open(
        core: Arc<Core>,
        cluster: Arc<Cluster>,
        experiments: Arc<Experiments>,
        writer: Option<ChatClient>,
        webhook: Webhook,
    ) -> Result<Self, EngineError> {
        let targets = TenantTargets::load(&core.store).await?;
        Ok(Self {
            core,
            cluster,
            experiments,
            targets,
            dirty_scopes: DirtyScopes::default(),
            patterns: PatternCache::default(),
            drafts: writer.map_or_else(Drafts::default, Drafts::with_writer),
            webhook,
        })
    }

    async fn reload_targets(&self) -> Result<(), EngineError> {
        let store = &self.core.store;
        self.targets.merge(TenantTargets::load(store).await?);
        self.dirty_scopes.mark_dirty(store.scopes().await?.into_iter().collect());
        Ok(())
    }
}

impl CommitObserver for Insights {
    fn on_commit<'a>(&'a self, commit: &'a CommitSummary) -> ObserverFuture<'a> {
        self.dirty_scopes.mark_dirty(commit.scopes.clone());
        if commit.is_peer() {
            if !commit.erasures.is_empty() {
                self.patterns.clear();
                self.drafts.clear();
            }
            if commit.settings.targets {
                return Box::pin(self.reload_targets());
            }
        }
        Box::pin(std::future::ready(Ok(())))
    }
}
