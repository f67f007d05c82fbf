//! Delivers alerts to webhooks and retries until each is accepted.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use model::{Body, Finding, Position, Tenant};
use serde_json::json;
use store::{Delivery, Undelivered};
use tokio::task::{AbortHandle, JoinSet};

use crate::error::EngineError;
use crate::insights::Insights;
use crate::tasks::StopSignal;

const POLL_INTERVAL: Duration = Duration::from_secs(2);
/// Intervals double, so delivery is given up after about a day.
const MAX_ATTEMPTS: u32 = 17;
/// Alerts older than this are not delivered to a new webhook.
const MAX_ALERT_AGE_SECS: i64 = 86_400;
/// Each tenant being served occupies one blocking thread.
const MAX_CONCURRENT_TENANTS: usize = 64;

/// Runs apart from the target checks, because webhooks may be slow. Each tenant has its own task,
/// so that a slow webhook delays no other.
pub(super) async fn deliver_alerts(insights: Arc<Insights>, mut stop: StopSignal) {
    let mut deliveries = JoinSet::new();
    let mut busy: HashMap<Tenant, AbortHandle> = HashMap::new();
    while insights.cluster.leadership.wait_until_leader(&mut stop).await {
        while deliveries.try_join_next().is_some() {}
        busy.retain(|_, deliveries| !deliveries.is_finished());
        for (tenant, url) in insights.targets.list_webhooks() {
            if busy.len() >= MAX_CONCURRENT_TENANTS || busy.contains_key(&tenant) {
                continue;
            }
            let task = deliver_to_tenant(Arc::clone(&insights), tenant.clone(), url, stop.clone());
            busy.insert(tenant, deliveries.spawn(task));
        }
        tokio::select! {
            // An error means that the engine was dropped.
            _ = stop.wait_for(|stop| *stop) => {}
            () = tokio::time::sleep(POLL_INTERVAL) => {}
        }
    }
    // Running deliveries are awaited and recorded, so that none is sent twice.
    while deliveries.join_next().await.is_some() {}
}

async fn deliver_to_tenant(insights: Arc<Insights>, tenant: Tenant, url: String, stop: StopSignal) {
    if let Err(error) = insights.post_undelivered(&tenant, &url, &stop).await {
        match error.is_unavailable() {
            // The store logs this itself.
            true => tracing::debug!(%tenant, %error, "alert delivery failed; retrying"),
            false => tracing::warn!(%tenant, %error, "alert delivery failed; retrying"),
        }
    }
}

impl Insights {
    /// Posts a tenant's undelivered alerts in order. After a failure the rest waits for the next
    /// round.
    async fn post_undelivered(
        &self,
        tenant: &Tenant,
        url: &str,
        stop: &StopSignal,
    ) -> Result<(), EngineError> {
        let now = self.core.clock.now();
        let news = now.plus_secs(-MAX_ALERT_AGE_SECS);
        for Undelivered { stored, attempts } in
            self.core.store.list_due_deliveries(tenant, news, now).await?
        {
            if *stop.borrow() {
                return Ok(());
            }
            let body = build_webhook_body(&stored.event, stored.position);
            let (url, secret) = (url.to_owned(), self.webhook_secret(tenant));
            let second = self.core.clock.now().as_micros().div_euclid(1_000_000);
            let webhook = self.webhook.clone();
            let delivery =
                tokio::task::spawn_blocking(move || webhook.post(&url, &body, &secret, second));
            let error = match delivery.await {
                Ok(Ok(())) => None,
                Ok(Err(error)) => Some(error.to_string()),
                Err(error) => Some(error.to_string()),
            };
            let attempts = attempts + 1;
            let pause = i64::from(2_u32.saturating_pow(attempts.min(MAX_ATTEMPTS)));
            let failed = error.is_some();
            let again = failed && attempts < MAX_ATTEMPTS;
            let next_at = again.then(|| now.plus_secs(pause));
            self.core
                .store
                .record_delivery(stored.position, Delivery { attempts, next_at, error })
                .await?;
            if failed {
                return Ok(());
            }
        }
        Ok(())
    }
}

/// The webhook's JSON body. The event's id identifies duplicates.
fn build_webhook_body(event: &model::Event, position: Position) -> String {
    let raised = matches!(&event.body, Body::Finding(Finding::Alert(found)) if found.raised);
    let word = if raised { "raised" } else { "cleared" };
    json!({
        "type": format!("alert.{word}"),
        "id": event.id.as_str(),
        "position": position.0,
        "tenant": event.scope.tenant.as_str(),
        "project": event.scope.project.as_str(),
        "timestamp": event.ts.to_string(),
        "alert": event.body.to_fields(),
    })
    .to_string()
}
