//! Topics: parts of the log by what they are about, to be read along.

use std::time::Duration;

use model::{Position, Scope};
use store::{EventPage, KindFilter, StoredEvent};

use crate::access::page_sessions::Pass;
use crate::error::FlowError;
use crate::feedback::Feedback;
use crate::tasks::StopSignal;

/// Events looked up together.
const STRETCH: usize = 500;

/// Between two looks, for each project that is looked at.
const LULL: Duration = Duration::from_millis(10);

/// Reads along: first what is there, then whatever comes.
#[derive(Debug)]
pub struct Follow {
    page: EventPage,
    waiting: std::vec::IntoIter<StoredEvent>,
    head: tokio::sync::watch::Receiver<Position>,
    stop: StopSignal,
    // Whoever reads along by a key does so as long as the key is valid.
    key: Option<String>,
}

impl Feedback {
    /// Follows the events of some kinds behind a position.
    pub fn follow(
        &self,
        scope: Scope,
        after: Position,
        any_of: Vec<KindFilter>,
        key: Option<String>,
    ) -> Follow {
        Follow {
            key,
            page: EventPage { scope, after, limit: STRETCH, any_of },
            waiting: Vec::new().into_iter(),
            head: self.core.store.watch(),
            stop: self.core.tasks.stop_signal(),
        }
    }

    /// The next event, when there is one; `None` when the engine stops.
    pub async fn next(&self, follow: &mut Follow) -> Result<Option<StoredEvent>, FlowError> {
        loop {
            if follow.key.as_ref().is_some_and(|id| !self.access.is_valid(id)) {
                return Ok(None);
            }
            if let Some(event) = follow.waiting.next() {
                return Ok(Some(event));
            }
            // Looked at before the events, so that nothing can come in between unseen.
            let seen = *follow.head.borrow_and_update();
            let events = self.core.store.events(follow.page.clone()).await?;
            if let Some(last) = events.last() {
                follow.page.after = last.position;
                follow.waiting = events.into_iter();
                continue;
            }
            // Nothing that matches up to here; no need to look at it again.
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
    /// Waits until something is stored in one of these scopes behind a position, and a while longer for
    /// what comes with it. Answers the newest position then; `None` when the engine stops, or when what the
    /// reader came in by is not good any more.
    pub async fn wait_for_any(
        &self,
        scopes: &[Scope],
        mut after: Position,
        rest: Duration,
        pass: &Pass,
    ) -> Result<Option<Position>, FlowError> {
        let (mut heads, mut stop) = (self.core.store.watch(), self.core.tasks.stop_signal());
        let mut ends = self.access.ended_visits.watch();
        loop {
            if *stop.borrow() || !self.access.is_good(pass) {
                return Ok(None);
            }
            let seen = *heads.borrow_and_update();
            // Where nothing was stored, somebody else left: no need to ask after every project.
            if seen > after && self.is_any_behind(scopes, after).await? {
                tokio::select! {
                    _ = stop.changed() => return Ok(None),
                    () = tokio::time::sleep(rest) => {}
                }
                // They may have left meanwhile.
                return Ok(self.access.is_good(pass).then(|| *heads.borrow()));
            }
            after = after.max(seen);
            tokio::select! {
                _ = stop.changed() => return Ok(None),
                () = self.access.pass_ends(pass) => return Ok(None),
                // Somebody left or lost a key: perhaps this one.
                _ = ends.changed() => continue,
                changed = heads.wait_for(|head| *head > seen) => {
                    if changed.is_err() {
                        return Ok(None);
                    }
                }
            }
            // Others may be busy: whoever looks at many projects does not look at them all each time.
            tokio::time::sleep(LULL * scopes.len().min(20) as u32).await;
        }
    }

    async fn is_any_behind(&self, scopes: &[Scope], after: Position) -> Result<bool, FlowError> {
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
