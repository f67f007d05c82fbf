//! What became of items that queries returned, and how they rank by it.
//!
//! ```text
//! returned --> log: what was offered, with names and contents
//! answer --> which of them it used --> used, ignored --> counters, in one commit
//! helpful? --> the same counters
//! rerank: scores --> counters of the items --> multipliers --> order
//! ```

mod query;
mod rank;
mod usage;

use std::sync::Arc;

use detect::AnswerKind;
use ingest::{CaptureError, FindingPlace, RawReturned, RawSignal};
use learn::cluster_of_text;
use model::{
    EntitySignal, Entry, Event, Finding, FoundRelevance, ItemStanding, Mac, Returned, Scope,
    TurnId, UserId,
};
use store::StoredEvent;

use crate::changes::changes_of;
use crate::core::Core;
use crate::error::FlowError;
use crate::feedback::record::{Receipt, RequestKey};
use query::MAX_REPORTS;
use usage::read_signals;

pub use rank::EntityStats;
pub(crate) use usage::read_usage;

/// What a query returned, on its way in.
#[derive(Clone, Debug, Default)]
pub struct IncomingReturned {
    /// What it says.
    pub raw: RawReturned,
    /// Whose query it was.
    pub user: Option<UserId>,
}

/// What became of items, on its way in.
#[derive(Clone, Debug, Default)]
pub struct IncomingSignals {
    /// Which query.
    pub query_id: String,
    /// What was asked, if that was not told before.
    pub query: Option<String>,
    /// Item by item.
    pub signals: Vec<RawSignal>,
    /// Who says so.
    pub user: Option<UserId>,
}

/// The MAC and the key of a request.
#[derive(Clone, Debug)]
pub struct RequestMark {
    /// The MAC of its body.
    pub mac: Mac,
    /// Its `Idempotency-Key`.
    pub key: Option<RequestKey>,
}

/// Retrieved items, their use by answers, and reranking. Holds no state of its own.
pub struct Retrieval {
    pub(crate) core: Arc<Core>,
}

impl Retrieval {
    pub(crate) fn new(core: Arc<Core>) -> Self {
        Self { core }
    }

    /// Takes in what queries returned: all of them or none.
    pub async fn record_returned(
        &self,
        scope: &Scope,
        incoming: Vec<IncomingReturned>,
        mark: RequestMark,
    ) -> Result<Receipt, FlowError> {
        let mut findings = Vec::with_capacity(incoming.len());
        let many = incoming.len() > 1;
        for (index, IncomingReturned { raw, user }) in incoming.into_iter().enumerate() {
            let item =
                |bad: CaptureError| if many { bad.inside(&format!("items[{index}]")) } else { bad };
            let returned = ingest::accept_returned(raw).map_err(item)?;
            let turn = self.find_turn(scope, &returned.query_id).await?;
            let place = finding_place(scope, turn, user);
            findings.push((place, Finding::Returned(returned)));
        }
        if mark.key.is_none()
            && let [(_, Finding::Returned(returned))] = &findings[..]
            && let Some(first) = self.find_same_report(scope, returned).await?
        {
            return Ok(first);
        }
        self.store_findings(findings, mark).await
    }

    /// The report that says the same: contents are long, and agents report them with every answer.
    async fn find_same_report(
        &self,
        scope: &Scope,
        returned: &Returned,
    ) -> Result<Option<Receipt>, FlowError> {
        let mut parts = self.core.store.returned(scope, &returned.query_id, MAX_REPORTS).await?;
        if parts.is_empty() {
            return Ok(None);
        }
        // As it would be kept.
        let mut told = Event {
            data: Event::data_of(&Finding::Returned(returned.clone())),
            ..parts[0].event.clone()
        };
        self.core.redactors.settings_for(&scope.tenant).redactor.redact_event(&mut told);
        let same = parts.iter().position(|part| part.event.data == told.data);
        Ok(same.map(|index| {
            let StoredEvent { position, event } = parts.swap_remove(index);
            Receipt { id: event.id, position, replayed: true }
        }))
    }

    /// Finds out which items of a query an answer used, and takes that in. What was ignored before can
    /// become used; never the other way round.
    pub async fn record_usage(
        &self,
        scope: &Scope,
        query_id: String,
        response: &str,
        kind: AnswerKind,
        mark: RequestMark,
    ) -> Result<Vec<EntitySignal>, FlowError> {
        let query_id = ingest::accept_query_id(query_id)?;
        let query = self.load_query(scope, &query_id).await?.ok_or(FlowError::Unknown("query"))?;
        // What was returned is kept without what the tenant wants removed; so is compared the answer.
        let response = self.core.redactors.settings_for(&scope.tenant).redactor.redact(response);
        let signals = self.detect_usage(&response, kind, &query.items);
        if signals.is_empty() {
            return Ok(signals);
        }
        if mark.key.is_none() && !self.changes_standings(scope, &query_id, &signals).await? {
            return Ok(signals);
        }
        let found = FoundRelevance { query_id, cluster: query.cluster, signals: signals.clone() };
        let finding = (query.place, Finding::Relevance(found));
        let receipt = self.store_findings(vec![finding], mark).await?;
        match receipt.replayed {
            false => Ok(signals),
            true => {
                let first = self.core.store.event(scope, &receipt.id).await?;
                Ok(first.map(|first| read_signals(&first.event)).unwrap_or_default())
            }
        }
    }

    /// Whether the signals change what stands.
    async fn changes_standings(
        &self,
        scope: &Scope,
        query: &str,
        signals: &[EntitySignal],
    ) -> Result<bool, FlowError> {
        let entities = signals.iter().map(|signal| signal.entity_id.clone()).collect();
        let standings = self.core.store.standings(scope, query, entities).await?;
        let changes = |(standing, signal): (&ItemStanding, &EntitySignal)| {
            !standing.after(signal.signal).1.is_zero()
        };
        Ok(standings.iter().zip(signals).any(changes))
    }

    /// Takes in what became of items: all of it or nothing.
    pub async fn record_signals(
        &self,
        scope: &Scope,
        incoming: Vec<IncomingSignals>,
        mark: RequestMark,
    ) -> Result<Receipt, FlowError> {
        let mut findings = Vec::with_capacity(incoming.len());
        let many = incoming.len() > 1;
        for (index, incoming) in incoming.into_iter().enumerate() {
            let IncomingSignals { query_id, query, signals, user } = incoming;
            let item =
                |bad: CaptureError| if many { bad.inside(&format!("items[{index}]")) } else { bad };
            let query_id = ingest::accept_query_id(query_id).map_err(item)?;
            let mut signals = ingest::accept_signals(signals).map_err(item)?;
            let known = self.load_query(scope, &query_id).await?;
            for signal in &mut signals {
                let item = known.iter().flat_map(|known| &known.items);
                let rank = item.filter(|item| item.entity_id == signal.entity_id);
                signal.rank = signal.rank.or_else(|| rank.filter_map(|item| item.rank).next());
            }
            let told = query.as_deref().map(|query| cluster_of_text(query).0);
            let cluster = known.as_ref().and_then(|known| known.cluster).or(told);
            let place = match known {
                Some(known) => {
                    FindingPlace { user: user.or(known.place.user.clone()), ..known.place }
                }
                None => finding_place(scope, None, user),
            };
            let found = FoundRelevance { query_id, cluster, signals };
            findings.push((place, Finding::Relevance(found)));
        }
        self.store_findings(findings, mark).await
    }

    async fn find_turn(&self, scope: &Scope, id: &str) -> Result<Option<TurnId>, FlowError> {
        let Ok(turn) = TurnId::new(id) else { return Ok(None) };
        Ok(self.core.store.turn_head(scope, &turn).await?.map(|_| turn))
    }

    /// Stores findings together, without what the tenant wants removed.
    async fn store_findings(
        &self,
        findings: Vec<(FindingPlace, Finding)>,
        mark: RequestMark,
    ) -> Result<Receipt, FlowError> {
        let now = self.core.clock.now();
        let event = |(place, finding): (FindingPlace, Finding)| {
            ingest::finding_event(place, &finding, self.core.ids.event_id(now), now, now)
        };
        let mut events = findings.into_iter().map(event);
        let first = events.next().ok_or(FlowError::NotALine)?;
        let redactor = |event: &mut Event| {
            self.core.redactors.settings_for(&event.scope.tenant).redactor.redact_event(event);
        };
        let mut write = self.core.build_write(first, mark.mac, mark.key);
        write.more = events
            .map(|mut event| {
                redactor(&mut event);
                Entry { changes: changes_of(&event), event }
            })
            .collect();
        self.core.commit_one(write).await
    }
}

fn finding_place(scope: &Scope, turn: Option<TurnId>, user: Option<UserId>) -> FindingPlace {
    FindingPlace { scope: scope.clone(), turn, conversation: None, user }
}
