//! Publishes the log to four topics of an external system, at least once and in order.
//!
//! Only the node that holds the publishing lease publishes. It saves its position after the
//! broker confirms, so consumers must deduplicate by event id. Two nodes may overlap while the
//! lease changes hands. Each starts at or before the confirmed position and goes in order, so
//! the first delivery of each event is in order.

mod messages;
#[cfg(test)]
mod tests;

pub(crate) use messages::{EVENT_ID_HEADER, PROJECT_HEADER, TENANT_HEADER};

use std::sync::Arc;
use std::time::Duration;

use connectors::{EventSink, OutgoingMessage};
use model::{Clock, Position};
use store::{Lease, Stopwatch, Store, StoreError, StoredEvent};
use tokio::sync::watch;
use tokio::time::{Interval, MissedTickBehavior};

use crate::changes::is_erasure;
use crate::cluster::Cluster;
use crate::cluster::publish_progress::{PublishLag, PublishProgress};
use crate::error::connector_error;
use crate::tasks::StopSignal;
use crate::warn_throttle::WarnThrottle;

/// Serialises an event for consumers.
pub type EventFormatter = fn(StoredEvent) -> serde_json::Result<String>;

/// Prefix of the lease name; the sink's name follows.
const LEASE_PREFIX: &str = "publish:";
/// Time until another node can take over from a publisher that died.
const LEASE_TTL: Duration = Duration::from_secs(6);
/// Period of lease requests and renewals.
const RENEW_INTERVAL: Duration = Duration::from_millis(1500);
/// Events per batch. `Store::tail` also bounds a batch by bytes.
const BATCH_EVENTS: usize = 2000;
/// Minimum time between two saves of the position while a backlog is published.
const CHECKPOINT_INTERVAL: Duration = Duration::from_millis(250);
const INITIAL_BACKOFF: Duration = Duration::from_millis(200);
const MAX_BACKOFF: Duration = Duration::from_secs(5);

impl Cluster {
    /// Spawns the publisher. Call it once, before serving.
    pub fn spawn_publisher(&self, outlet: Arc<dyn EventSink>, line: EventFormatter) {
        let publisher = Publisher {
            store: Arc::clone(&self.core.store),
            clock: Arc::clone(&self.core.clock),
            published: Arc::clone(&self.publish_progress),
            node: self.core.ids.event_id(self.core.clock.now()).to_string(),
            lease: format!("{LEASE_PREFIX}{}", outlet.name()),
            outlet,
            line,
        };
        self.core.tasks.spawn_task(|stop| publisher.run(stop));
    }

    /// Lag behind the log. `None` when publishing is off.
    pub fn publish_lag(&self) -> Option<PublishLag> {
        self.publish_progress.compute_lag(self.core.head(), self.core.clock.now())
    }
}

struct Publisher {
    store: Arc<Store>,
    clock: Arc<dyn Clock>,
    published: Arc<PublishProgress>,
    node: String,
    lease: String,
    outlet: Arc<dyn EventSink>,
    line: EventFormatter,
}

/// The reason why a lease holder stops publishing.
enum PublishEnd {
    Stop,
    LeaseLost,
}

impl Publisher {
    async fn run(self, mut stop: StopSignal) {
        while !*stop.borrow() {
            match self.acquire_lease().await {
                Ok(Some(lease)) => {
                    tracing::info!(from = lease.position.0, "publishing started on this node");
                    match self.publish_under_lease(&lease, &mut stop).await {
                        PublishEnd::Stop => return self.release_lease(&lease).await,
                        PublishEnd::LeaseLost => {
                            tracing::warn!("publishing lease lost to another node")
                        }
                    }
                }
                Ok(None) => self.record_peer_progress().await,
                Err(error) => tracing::debug!(%error, "publishing lease could not be requested"),
            }
            tokio::select! {
                _ = stop.changed() => {}
                () = tokio::time::sleep(RENEW_INTERVAL) => {}
            }
        }
    }

    async fn acquire_lease(&self) -> Result<Option<Lease>, StoreError> {
        self.store.acquire_lease(&self.lease, &self.node, self.clock.now(), LEASE_TTL).await
    }

    async fn release_lease(&self, lease: &Lease) {
        if let Err(error) = self.store.release(lease).await {
            tracing::debug!(%error, "publishing lease could not be released; it will expire");
        }
    }

    /// Records the position of the node that holds the lease.
    async fn record_peer_progress(&self) {
        let seen = async {
            let reached = self.store.lease_position(&self.lease).await?;
            let next = self.store.tail(reached, 1).await?;
            let waiting = next.first().map(|stored| stored.event.received_at);
            self.published.record_progress(reached, waiting, false);
            Ok::<_, StoreError>(())
        };
        if let Err(error) = seen.await {
            tracing::debug!(%error, "publishing position could not be read");
        }
    }

    async fn publish_under_lease(&self, lease: &Lease, stop: &mut StopSignal) -> PublishEnd {
        let mut head = self.store.watch();
        let mut renew = tokio::time::interval(RENEW_INTERVAL);
        renew.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut done, mut pause) = (lease.position, INITIAL_BACKOFF);
        let (mut noted, mut since) = (done, Stopwatch::start());
        let mut warnings = WarnThrottle::default();
        loop {
            let mut step = self.publish_batch(done, &mut renew, stop).await;
            if let Ok(BatchOutcome::PublishedTo(position)) = &step {
                (done, pause) = (*position, INITIAL_BACKOFF);
            }
            let is_over = !matches!(step, Ok(BatchOutcome::PublishedTo(_)));
            if noted < done && (is_over || since.elapsed() > CHECKPOINT_INTERVAL) {
                match self.store.advance(lease, done).await {
                    Ok(true) => (noted, since) = (done, Stopwatch::start()),
                    Ok(false) => return PublishEnd::LeaseLost,
                    Err(error) if step.is_ok() => step = Err(error),
                    Err(_) => {}
                }
            }
            if matches!(step, Ok(BatchOutcome::PublishedTo(_) | BatchOutcome::UpToDate)) {
                warnings.log_recovery("publishing recovered");
            }
            match step {
                Ok(BatchOutcome::End(end)) => return end,
                Ok(BatchOutcome::PublishedTo(_)) => {}
                Ok(BatchOutcome::UpToDate) => {
                    self.published.record_progress(done, None, true);
                    let is_due = tokio::select! {
                        _ = stop.changed() => return PublishEnd::Stop,
                        _ = renew.tick() => true,
                        () = wait_for_newer(&mut head, done) => false,
                    };
                    if is_due && self.is_lease_lost().await {
                        return PublishEnd::LeaseLost;
                    }
                }
                Err(error) => {
                    warnings.log_failure(&error, "publishing failed; retrying");
                    tokio::select! {
                        _ = stop.changed() => return PublishEnd::Stop,
                        () = tokio::time::sleep(pause) => {}
                    }
                    pause = (pause * 2).min(MAX_BACKOFF);
                    if self.is_lease_lost().await {
                        return PublishEnd::LeaseLost;
                    }
                }
            }
        }
    }

    /// Publishes the next batch of the log.
    async fn publish_batch(
        &self,
        done: Position,
        renew: &mut Interval,
        stop: &mut StopSignal,
    ) -> Result<BatchOutcome, StoreError> {
        // Read before the events: a gap up to here was dropped by retention.
        let head = self.store.head();
        let mut events = self.store.tail(done, BATCH_EVENTS).await?;
        // The batch ends at an erasure, so that its tombstones follow it directly.
        let erasure = events.iter().position(|stored| is_erasure(&stored.event));
        if let Some(at) = erasure {
            events.truncate(at + 1);
        }
        let Some(last) = events.last().map(|stored| stored.position) else {
            return Ok(if head > done {
                BatchOutcome::PublishedTo(head)
            } else {
                BatchOutcome::UpToDate
            });
        };
        let waiting = events.first().map(|stored| stored.event.received_at);
        self.published.record_progress(done, waiting, true);
        let some = self
            .store
            .attach_contexts(events)
            .await?
            .into_iter()
            .flat_map(|stored| messages::event_messages(stored, self.line))
            .collect();
        if let Some(end) = self.deliver_messages(some, renew, stop).await? {
            return Ok(BatchOutcome::End(end));
        }
        if erasure.is_some()
            && let Some(end) = self.deliver_tombstones(last, renew, stop).await?
        {
            return Ok(BatchOutcome::End(end));
        }
        Ok(BatchOutcome::PublishedTo(last))
    }

    async fn deliver_tombstones(
        &self,
        erasure: Position,
        renew: &mut Interval,
        stop: &mut StopSignal,
    ) -> Result<Option<PublishEnd>, StoreError> {
        let erased = self.store.erased_positions(erasure).await?;
        for positions in erased.chunks(BATCH_EVENTS) {
            let stubs = self.store.events_at(positions.to_vec()).await?;
            let some =
                stubs.iter().flat_map(|stub| messages::tombstone_messages(stub, erasure)).collect();
            if let Some(end) = self.deliver_messages(some, renew, stop).await? {
                return Ok(Some(end));
            }
        }
        Ok(None)
    }

    /// Waits until the broker confirms the messages, without a timeout, and renews the lease meanwhile.
    async fn deliver_messages(
        &self,
        messages: Vec<OutgoingMessage>,
        renew: &mut Interval,
        stop: &mut StopSignal,
    ) -> Result<Option<PublishEnd>, StoreError> {
        let names: Vec<String> = messages.iter().map(messages::message_label).collect();
        let mut under_way = self.outlet.publish(messages);
        let refused = loop {
            tokio::select! {
                biased;
                _ = stop.changed() => return Ok(Some(PublishEnd::Stop)),
                _ = renew.tick() => if self.is_lease_lost().await { return Ok(Some(PublishEnd::LeaseLost)) },
                refused = &mut under_way => break refused.map_err(connector_error)?,
            }
        };
        for refused in refused {
            let message = names.get(refused.index).map_or("", String::as_str);
            tracing::error!(
                message,
                reason = refused.reason,
                "the broker refused an event; it will not be published"
            );
            self.published.count_refused();
        }
        Ok(None)
    }

    /// Renews the lease. A store error does not count as lost.
    async fn is_lease_lost(&self) -> bool {
        matches!(self.acquire_lease().await, Ok(None))
    }
}

/// Waits until the log has an entry after `done`.
async fn wait_for_newer(head: &mut watch::Receiver<Position>, done: Position) {
    if head.wait_for(|head| *head > done).await.is_err() {
        // The store is closed; the stop signal ends the caller.
        std::future::pending::<()>().await;
    }
}

enum BatchOutcome {
    UpToDate,
    PublishedTo(Position),
    End(PublishEnd),
}
