//! Topics: parts of the log by what they are about, to be read along.

use std::time::Duration;

use model::{Event, Position, Scope, Source, Type};
use store::{EventPage, KindFilter, StoredEvent};

use crate::access::page_sessions::Pass;
use crate::error::FlowError;
use crate::feedback::Feedback;
use crate::tasks::StopSignal;

/// Events looked up together.
const STRETCH: usize = 500;

/// A part of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    /// Every event.
    Events,
    /// Ratings and users' reactions.
    Ratings,
    /// Corrections.
    Corrections,
    /// Metric and performance events.
    Metrics,
}

impl Topic {
    /// All of them by name.
    pub const ALL: [(&str, Self); 4] = [
        ("feedback-events", Self::Events),
        ("feedback-ratings", Self::Ratings),
        ("feedback-corrections", Self::Corrections),
        ("feedback-metrics", Self::Metrics),
    ];

    /// The topic with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, topic)| *topic)
    }

    /// Which events belong to it.
    pub fn kinds(self) -> Vec<KindFilter> {
        let of = |types: &[Type], source| KindFilter { types: types.to_vec(), source };
        match self {
            Self::Events => Vec::new(),
            Self::Ratings => vec![
                of(&[], Some(Source::UserRating)),
                of(&[Type::Explicit], Some(Source::Reaction)),
            ],
            Self::Corrections => vec![of(&[], Some(Source::UserCorrection))],
            Self::Metrics => vec![of(&[Type::Metric, Type::Performance], None)],
        }
    }
}

impl Topic {
    /// Whether an event belongs to it.
    pub fn holds(self, event: &Event) -> bool {
        let kinds = self.kinds();
        kinds.is_empty() || kinds.iter().any(|kind| kind.holds(event.kind))
    }

    /// What its events are kept in order by, where that is not by the whole log.
    pub fn key(self, event: &Event) -> String {
        let tenant = || event.scope.tenant.to_string();
        match self {
            Self::Events | Self::Corrections => tenant(),
            Self::Ratings => event.conversation.as_ref().map_or_else(tenant, ToString::to_string),
            Self::Metrics => {
                let endpoint = event.data.get("endpoint").and_then(serde_json::Value::as_str);
                endpoint.unwrap_or("unknown").to_owned()
            }
        }
    }
}

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
