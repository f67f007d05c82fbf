//! What is removed before it is kept, by tenant; and what is known of users.

pub(crate) mod demo_tenant;
pub(crate) mod erase;
pub(crate) mod retention;
pub(crate) mod scrub;
pub(crate) mod scrub_signal;

use std::sync::Arc;

use model::{Mac, Rule, Scope, Tenant, UserId};
use serde_json::{Map, Value};

use crate::cluster::Cluster;
use crate::core::Core;
use crate::core::commit::{CommitObserver, CommitSummary, ObserverFuture};
use crate::error::FlowError;
use crate::insights::Insights;
use crate::privacy::scrub_signal::Unclean;
use crate::redactors::{PrivacySettings, Redactors};
use crate::routing::Routing;
use crate::training_data::TrainingData;
use crate::turns::Turns;

/// Owns what removes data: erasure, retention and scrubbing. Redaction itself is in `Core`, where
/// every write passes.
pub struct Privacy {
    pub(crate) core: Arc<Core>,
    pub(crate) cluster: Arc<Cluster>,
    pub(crate) routing: Arc<Routing>,
    pub(crate) training_data: Arc<TrainingData>,
    pub(crate) turns: Arc<Turns>,
    pub(crate) insights: Arc<Insights>,
    pub(crate) unclean: Unclean,
}

impl CommitObserver for Privacy {
    fn on_commit<'a>(&'a self, commit: &'a CommitSummary) -> ObserverFuture<'a> {
        if commit.is_peer() && commit.privacy {
            return Box::pin(self.reload_settings());
        }
        Box::pin(std::future::ready(Ok(())))
    }
}

impl Privacy {
    async fn reload_settings(&self) -> Result<(), FlowError> {
        self.core.redactors.update_from(Redactors::load(&self.core.store).await?);
        Ok(())
    }

    /// Sets what is removed from a tenant's texts, from now on.
    pub async fn set_privacy(
        &self,
        tenant: &Tenant,
        settings: Map<String, Value>,
    ) -> Result<(), FlowError> {
        let (redactor, retention_days) = ingest::accept_privacy(&settings)?;
        // Rules of a whole tenant are kept in its default project.
        let scope = Scope { tenant: tenant.clone(), project: Scope::default().project };
        self.core.store_rule(&scope, None, &Rule::Privacy { settings }).await?;
        self.core.redactors.set(tenant.clone(), PrivacySettings { redactor, retention_days });
        Ok(())
    }

    /// What is removed from a tenant's texts, and how long its events are kept.
    pub fn privacy_of(&self, tenant: &Tenant) -> PrivacySettings {
        self.core.redactors.settings_for(tenant)
    }

    /// Sets what is known of a user.
    pub async fn set_profile(
        &self,
        scope: &Scope,
        user: UserId,
        attributes: Map<String, Value>,
    ) -> Result<(), FlowError> {
        let attributes = ingest::accept_profile(attributes)?;
        self.core.store_rule(scope, Some(user), &Rule::Profile { attributes }).await
    }

    /// What is known of a user.
    pub async fn profile(
        &self,
        scope: &Scope,
        user: &UserId,
    ) -> Result<Option<Map<String, Value>>, FlowError> {
        Ok(self.core.store.profile(scope, user).await?)
    }
}

impl Core {
    pub(crate) async fn store_rule(
        &self,
        scope: &Scope,
        user: Option<UserId>,
        rule: &Rule,
    ) -> Result<(), FlowError> {
        let now = self.clock.now();
        let event = ingest::rule_event(scope, user, rule, self.ids.event_id(now), now);
        // Nobody else can have this id, so there is nothing to compare.
        self.commit_one(self.build_write(event, Mac([0; 16]), None)).await.map(drop)
    }
}
