//! Tells webhooks of alerts, until each was taken.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use model::{Position, Tenant};
use outbound::Webhook;
use serde_json::{Value, json};
use store::{Delivery, Undelivered};
use tokio::task::{AbortHandle, JoinSet};

use crate::error::FlowError;
use crate::insights::Insights;
use crate::tasks::StopSignal;

/// How soon it is looked again whether there is something to tell.
const EVERY: Duration = Duration::from_secs(2);
/// Tries until telling somebody is given up; the pauses double, so that is about a day.
const MOST_TRIES: u32 = 17;
/// An alert that came and went longer ago than this is not told to somebody who was not told of it yet.
const NEWS_SECS: i64 = 86_400;
/// Tenants that are told at the same time; each has a thread while it is.
const AT_ONCE: usize = 64;

/// Telling takes as long as others take to answer, so it is apart from looking; and each tenant is told by
/// itself, so that whoever is slow holds up nobody else.
pub(super) async fn tell_on(engine: Arc<Insights>, mut stop: StopSignal) {
    let mut telling = JoinSet::new();
    let mut busy: HashMap<Tenant, AbortHandle> = HashMap::new();
    while engine.cluster.leadership.wait_until_leader(&mut stop).await {
        while telling.try_join_next().is_some() {}
        busy.retain(|_, telling| !telling.is_finished());
        for (tenant, url) in engine.targets.with_webhook() {
            if busy.len() >= AT_ONCE || busy.contains_key(&tenant) {
                continue;
            }
            let task = tell(Arc::clone(&engine), tenant.clone(), url, stop.clone());
            busy.insert(tenant, telling.spawn(task));
        }
        tokio::select! {
            // An error means that the engine is gone.
            _ = stop.wait_for(|stop| *stop) => {}
            () = tokio::time::sleep(EVERY) => {}
        }
    }
    // What is being told now is noted, so that it is not told again.
    while telling.join_next().await.is_some() {}
}

async fn tell(engine: Arc<Insights>, tenant: Tenant, url: String, stop: StopSignal) {
    if let Err(error) = engine.tell_webhook(&tenant, &url, &stop).await {
        match error.is_away() {
            // The store says so itself.
            true => tracing::debug!(%tenant, %error, "alerts could not be told; trying again"),
            false => tracing::warn!(%tenant, %error, "alerts could not be told; trying again"),
        }
    }
}

impl Insights {
    /// Tells one tenant what it does not know yet, in order. After a failure the rest waits for the next round.
    async fn tell_webhook(
        &self,
        tenant: &Tenant,
        url: &str,
        stop: &StopSignal,
    ) -> Result<(), FlowError> {
        let now = self.core.clock.now();
        let news = now.plus_secs(-NEWS_SECS);
        for Undelivered { stored, attempts } in
            self.core.store.undelivered(tenant, news, now).await?
        {
            if *stop.borrow() {
                return Ok(());
            }
            let body = message(&stored.event, stored.position);
            let (url, secret) = (url.to_owned(), self.webhook_secret(tenant));
            let second = self.core.clock.now().as_micros().div_euclid(1_000_000);
            let telling = tokio::task::spawn_blocking(move || {
                Webhook::default().post(&url, &body, &secret, second)
            });
            let error = match telling.await {
                Ok(Ok(())) => None,
                Ok(Err(error)) => Some(error.to_string()),
                Err(error) => Some(error.to_string()),
            };
            let attempts = attempts + 1;
            let pause = i64::from(2_u32.saturating_pow(attempts.min(MOST_TRIES)));
            let failed = error.is_some();
            let again = failed && attempts < MOST_TRIES;
            let next_at = again.then(|| now.plus_secs(pause));
            self.core
                .store
                .note_delivery(stored.position, Delivery { attempts, next_at, error })
                .await?;
            if failed {
                return Ok(());
            }
        }
        Ok(())
    }
}

/// What somebody is told. The event's id tells a message that comes twice.
fn message(event: &model::Event, position: Position) -> String {
    let word =
        if event.data.get("raised") == Some(&Value::Bool(true)) { "raised" } else { "cleared" };
    json!({
        "type": format!("alert.{word}"),
        "id": event.id.as_str(),
        "position": position.0,
        "tenant": event.scope.tenant.as_str(),
        "project": event.scope.project.as_str(),
        "timestamp": event.ts.to_string(),
        "alert": event.data,
    })
    .to_string()
}
