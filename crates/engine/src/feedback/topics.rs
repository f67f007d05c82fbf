//! Topics: filtered views of the log that clients can follow.

use std::time::Duration;

use model::{Position, Scope};
use store::{EventPage, KindFilter, StoredEvent};

use crate::access::page_sessions::PageAccess;
use crate::error::EngineError;
use crate::feedback::Feedback;
use crate::tasks::StopSignal;

const PAGE_EVENTS: usize = 500;

/// Pause between two checks, per watched project.
const PAUSE_PER_SCOPE: Duration = Duration::from_millis(10);

/// A cursor that first returns stored events and then waits for new ones.
#[derive(Debug)]
pub struct EventFollower {
    page: EventPage,
    waiting: std::vec::IntoIter<StoredEvent>,
    head: tokio::sync::watch::Receiver<Position>,
    stop: StopSignal,
    // Following ends when this key is revoked.
    key: Option<String>,
}

impl Feedback {
    /// Follows events of some kinds after a position.
    pub fn follow(
        &self,
        scope: Scope,
        after: Position,
        any_of: Vec<KindFilter>,
        key: Option<String>,
    ) -> EventFollower {
        EventFollower {
            key,
            page: EventPage { scope, after, limit: PAGE_EVENTS, any_of },
            waiting: Vec::new().into_iter(),
            head: self.core.store.watch(),
            stop: self.core.tasks.stop_signal(),
        }
    }

    /// The next event. `None` when the engine stops or the key is revoked.
    pub async fn next_event(
        &self,
        follow: &mut EventFollower,
    ) -> Result<Option<StoredEvent>, EngineError> {
        loop {
            if follow.key.as_ref().is_some_and(|id| !self.access.is_key_valid(id)) {
                return Ok(None);
            }
            if let Some(event) = follow.waiting.next() {
                return Ok(Some(event));
            }
            // Read before the events, so that no commit in between is missed.
            let seen = *follow.head.borrow_and_update();
            let events = self.core.store.events(follow.page.clone()).await?;
            let events = self.core.store.attach_contexts(events).await?;
            if let Some(last) = events.last() {
                follow.page.after = last.position;
                follow.waiting = events.into_iter();
                continue;
            }
            // No match up to this position, so the next read starts after it.
            follow.page.after = follow.page.after.max(seen);
            if *follow.stop.borrow() {
                return Ok(None);
            }
            tokio::select! {
                _ = follow.stop.changed() => return Ok(None),
                changed = follow.head.wait_for(|head| *head > seen) => {
                    if changed.is_err() {
                        return Ok(None);
                    }
                }
            }
        }
    }
    /// Waits until an event is stored in one of the scopes after a position, then for `rest` to
    /// batch further events. Returns the newest position. `None` when the engine stops or the
    /// access ends.
    pub async fn wait_for_events(
        &self,
        scopes: &[Scope],
        mut after: Position,
        rest: Duration,
        page_access: &PageAccess,
    ) -> Result<Option<Position>, EngineError> {
        let (mut heads, mut stop) = (self.core.store.watch(), self.core.tasks.stop_signal());
        let mut ends = self.access.ended_sessions.subscribe();
        loop {
            if *stop.borrow() || !self.access.has_access(page_access) {
                return Ok(None);
            }
            let seen = *heads.borrow_and_update();
            // Without a new event only an access ended, so the projects need no query.
            if seen > after && self.has_events_after(scopes, after).await? {
                tokio::select! {
                    _ = stop.changed() => return Ok(None),
                    () = tokio::time::sleep(rest) => {}
                }
                // The access may have ended meanwhile.
                return Ok(self.access.has_access(page_access).then(|| *heads.borrow()));
            }
            after = after.max(seen);
            tokio::select! {
                _ = stop.changed() => return Ok(None),
                () = self.access.wait_for_expiry(page_access) => return Ok(None),
                // A session or key ended, possibly this one.
                _ = ends.changed() => continue,
                changed = heads.wait_for(|head| *head > seen) => {
                    if changed.is_err() {
                        return Ok(None);
                    }
                }
            }
            // Limits the query load of a reader that watches many projects.
            tokio::time::sleep(PAUSE_PER_SCOPE * scopes.len().min(20) as u32).await;
        }
    }

    async fn has_events_after(
        &self,
        scopes: &[Scope],
        after: Position,
    ) -> Result<bool, EngineError> {
        for scope in scopes {
            let (scope, any_of) = (scope.clone(), Vec::new());
            let page = EventPage { scope, after, limit: 1, any_of };
            if !self.core.store.events(page).await?.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
