//! Privacy: redaction settings per tenant, user profiles, erasure, retention and scrubbing.

pub(crate) mod demo_tenant;
pub(crate) mod erasure;
pub(crate) mod retention;
pub(crate) mod scrub;
pub(crate) mod scrub_signal;

use std::sync::Arc;

use model::{Mac, Rule, Scope, Tenant, UserId};
use serde_json::{Map, Value};

use crate::cluster::Cluster;
use crate::core::Core;
use crate::core::commit::{CommitObserver, CommitSummary, ObserverFuture};
use crate::error::EngineError;
use crate::insights::Insights;
use crate::privacy::scrub_signal::ScrubSignal;
use crate::redactors::{PrivacySettings, Redactors};
use crate::routing::Routing;
use crate::training_data::TrainingData;
use crate::turns::Turns;

/// Owns erasure, retention and scrubbing. Redaction itself is in `Core`, since every write passes
/// there.
pub struct Privacy {
    pub(crate) core: Arc<Core>,
    pub(crate) cluster: Arc<Cluster>,
    pub(crate) routing: Arc<Routing>,
    pub(crate) training_data: Arc<TrainingData>,
    pub(crate) turns: Arc<Turns>,
    pub(crate) insights: Arc<Insights>,
    pub(crate) scrub_signal: ScrubSignal,
}

impl CommitObserver for Privacy {
    fn on_commit<'a>(&'a self, commit: &'a CommitSummary) -> ObserverFuture<'a> {
        if commit.is_peer() && commit.settings.privacy {
            return Box::pin(self.reload_settings());
        }
        Box::pin(std::future::ready(Ok(())))
    }
}

impl Privacy {
    async fn reload_settings(&self) -> Result<(), EngineError> {
        self.core.redactors.update_from(Redactors::load(&self.core.store).await?);
        Ok(())
    }

    /// Sets a tenant's redaction and retention rules.
    pub async fn set_privacy(
        &self,
        tenant: &Tenant,
        settings: Map<String, Value>,
    ) -> Result<(), EngineError> {
        let (redactor, retention_days) = ingest::accept_privacy(&settings)?;
        // Rules of a whole tenant are stored in its default project.
        let scope = Scope { tenant: tenant.clone(), project: Scope::default().project };
        self.core.store_rule(&scope, None, Rule::Privacy { settings }).await?;
        self.core.redactors.set(tenant.clone(), PrivacySettings { redactor, retention_days });
        Ok(())
    }

    /// A tenant's redaction rules and retention period.
    pub fn privacy_settings(&self, tenant: &Tenant) -> PrivacySettings {
        self.core.redactors.settings_for(tenant)
    }

    /// Replaces a user's profile attributes.
    pub async fn set_profile(
        &self,
        scope: &Scope,
        user: UserId,
        attributes: Map<String, Value>,
    ) -> Result<(), EngineError> {
        let attributes = ingest::accept_profile(attributes)?;
        self.core.store_rule(scope, Some(user), Rule::Profile { attributes }).await
    }

    pub async fn profile(
        &self,
        scope: &Scope,
        user: &UserId,
    ) -> Result<Option<Map<String, Value>>, EngineError> {
        Ok(self.core.store.profile(scope, user).await?)
    }
}

impl Core {
    pub(crate) async fn store_rule(
        &self,
        scope: &Scope,
        user: Option<UserId>,
        rule: Rule,
    ) -> Result<(), EngineError> {
        let now = self.clock.now();
        let event = ingest::rule_event(scope, user, rule, self.ids.event_id(now), now);
        // The id is freshly generated, so there is no fingerprint to compare.
        self.commit_one(self.build_write(event, Mac([0; 16]), None)).await.map(drop)
    }
}
