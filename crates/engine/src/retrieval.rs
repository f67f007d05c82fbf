//! Relevance feedback on retrieved items, and reranking by it.
//!
//! ```text
//! returned --> log: the items, with names and contents
//! answer --> usage detection --> used, ignored --> counters, in one commit
//! helpful? --> the same counters
//! rerank: scores --> counters of the items --> multipliers --> order
//! ```

mod pending_usage;
mod query;
mod rank;
mod usage;

use std::sync::Arc;

use detect::AnswerKind;
use ingest::{CaptureError, FindingPlace, RawReturned, RawSignal};
use learn::cluster_query;
use model::{
    Body, EntitySignal, Event, Finding, FoundRelevance, ItemStanding, Mac, PendingUsage, Returned,
    Scope, TurnId, UserId,
};

use crate::changes::build_entry;
use crate::core::Core;
use crate::error::EngineError;
use crate::receipt::{Receipt, RequestKey, TurnState};
use query::{MAX_REPORTS, RetrievalQuery};
use usage::read_signals;

pub use rank::EntityStats;
pub(crate) use usage::{assign_ranks, read_usage};

/// A report of the items that a query returned.
#[derive(Clone, Debug, Default)]
pub struct IncomingReturned {
    pub raw: RawReturned,
    pub user: Option<UserId>,
}

/// Relevance signals on the items of one query.
#[derive(Clone, Debug, Default)]
pub struct IncomingSignals {
    pub query_id: String,
    /// The query text, if it was not reported before.
    pub query: Option<String>,
    pub signals: Vec<RawSignal>,
    pub user: Option<UserId>,
}

/// The use of a query's results by an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Usage {
    Detected(Vec<EntitySignal>),
    /// The results are not reported yet. The answer is stored and waits for them.
    Pending,
}

/// Identifies repeats of a request.
#[derive(Clone, Debug)]
pub struct RequestMark {
    pub mac: Mac,
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

    /// Records the items that queries returned: all reports or none.
    pub async fn record_returned(
        &self,
        scope: &Scope,
        incoming: Vec<IncomingReturned>,
        mark: RequestMark,
    ) -> Result<Receipt, EngineError> {
        let mut findings = Vec::with_capacity(incoming.len());
        let many = incoming.len() > 1;
        for (index, IncomingReturned { raw, user }) in incoming.into_iter().enumerate() {
            let item = |bad: CaptureError| {
                if many { bad.nested_in(&format!("items[{index}]")) } else { bad }
            };
            let returned = ingest::accept_returned(raw).map_err(item)?;
            let turn = self.find_turn(scope, &returned.query_id).await?;
            let cluster = returned.query.as_deref().map(|query| cluster_query(query).0);
            let (query_id, items) = (&returned.query_id, &returned.entities);
            let joined = self.join_pending_usage(scope, query_id, cluster, items).await?;
            let place = finding_place(scope, turn, user);
            findings.push((place.clone(), Finding::Returned(returned)));
            findings.extend(joined.into_iter().map(|finding| (place.clone(), finding)));
        }
        if mark.key.is_none()
            && let [(_, Finding::Returned(returned))] = &findings[..]
            && let Some(first) = self.find_same_report(scope, returned).await?
        {
            return Ok(first);
        }
        let queries: Vec<String> = findings.iter().filter_map(returned_query).collect();
        let receipt = self.store_findings(findings, mark).await?;
        for query_id in queries {
            self.join_concurrent_usage(scope, query_id).await?;
        }
        Ok(receipt)
    }

    /// Finds an identical report. Contents are long, and agents report them with every answer.
    async fn find_same_report(
        &self,
        scope: &Scope,
        returned: &Returned,
    ) -> Result<Option<Receipt>, EngineError> {
        let parts = self.core.store.returned(scope, &returned.query_id, MAX_REPORTS).await?;
        if parts.is_empty() {
            return Ok(None);
        }
        // The report as it would be stored, redacted.
        let body = Body::Finding(Finding::Returned(returned.clone()));
        let report = self.core.redact(Event { body, ..Event::clone(&parts[0].event) });
        let same = parts.into_iter().find(|part| part.event.body == report.body);
        Ok(same.map(|part| Receipt {
            id: part.event.id.clone(),
            position: part.position,
            replayed: true,
            pending: false,
            turn: TurnState::default(),
        }))
    }

    /// Detects and records the items of a query that an answer used. An ignored item can become
    /// used, never the other way round. An answer whose query is unknown waits for it.
    pub async fn record_usage(
        &self,
        scope: &Scope,
        query_id: String,
        response: &str,
        kind: AnswerKind,
        mark: RequestMark,
    ) -> Result<Usage, EngineError> {
        let query_id = ingest::accept_query_id(query_id)?;
        // Stored items are redacted, so the answer is redacted before the comparison.
        let response = self.core.redactors.settings_for(&scope.tenant).redactor.redact(response);
        if let Some(query) = self.load_results(scope, &query_id).await? {
            let signals = self.detect_usage(&response, kind, &query.items);
            return self.store_usage(scope, (query_id, query), signals, mark).await;
        }
        let is_code = match kind {
            AnswerKind::Code => true,
            AnswerKind::Response => false,
        };
        let (query, response) = (query_id.clone(), response.into_owned());
        let pending = PendingUsage { query_id: query, response, is_code };
        let unkeyed = RequestMark { mac: mark.mac, key: None };
        self.store_pending_usage(scope, pending.clone(), mark).await?;
        // The results may have arrived meanwhile, without this answer.
        match self.load_results(scope, &query_id).await? {
            None => Ok(Usage::Pending),
            Some(query) => {
                let signals = self.detect_usage(&pending.response, kind, &query.items);
                self.store_usage(scope, (query_id, query), signals, unkeyed).await
            }
        }
    }

    async fn store_usage(
        &self,
        scope: &Scope,
        (query_id, query): (String, RetrievalQuery),
        signals: Vec<EntitySignal>,
        mark: RequestMark,
    ) -> Result<Usage, EngineError> {
        if signals.is_empty() {
            return Ok(Usage::Detected(signals));
        }
        if mark.key.is_none() && !self.changes_standings(scope, &query_id, &signals).await? {
            return Ok(Usage::Detected(signals));
        }
        let found = FoundRelevance { query_id, cluster: query.cluster, signals: signals.clone() };
        let finding = (query.place, Finding::Relevance(found));
        let receipt = self.store_findings(vec![finding], mark).await?;
        if !receipt.replayed {
            return Ok(Usage::Detected(signals));
        }
        let first = self.core.store.event(scope, &receipt.id).await?;
        Ok(Usage::Detected(first.map(|first| read_signals(&first.event)).unwrap_or_default()))
    }

    /// True when the signals change any item's standing.
    async fn changes_standings(
        &self,
        scope: &Scope,
        query: &str,
        signals: &[EntitySignal],
    ) -> Result<bool, EngineError> {
        let entities = signals.iter().map(|signal| signal.entity_id.clone()).collect();
        let standings = self.core.store.standings(scope, query, entities).await?;
        let changes = |(standing, signal): (&ItemStanding, &EntitySignal)| {
            !standing.apply_signal(signal.signal).1.is_zero()
        };
        Ok(standings.iter().zip(signals).any(changes))
    }

    /// Records relevance signals: all or none.
    pub async fn record_signals(
        &self,
        scope: &Scope,
        incoming: Vec<IncomingSignals>,
        mark: RequestMark,
    ) -> Result<Receipt, EngineError> {
        let mut findings = Vec::with_capacity(incoming.len());
        let many = incoming.len() > 1;
        for (index, incoming) in incoming.into_iter().enumerate() {
            let IncomingSignals { query_id, query, signals, user } = incoming;
            let item = |bad: CaptureError| {
                if many { bad.nested_in(&format!("items[{index}]")) } else { bad }
            };
            let query_id = ingest::accept_query_id(query_id).map_err(item)?;
            let mut signals = ingest::accept_signals(signals).map_err(item)?;
            let known = self.load_query(scope, &query_id).await?;
            for signal in &mut signals {
                let item = known.iter().flat_map(|known| &known.items);
                let rank = item.filter(|item| item.entity_id == signal.entity_id);
                signal.rank = signal.rank.or_else(|| rank.filter_map(|item| item.rank).next());
            }
            let reported = query.as_deref().map(|query| cluster_query(query).0);
            let cluster = known.as_ref().and_then(|known| known.cluster).or(reported);
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

    async fn find_turn(&self, scope: &Scope, id: &str) -> Result<Option<TurnId>, EngineError> {
        let Ok(turn) = TurnId::new(id) else { return Ok(None) };
        Ok(self.core.store.turn_head(scope, &turn).await?.map(|_| turn))
    }

    /// Redacts findings and commits them together.
    async fn store_findings(
        &self,
        findings: Vec<(FindingPlace, Finding)>,
        mark: RequestMark,
    ) -> Result<Receipt, EngineError> {
        let now = self.core.clock.now();
        let event = |(place, finding): (FindingPlace, Finding)| {
            ingest::finding_event(place, finding, self.core.ids.event_id(now), now, now)
        };
        let mut events = findings.into_iter().map(event);
        let first = events.next().ok_or(EngineError::InvalidLine)?;
        let mut write = self.core.build_write(first, mark.mac, mark.key);
        write.more = events.map(|event| build_entry(self.core.redact(event))).collect();
        self.core.commit_one(write).await
    }
}

/// The query of a report, which is the only finding with items.
fn returned_query((_, finding): &(FindingPlace, Finding)) -> Option<String> {
    if let Finding::Returned(returned) = finding { Some(returned.query_id.clone()) } else { None }
}

fn finding_place(scope: &Scope, turn: Option<TurnId>, user: Option<UserId>) -> FindingPlace {
    FindingPlace { scope: scope.clone(), turn, conversation: None, user }
}
