//! What became of items that queries returned, and how they rank by it.
//!
//! ```text
//! returned --> log: what was offered, with names and contents
//! answer --> which of them it used --> used, ignored --> counters, in one commit
//! helpful? --> the same counters
//! rerank: scores --> counters of the items --> multipliers --> order
//! ```

use capture::{CaptureError, FindingPlace, RawReturned, RawSignal};
use detect::{AnswerKind, ReturnedItem, Use, Written, detect_use};
use event::{
    Body, EntitySignal, Entry, Event, Finding, FoundRelevance, Mac, RelevanceSignal, Retrieved,
    Returned, Scope, Standing, TurnHalf, TurnId, TurnStatus, UserId,
};
use learn::{
    CoecRule, Counts, Estimator, Known, RankTotals, Reranked, Tally, cluster_of_text, rerank,
};
use store::{Extreme, StoredEvent, StoredTally};

use crate::changes::changes_of;
use crate::engine::Engine;
use crate::error::FlowError;
use crate::record::{Receipt, RequestKey};

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

/// What is known of an item.
#[derive(Clone, Debug, PartialEq)]
pub struct EntityStats {
    /// Which.
    pub entity_id: String,
    /// Its counters.
    pub tally: StoredTally,
}

/// Reports about one query that are put together; earlier ones are forgotten.
const MOST_PARTS: usize = 20;

/// A query and what it returned.
struct Query {
    place: FindingPlace,
    cluster: Option<u64>,
    items: Vec<Retrieved>,
}

impl Engine {
    /// Takes in what queries returned: all of them or none.
    pub async fn returned(
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
            let returned = capture::accept_returned(raw).map_err(item)?;
            let turn = self.turn_named(scope, &returned.query_id).await?;
            let place = place_of(scope, turn, user);
            findings.push((place, Finding::Returned(returned)));
        }
        if mark.key.is_none()
            && let [(_, Finding::Returned(returned))] = &findings[..]
            && let Some(first) = self.told_before(scope, returned).await?
        {
            return Ok(first);
        }
        self.store_findings(findings, mark).await
    }

    /// The report that says the same: contents are long, and agents report them with every answer.
    async fn told_before(
        &self,
        scope: &Scope,
        returned: &Returned,
    ) -> Result<Option<Receipt>, FlowError> {
        let mut parts = self.store.returned(scope, &returned.query_id, MOST_PARTS).await?;
        if parts.is_empty() {
            return Ok(None);
        }
        // As it would be kept.
        let mut told = Event {
            data: Event::data_of(&Finding::Returned(returned.clone())),
            ..parts[0].event.clone()
        };
        self.privacy.of(&scope.tenant).redactor.redact_event(&mut told);
        let same = parts.iter().position(|part| part.event.data == told.data);
        Ok(same.map(|index| {
            let StoredEvent { position, event } = parts.swap_remove(index);
            Receipt { id: event.id, position, replayed: true }
        }))
    }

    /// Finds out which items of a query an answer used, and takes that in. What was ignored before can
    /// become used; never the other way round.
    pub async fn usage(
        &self,
        scope: &Scope,
        query_id: String,
        response: &str,
        kind: AnswerKind,
        mark: RequestMark,
    ) -> Result<Vec<EntitySignal>, FlowError> {
        let query_id = capture::accept_query_id(query_id)?;
        let query = self.query(scope, &query_id).await?.ok_or(FlowError::Unknown("query"))?;
        // What was returned is kept without what the tenant wants removed; so is compared the answer.
        let response = self.privacy.of(&scope.tenant).redactor.redact(response);
        let signals = self.used(&response, kind, &query.items);
        if signals.is_empty() {
            return Ok(signals);
        }
        if mark.key.is_none() && !self.is_news(scope, &query_id, &signals).await? {
            return Ok(signals);
        }
        let found = FoundRelevance { query_id, cluster: query.cluster, signals: signals.clone() };
        let finding = (query.place, Finding::Relevance(found));
        let receipt = self.store_findings(vec![finding], mark).await?;
        match receipt.replayed {
            false => Ok(signals),
            true => {
                let first = self.store.event(scope, &receipt.id).await?;
                Ok(first.map(|first| signals_in(&first.event)).unwrap_or_default())
            }
        }
    }

    /// Whether the signals change what stands.
    async fn is_news(
        &self,
        scope: &Scope,
        query: &str,
        signals: &[EntitySignal],
    ) -> Result<bool, FlowError> {
        let entities = signals.iter().map(|signal| signal.entity_id.clone()).collect();
        let standings = self.store.standings(scope, query, entities).await?;
        let changes = |(standing, signal): (&Standing, &EntitySignal)| {
            !standing.after(signal.signal).1.is_zero()
        };
        Ok(standings.iter().zip(signals).any(changes))
    }

    /// Takes in what became of items: all of it or nothing.
    pub async fn weigh(
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
            let query_id = capture::accept_query_id(query_id).map_err(item)?;
            let mut signals = capture::accept_signals(signals).map_err(item)?;
            let known = self.query(scope, &query_id).await?;
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
                None => place_of(scope, None, user),
            };
            let found = FoundRelevance { query_id, cluster, signals };
            findings.push((place, Finding::Relevance(found)));
        }
        self.store_findings(findings, mark).await
    }

    /// What is known of an item; zeros for one that was never heard of.
    pub async fn entity_stats(
        &self,
        scope: &Scope,
        entity_id: String,
    ) -> Result<EntityStats, FlowError> {
        let found = self.store.tallies(scope, None, vec![entity_id.clone()]).await?;
        let tally = found.items.first().and_then(|(tally, _)| *tally).unwrap_or_default();
        Ok(EntityStats { entity_id, tally })
    }

    /// The items that did best, or worst.
    pub async fn extreme_entities(
        &self,
        scope: &Scope,
        which: Extreme,
        limit: usize,
    ) -> Result<Vec<EntityStats>, FlowError> {
        let found = self.store.extremes(scope, which, limit).await?;
        let stats = |(entity_id, tally)| EntityStats { entity_id, tally };
        Ok(found.into_iter().map(stats).collect())
    }

    /// Results in the order that their past suggests. `index` of each is its place in `results`.
    pub async fn rerank(
        &self,
        scope: &Scope,
        query: Option<&str>,
        results: &[(String, f64)],
        estimator: Estimator,
    ) -> Result<Vec<Reranked>, FlowError> {
        let cluster = query.map(|query| cluster_of_text(query).0);
        let entities = results.iter().map(|(entity, _)| entity.clone()).collect();
        let found = self.store.tallies(scope, cluster, entities).await?;
        let mut totals = RankTotals::default();
        for (band, (returned, used)) in found.totals.iter().enumerate() {
            totals.returned[band] = *returned;
            totals.used[band] = *used;
        }
        let known = |index: usize| {
            let (entity, pair) = found.items.get(index).copied().unwrap_or_default();
            Known { entity: entity.map(counts), pair: pair.map(counts) }
        };
        let scores: Vec<f64> = results.iter().map(|(_, score)| *score).collect();
        Ok(rerank(estimator, &CoecRule::default(), &totals.examination(), &scores, known))
    }

    /// The finding that says which retrieved items the answer of a turn used.
    /// An answer that failed says nothing about them. The completion is redacted already.
    pub(crate) fn relevance_of(
        &self,
        turn: &TurnId,
        question: &str,
        completed: &Event,
        shown: &Finding,
    ) -> Option<Finding> {
        let Ok(Body::Turn(TurnHalf::Completed(done))) = Body::read(completed.kind, &completed.data)
        else {
            return None;
        };
        let failed = done.status == TurnStatus::Error
            || matches!(shown, Finding::Answer(found) if found.error.error_type.is_some());
        let response = done.response.as_deref().filter(|_| !failed)?;
        let signals = self.used(response, AnswerKind::Response, &ranked(&done.retrieved));
        let cluster = Some(question).filter(|question| !question.trim().is_empty());
        (!signals.is_empty()).then(|| {
            Finding::Relevance(FoundRelevance {
                query_id: turn.as_str().to_owned(),
                cluster: cluster.map(|question| cluster_of_text(question).0),
                signals,
            })
        })
    }

    fn used(&self, response: &str, kind: AnswerKind, items: &[Retrieved]) -> Vec<EntitySignal> {
        if response.trim().is_empty() {
            // Nothing was written, so nothing was left out.
            return Vec::new();
        }
        let rule = &self.detectors.usage;
        let looked_for: Vec<ReturnedItem<'_>> = items
            .iter()
            .map(|item| ReturnedItem {
                entity_id: &item.entity_id,
                name: item.name.as_deref(),
                content: item.content.as_deref(),
                rank: item.rank,
            })
            .collect();
        let found = detect_use(rule, &Written::read(rule, response, kind), &looked_for);
        let signal = |(item, found): (&Retrieved, Use)| {
            let (signal, why) = match found {
                Use::Used(evidence) => {
                    (RelevanceSignal::Used, Some(evidence.reason.as_word().to_owned()))
                }
                Use::Ignored => (RelevanceSignal::Ignored, None),
                // Nobody can tell, so nothing is said.
                Use::Unknown => return None,
            };
            let entity_id = item.entity_id.clone();
            Some(EntitySignal { entity_id, signal, rank: item.rank, why, comment: None })
        };
        items.iter().zip(found).filter_map(signal).collect()
    }

    /// What a query returned: what its turn says, and what was told of it since.
    async fn query(&self, scope: &Scope, query_id: &str) -> Result<Option<Query>, FlowError> {
        let mut query = self.query_of_turn(scope, query_id).await?;
        for stored in self.store.returned(scope, query_id, MOST_PARTS).await? {
            let event = stored.event;
            let Ok(Body::Finding(Finding::Returned(part))) = Body::read(event.kind, &event.data)
            else {
                continue;
            };
            let place = FindingPlace {
                scope: scope.clone(),
                turn: event.turn,
                conversation: event.conversation,
                user: event.user,
            };
            let known = query.get_or_insert(Query { place, cluster: None, items: Vec::new() });
            let asked = part.query.as_deref().map(|asked| cluster_of_text(asked).0);
            known.cluster = known.cluster.or(asked);
            for item in part.entities {
                match known.items.iter_mut().find(|one| one.entity_id == item.entity_id) {
                    Some(one) => *one = item,
                    None => known.items.push(item),
                }
            }
        }
        Ok(query)
    }

    async fn query_of_turn(&self, scope: &Scope, id: &str) -> Result<Option<Query>, FlowError> {
        let Ok(turn) = TurnId::new(id) else { return Ok(None) };
        let found = self.store.exchanges_by_id(scope, vec![turn.clone()]).await?.pop();
        Ok(found.map(|exchange| {
            let place = FindingPlace {
                scope: scope.clone(),
                turn: Some(turn),
                conversation: exchange.conversation,
                user: exchange.user,
            };
            let asked = Some(exchange.opening.text).filter(|text| !text.trim().is_empty());
            let cluster = asked.map(|text| cluster_of_text(&text).0);
            let items = exchange.completion.map(|done| ranked(&done.retrieved));
            Query { place, cluster, items: items.unwrap_or_default() }
        }))
    }

    async fn turn_named(&self, scope: &Scope, id: &str) -> Result<Option<TurnId>, FlowError> {
        let Ok(turn) = TurnId::new(id) else { return Ok(None) };
        Ok(self.store.turn_head(scope, &turn).await?.map(|_| turn))
    }

    /// Stores findings together, without what the tenant wants removed.
    async fn store_findings(
        &self,
        findings: Vec<(FindingPlace, Finding)>,
        mark: RequestMark,
    ) -> Result<Receipt, FlowError> {
        let now = self.clock.now();
        let event = |(place, finding): (FindingPlace, Finding)| {
            capture::finding_event(place, &finding, self.mint.event_id(now), now, now)
        };
        let mut events = findings.into_iter().map(event);
        let first = events.next().ok_or(FlowError::NotALine)?;
        let redactor = |event: &mut Event| {
            self.privacy.of(&event.scope.tenant).redactor.redact_event(event);
        };
        let mut write = self.write_of(first, mark.mac, mark.key);
        write.more = events
            .map(|mut event| {
                redactor(&mut event);
                Entry { changes: changes_of(&event), event }
            })
            .collect();
        self.commit_one(write).await
    }
}

/// Items without a rank stand as they are listed.
fn ranked(items: &[Retrieved]) -> Vec<Retrieved> {
    let rank = |(rank, item): (u32, &Retrieved)| Retrieved {
        rank: item.rank.or(Some(rank)),
        ..item.clone()
    };
    (1..).zip(items).map(rank).collect()
}

fn place_of(scope: &Scope, turn: Option<TurnId>, user: Option<UserId>) -> FindingPlace {
    FindingPlace { scope: scope.clone(), turn, conversation: None, user }
}

fn counts(tally: StoredTally) -> Counts {
    let StoredTally { used, ignored, positive, negative, returned } = tally;
    Tally { used, ignored, positive, negative, returned }.counts()
}

/// Which retrieved items an answer used, from the events that keep it.
pub(crate) fn usage_of(turn: &TurnId, events: &[Event]) -> Vec<EntitySignal> {
    let of_turn = events.iter().filter(|event| event.turn.as_ref() == Some(turn));
    of_turn.flat_map(signals_in).collect()
}

fn signals_in(event: &Event) -> Vec<EntitySignal> {
    match Body::read(event.kind, &event.data) {
        Ok(Body::Finding(Finding::Relevance(found))) => found.signals,
        Ok(_) | Err(_) => Vec::new(),
    }
}
