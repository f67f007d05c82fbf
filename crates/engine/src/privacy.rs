//! What is removed before it is kept, by tenant; and what is known of users.

use model::{Mac, Rule, Scope, Tenant, UserId};
use serde_json::{Map, Value};

use crate::engine::Engine;
use crate::error::FlowError;
use crate::redactors::Privacy;

impl Engine {
    /// Sets what is removed from a tenant's texts, from now on.
    pub async fn set_privacy(
        &self,
        tenant: &Tenant,
        settings: Map<String, Value>,
    ) -> Result<(), FlowError> {
        let (redactor, retention_days) = ingest::accept_privacy(&settings)?;
        // Rules of a whole tenant are kept in its default project.
        let scope = Scope { tenant: tenant.clone(), project: Scope::default().project };
        self.store_rule(&scope, None, &Rule::Privacy { settings }).await?;
        self.privacy.set(tenant.clone(), Privacy { redactor, retention_days });
        Ok(())
    }

    /// What is removed from a tenant's texts, and how long its events are kept.
    pub fn privacy_of(&self, tenant: &Tenant) -> Privacy {
        self.privacy.of(tenant)
    }

    /// Sets what is known of a user.
    pub async fn set_profile(
        &self,
        scope: &Scope,
        user: UserId,
        attributes: Map<String, Value>,
    ) -> Result<(), FlowError> {
        let attributes = ingest::accept_profile(attributes)?;
        self.store_rule(scope, Some(user), &Rule::Profile { attributes }).await
    }

    /// What is known of a user.
    pub async fn profile(
        &self,
        scope: &Scope,
        user: &UserId,
    ) -> Result<Option<Map<String, Value>>, FlowError> {
        Ok(self.store.profile(scope, user).await?)
    }

    pub(crate) async fn store_rule(
        &self,
        scope: &Scope,
        user: Option<UserId>,
        rule: &Rule,
    ) -> Result<(), FlowError> {
        let now = self.clock.now();
        let event = ingest::rule_event(scope, user, rule, self.mint.event_id(now), now);
        // Nobody else can have this id, so there is nothing to compare.
        self.commit_one(self.write_of(event, Mac([0; 16]), None)).await.map(drop)
    }
}
