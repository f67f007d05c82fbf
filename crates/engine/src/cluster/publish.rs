//! Publishes the log to other systems: the four topics, from where it stopped the last time.
//!
//! Of all nodes the one that holds the lease publishes. How far it has come is stored when the other side
//! has confirmed it, so whoever reads sees an event at least once, and knows it again by its id. Two
//! nodes may overlap for a moment when the lease changes hands: each begins at or before what the other
//! has confirmed and goes in order, so the first time that an event is seen is in order all the same.

mod messages;
#[cfg(test)]
mod tests;

pub(crate) use messages::{EVENT_ID, PROJECT, TENANT};

use std::sync::Arc;
use std::time::Duration;

use model::{Clock, Position};
use store::{Lease, Outgoing, Outlet, Stopwatch, Store, StoreError, StoredEvent};
use tokio::sync::watch;
use tokio::time::{Interval, MissedTickBehavior};

use crate::cluster::Cluster;
use crate::cluster::publish_progress::{PublishLag, Published};
use crate::privacy::erasure::is_erasure;
use crate::tasks::Stop;
use crate::warn_throttle::Said;

/// An event as others read it.
pub type LineOf = fn(StoredEvent) -> serde_json::Result<String>;

/// What is leased, before the name of the place.
const LEASE: &str = "publish:";
/// How long a node that died keeps others from going on.
const LASTS: Duration = Duration::from_secs(6);
/// How often a lease is renewed, or asked for.
const RENEW: Duration = Duration::from_millis(1500);
/// Events handed over together; the memory that this takes is bounded by what `tail` brings.
const STRETCH: usize = 2000;
/// How often it is stored how far it has come, while there is more to hand over: the writer is busy then.
const NOTE: Duration = Duration::from_millis(250);
const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

impl Cluster {
    /// Starts publishing whenever this node has the lease. Call it once, before serving.
    pub fn keep_publishing(&self, outlet: Arc<dyn Outlet>, line: LineOf) {
        let publisher = Publisher {
            store: Arc::clone(&self.core.store),
            clock: Arc::clone(&self.core.clock),
            published: Arc::clone(&self.published),
            node: self.core.mint.event_id(self.core.clock.now()).to_string(),
            lease: format!("{LEASE}{}", outlet.name()),
            outlet,
            line,
        };
        self.core.tasks.start(|stop| publisher.run(stop));
    }

    /// How far publishing is behind the log; `None` where nothing is published.
    pub fn publish_lag(&self) -> Option<PublishLag> {
        self.published.lag(self.core.head(), self.core.clock.now())
    }
}

struct Publisher {
    store: Arc<Store>,
    clock: Arc<dyn Clock>,
    published: Arc<Published>,
    node: String,
    lease: String,
    outlet: Arc<dyn Outlet>,
    line: LineOf,
}

/// Why a holder ends.
enum End {
    /// The engine stops.
    Stop,
    /// Somebody else has the lease.
    Lost,
}

impl Publisher {
    async fn run(self, mut stop: Stop) {
        while !*stop.borrow() {
            match self.hold().await {
                Ok(Some(lease)) => {
                    tracing::info!(from = lease.position.0, "this node publishes");
                    match self.publish_on(&lease, &mut stop).await {
                        End::Stop => return self.give_back(&lease).await,
                        End::Lost => tracing::warn!("another node publishes now"),
                    }
                }
                Ok(None) => self.watch_others().await,
                Err(error) => tracing::debug!(%error, "the lease for publishing is unknown"),
            }
            tokio::select! {
                _ = stop.changed() => {}
                () = tokio::time::sleep(RENEW) => {}
            }
        }
    }

    async fn hold(&self) -> Result<Option<Lease>, StoreError> {
        self.store.hold(&self.lease, &self.node, self.clock.now(), LASTS).await
    }

    async fn give_back(&self, lease: &Lease) {
        if let Err(error) = self.store.release(lease).await {
            tracing::debug!(%error, "the lease for publishing was not given back; it runs out");
        }
    }

    /// How far the node has come that has the lease.
    async fn watch_others(&self) {
        let seen = async {
            let reached = self.store.reached(&self.lease).await?;
            let next = self.store.tail(reached, 1).await?;
            let waiting = next.first().map(|stored| stored.event.received_at);
            self.published.note(reached, waiting, false);
            Ok::<_, StoreError>(())
        };
        if let Err(error) = seen.await {
            tracing::debug!(%error, "how far publishing has come is unknown");
        }
    }

    async fn publish_on(&self, lease: &Lease, stop: &mut Stop) -> End {
        let mut head = self.store.watch();
        let mut renew = tokio::time::interval(RENEW);
        renew.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut done, mut pause) = (lease.position, FIRST_PAUSE);
        let (mut noted, mut since) = (done, Stopwatch::start());
        let mut said = Said::default();
        loop {
            let mut step = self.step(done, &mut renew, stop).await;
            if let Ok(Step::To(position)) = &step {
                (done, pause) = (*position, FIRST_PAUSE);
            }
            let is_over = !matches!(step, Ok(Step::To(_)));
            if noted < done && (is_over || since.elapsed() > NOTE) {
                match self.store.advance(lease, done).await {
                    Ok(true) => (noted, since) = (done, Stopwatch::start()),
                    Ok(false) => return End::Lost,
                    Err(error) if step.is_ok() => step = Err(error),
                    Err(_) => {}
                }
            }
            if matches!(step, Ok(Step::To(_) | Step::Nothing)) {
                said.worked("events can be published again");
            }
            match step {
                Ok(Step::End(end)) => return end,
                Ok(Step::To(_)) => {}
                Ok(Step::Nothing) => {
                    self.published.note(done, None, true);
                    let is_due = tokio::select! {
                        _ = stop.changed() => return End::Stop,
                        _ = renew.tick() => true,
                        () = newer(&mut head, done) => false,
                    };
                    if is_due && self.is_lost().await {
                        return End::Lost;
                    }
                }
                Err(error) => {
                    said.failed(&error, "events could not be published; trying again");
                    tokio::select! {
                        _ = stop.changed() => return End::Stop,
                        () = tokio::time::sleep(pause) => {}
                    }
                    pause = (pause * 2).min(LONGEST_PAUSE);
                    if self.is_lost().await {
                        return End::Lost;
                    }
                }
            }
        }
    }

    /// Hands over the next stretch of the log.
    async fn step(
        &self,
        done: Position,
        renew: &mut Interval,
        stop: &mut Stop,
    ) -> Result<Step, StoreError> {
        // Looked at before the events: what is not there up to here was dropped when it was old.
        let head = self.store.head();
        let mut events = self.store.tail(done, STRETCH).await?;
        // What an erasure emptied follows it at once.
        let erasure = events.iter().position(|stored| is_erasure(&stored.event));
        if let Some(at) = erasure {
            events.truncate(at + 1);
        }
        let Some(last) = events.last().map(|stored| stored.position) else {
            return Ok(if head > done { Step::To(head) } else { Step::Nothing });
        };
        let waiting = events.first().map(|stored| stored.event.received_at);
        self.published.note(done, waiting, true);
        let some = events.into_iter().flat_map(|stored| messages::of(stored, self.line)).collect();
        if let Some(end) = self.hand_over(some, renew, stop).await? {
            return Ok(Step::End(end));
        }
        if erasure.is_some()
            && let Some(end) = self.hand_over_tombstones(last, renew, stop).await?
        {
            return Ok(Step::End(end));
        }
        Ok(Step::To(last))
    }

    async fn hand_over_tombstones(
        &self,
        erasure: Position,
        renew: &mut Interval,
        stop: &mut Stop,
    ) -> Result<Option<End>, StoreError> {
        let erased = self.store.erased_by(erasure).await?;
        for positions in erased.chunks(STRETCH) {
            let stubs = self.store.events_at(positions.to_vec()).await?;
            let some = stubs.iter().flat_map(|stub| messages::tombstones(stub, erasure)).collect();
            if let Some(end) = self.hand_over(some, renew, stop).await? {
                return Ok(Some(end));
            }
        }
        Ok(None)
    }

    /// Waits until messages are confirmed, however long the other side is away, and keeps the lease
    /// meanwhile.
    async fn hand_over(
        &self,
        messages: Vec<Outgoing>,
        renew: &mut Interval,
        stop: &mut Stop,
    ) -> Result<Option<End>, StoreError> {
        let names: Vec<String> = messages.iter().map(messages::name).collect();
        let mut under_way = self.outlet.publish(messages);
        let refused = loop {
            tokio::select! {
                biased;
                _ = stop.changed() => return Ok(Some(End::Stop)),
                _ = renew.tick() => if self.is_lost().await { return Ok(Some(End::Lost)) },
                refused = &mut under_way => break refused?,
            }
        };
        for refused in refused {
            let message = names.get(refused.index).map_or("", String::as_str);
            tracing::error!(message, reason = refused.reason, "an event will not be published");
            self.published.refuse();
        }
        Ok(None)
    }

    /// Renews the lease. A store that does not answer takes it from nobody.
    async fn is_lost(&self) -> bool {
        matches!(self.hold().await, Ok(None))
    }
}

/// Until the log goes on behind a position.
async fn newer(head: &mut watch::Receiver<Position>, done: Position) {
    if head.wait_for(|head| *head > done).await.is_err() {
        // The store is closed, and whoever waits is told to stop.
        std::future::pending::<()>().await;
    }
}

enum Step {
    /// Everything is handed over.
    Nothing,
    /// Everything up to here is handed over.
    To(Position),
    /// It goes on no more.
    End(End),
}
