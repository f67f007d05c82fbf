//! The commit path: one way into the store, and one notification to every service afterwards.
//!
//! ```text
//! writes --summarise--> store.commit --on disk--> on_commit of each service --> receipts
//! ```
//!
//! Entries of other nodes take the second half of that path (`cluster::follow`).

use std::collections::HashSet;
use std::pin::Pin;

use parking_lot::Mutex;
use tokio::sync::Notify;

use model::{
    Body, Change, ClaimSpace, Entry, Event, EventId, Finding, FoundVerdict, Need, Origin, Outcome,
    Position, Rule, Scope, SettingsChange, TraceChange, TurnChange, Write,
};

use crate::changes::is_learnable;
use crate::core::Core;
use crate::error::EngineError;
use crate::receipt::{Receipt, TurnState};
use crate::retriable::log_retriable;

pub(crate) type ObserverFuture<'a> =
    Pin<Box<dyn Future<Output = Result<(), EngineError>> + Send + 'a>>;

/// A service that keeps state in memory and follows the log.
pub(crate) trait CommitObserver: Send + Sync {
    /// Brings the service's state up to date with committed entries.
    fn on_commit<'a>(&'a self, commit: &'a CommitSummary) -> ObserverFuture<'a>;
}

/// The node that committed the entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommitSource {
    /// This node. The service that wrote a rule or an erasure has updated its own state already.
    Local,
    /// Any node of the cluster, as read from the shared log.
    Log,
}

/// Committed entries, reduced to the facts that services react to.
#[derive(Debug)]
pub(crate) struct CommitSummary {
    pub(crate) source: CommitSource,
    /// The entries are at or before this position.
    pub(crate) upto: Position,
    pub(crate) scopes: HashSet<Scope>,
    /// Projects in which a person rated or reviewed a turn.
    pub(crate) labelled: Vec<Scope>,
    /// Projects with events that routers learn from.
    pub(crate) router_events: Vec<Scope>,
    /// Projects in which a router was defined.
    pub(crate) router_definitions: Vec<Scope>,
    pub(crate) settings: ChangedSettings,
    /// Spans arrived that are to be assembled into turns.
    pub(crate) spans: bool,
    /// Verdicts that this node stored.
    pub(crate) verdicts: Vec<(Scope, FoundVerdict)>,
    /// Of the shared log only; empty for local commits.
    pub(crate) erasures: Vec<Event>,
    /// Events that clear a user's question history.
    pub(crate) forgotten_histories: Vec<Event>,
}

/// Settings of which a commit stored a new version.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ChangedSettings {
    pub(crate) privacy: bool,
    pub(crate) targets: bool,
    /// Curves that calibrate verdicts.
    pub(crate) curves: bool,
}

impl CommitSummary {
    pub(crate) fn new(source: CommitSource) -> Self {
        Self {
            source,
            upto: Position(0),
            scopes: HashSet::new(),
            labelled: Vec::new(),
            router_events: Vec::new(),
            router_definitions: Vec::new(),
            settings: ChangedSettings::default(),
            spans: false,
            verdicts: Vec::new(),
            erasures: Vec::new(),
            forgotten_histories: Vec::new(),
        }
    }

    pub(crate) fn is_peer(&self) -> bool {
        self.source == CommitSource::Log
    }

    pub(crate) fn add_event(&mut self, event: &Event, changes: &[Change]) {
        let scope = &event.scope;
        if !self.scopes.contains(scope) {
            self.scopes.insert(scope.clone());
        }
        if is_learnable(event) {
            push_once(&mut self.router_events, scope);
        }
        for change in changes {
            self.add_change(scope, change);
        }
        if !self.is_peer()
            && let Body::Finding(Finding::Verdict(found)) = &event.body
        {
            self.verdicts.push((scope.clone(), (**found).clone()));
        }
        // Local rules were applied by the service that wrote them. Most events carry none.
        if self.is_peer() {
            if let Body::Rule(Rule::Erasure { .. }) = event.body {
                self.erasures.push(event.clone());
            }
            if let Body::Rule(Rule::HistoryForgotten) = event.body {
                self.forgotten_histories.push(event.clone());
            }
        }
    }

    fn add_change(&mut self, scope: &Scope, change: &Change) {
        match change {
            Change::Turn(TurnChange::React { origin: Origin::User, .. })
            | Change::Turn(TurnChange::ClearReaction | TurnChange::Review(_)) => {
                push_once(&mut self.labelled, scope);
            }
            Change::Settings(SettingsChange::Privacy(_)) => self.settings.privacy = true,
            Change::Settings(SettingsChange::Targets(_)) => self.settings.targets = true,
            Change::Settings(SettingsChange::Calibration(_)) => self.settings.curves = true,
            Change::Settings(SettingsChange::Router { .. }) => {
                push_once(&mut self.router_definitions, scope);
            }
            Change::Trace(TraceChange::Receive { .. }) => self.spans = true,
            // Read from the store on demand.
            Change::Turn(_)
            | Change::Judge(_)
            | Change::Count(_)
            | Change::AbandonSession
            | Change::Decision(_)
            | Change::Retrieval(_)
            | Change::Experiment(_)
            | Change::Trace(TraceChange::Assemble { .. })
            | Change::Settings(SettingsChange::Profile(_))
            | Change::Alert { .. }
            | Change::EraseUser(_) => {}
        }
    }
}

/// Commits of this node of which the follower of a shared log notifies the services again, because
/// it reads only the entries of other nodes: commits that a service could not apply, and rules. A
/// service that reloads its rules because of another node may overwrite a newer one of this node.
#[derive(Default)]
pub(crate) struct MissedCommits {
    summaries: Mutex<Vec<CommitSummary>>,
    added: Notify,
}

impl MissedCommits {
    fn push(&self, summary: CommitSummary) {
        self.summaries.lock().push(summary);
        self.added.notify_one();
    }

    /// Waits for a missed commit.
    pub(crate) async fn wait(&self) {
        self.added.notified().await;
    }

    /// Notifies the services again. Commits that fail once more stay.
    pub(crate) async fn retry(&self, core: &Core) -> Result<(), EngineError> {
        loop {
            let Some(summary) = self.summaries.lock().pop() else { return Ok(()) };
            if let Err(error) = core.notify_observers(&summary).await {
                self.summaries.lock().push(summary);
                return Err(error);
            }
        }
    }
}

/// The rules among the entries, as a follower of the log sees them.
fn summarize_rules(writes: &[Write]) -> Option<CommitSummary> {
    let mut summary = CommitSummary::new(CommitSource::Log);
    for Entry { event, changes } in
        writes.iter().flat_map(|write| std::iter::once(&write.entry).chain(&write.more))
    {
        if matches!(event.body, Body::Rule(_)) {
            summary.add_event(event, changes);
        }
    }
    (!summary.scopes.is_empty()).then_some(summary)
}

fn push_once(scopes: &mut Vec<Scope>, scope: &Scope) {
    if !scopes.contains(scope) {
        scopes.push(scope.clone());
    }
}

impl Core {
    pub(crate) async fn commit_one(&self, write: Write) -> Result<Receipt, EngineError> {
        self.commit_last(vec![write]).await
    }

    /// Commits writes together and returns the receipt of the last one.
    pub(crate) async fn commit_last(&self, writes: Vec<Write>) -> Result<Receipt, EngineError> {
        let mut receipts = self.commit(writes).await?;
        receipts.pop().unwrap_or(Err(EngineError::NotStored))
    }

    /// Commits writes together and returns how many were new.
    pub(crate) async fn commit_writes(&self, writes: Vec<Write>) -> Result<usize, EngineError> {
        if writes.is_empty() {
            return Ok(0);
        }
        let receipts = self.commit(writes).await?;
        Ok(receipts.iter().filter(|receipt| matches!(receipt, Ok(r) if !r.replayed)).count())
    }

    /// Commits writes together and returns one receipt each. A store error fails all of them.
    pub(crate) async fn commit(
        &self,
        writes: Vec<Write>,
    ) -> Result<Vec<Result<Receipt, EngineError>>, EngineError> {
        let ids: Vec<EventId> = writes.iter().map(|write| write.entry.event.id.clone()).collect();
        let outcomes = self.store_writes(writes).await?;
        Ok(ids.into_iter().zip(outcomes).map(|(id, outcome)| build_receipt(id, outcome)).collect())
    }

    /// The only call of `Store::commit`. When it returns, every service has seen the entries.
    pub(crate) async fn store_writes(
        &self,
        writes: Vec<Write>,
    ) -> Result<Vec<Outcome>, EngineError> {
        let mut summary = CommitSummary::new(CommitSource::Local);
        for Entry { event, changes } in
            writes.iter().flat_map(|write| std::iter::once(&write.entry).chain(&write.more))
        {
            summary.add_event(event, changes);
        }
        let rules = self.store.is_shared().then(|| summarize_rules(&writes)).flatten();
        let outcomes = self.store.commit(writes).await?;
        summary.upto = self.head();
        if let Some(rules) = rules {
            self.missed_commits.push(CommitSummary { upto: summary.upto, ..rules });
        }
        if let Err(error) = self.notify_observers(&summary).await {
            // The writes are durable; the state in memory is stale until the follower of a shared
            // log notifies the services again, or until the next commit.
            if self.store.is_shared() {
                self.missed_commits.push(summary);
            }
            log_retriable(
                error,
                "a service did not apply a commit; its state in memory is stale until the next commit",
            );
        }
        Ok(outcomes)
    }

    /// Notifies every service of committed entries. Stops at the first error.
    pub(crate) async fn notify_observers(
        &self,
        summary: &CommitSummary,
    ) -> Result<(), EngineError> {
        for observer in self.observers.get().into_iter().flatten() {
            if let Some(observer) = observer.upgrade() {
                observer.on_commit(summary).await?;
            }
        }
        Ok(())
    }
}

fn build_receipt(id: EventId, outcome: Outcome) -> Result<Receipt, EngineError> {
    let receipt =
        |id, position, replayed, turn| Ok(Receipt { id, position, replayed, pending: false, turn });
    match outcome {
        Outcome::Stored(position) => receipt(id, position, false, TurnState::Unchecked),
        Outcome::StoredElsewhere(position) => receipt(id, position, false, TurnState::Elsewhere),
        Outcome::Replayed { position, id } => receipt(id, position, true, TurnState::Unchecked),
        Outcome::Conflict(space) => Err(EngineError::Conflict(space)),
        Outcome::Missing(Need::SameConversation(_)) => Err(EngineError::Conflict(ClaimSpace::Turn)),
        // Read again: the spans changed, or another node has assembled them.
        Outcome::Missing(
            Need::PendingTrace { .. } | Need::NoErasureSince(_) | Need::VerdictAt(..),
        ) => Err(EngineError::NotStored),
        Outcome::Missing(need) => Err(EngineError::NotFound(name_need(&need))),
        // Only a reaction can be unchanged, and reactions are committed elsewhere.
        Outcome::Unchanged | Outcome::Failed => Err(EngineError::NotStored),
        Outcome::SetAside => Err(EngineError::DeadLettered),
    }
}

fn name_need(need: &Need) -> &'static str {
    match need {
        Need::Turn(_) | Need::NewTurn | Need::SameConversation(_) => "turn",
        Need::PendingTrace { .. } => "trace",
        Need::NoErasureSince(_) => "user",
        Need::VerdictAt(..) => "verdict",
        Need::Decision(_) | Need::OutcomeAt(..) | Need::OtherOutcome(_) => "decision",
        Need::OtherReaction { .. } => "reaction",
        Need::SilentSince(_) => "open session",
        Need::Experiment { .. } | Need::OtherVariant(..) => "experiment",
    }
}
