//! Loads a query with its items, merged from the turn and later reports.

use ingest::FindingPlace;
use learn::cluster_query;
use model::{Body, Finding, Retrieved, Scope, TurnId};

use super::usage::assign_ranks;
use crate::error::EngineError;
use crate::retrieval::Retrieval;

/// Newest reports of one query that are merged.
pub(super) const MAX_REPORTS: usize = 20;

pub(super) struct RetrievalQuery {
    pub(super) place: FindingPlace,
    pub(super) cluster: Option<u64>,
    pub(super) items: Vec<Retrieved>,
}

impl Retrieval {
    /// The items of the query's turn and of later reports. A later report of an item wins.
    pub(super) async fn load_query(
        &self,
        scope: &Scope,
        query_id: &str,
    ) -> Result<Option<RetrievalQuery>, EngineError> {
        let mut query = self.query_from_turn(scope, query_id).await?;
        for stored in self.core.store.returned(scope, query_id, MAX_REPORTS).await? {
            let event = stored.event.into_inner();
            let Body::Finding(Finding::Returned(part)) = event.body else { continue };
            let place = FindingPlace {
                scope: scope.clone(),
                turn: event.turn,
                conversation: event.conversation,
                user: event.user,
            };
            let known =
                query.get_or_insert(RetrievalQuery { place, cluster: None, items: Vec::new() });
            let asked = part.query.as_deref().map(|asked| cluster_query(asked).0);
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

    async fn query_from_turn(
        &self,
        scope: &Scope,
        id: &str,
    ) -> Result<Option<RetrievalQuery>, EngineError> {
        let Ok(turn) = TurnId::new(id) else { return Ok(None) };
        let found = self.core.store.exchanges_by_id(scope, vec![turn.clone()]).await?.pop();
        Ok(found.map(|exchange| {
            let place = FindingPlace {
                scope: scope.clone(),
                turn: Some(turn),
                conversation: exchange.conversation,
                user: exchange.user,
            };
            let asked = Some(exchange.opening.text).filter(|text| !text.trim().is_empty());
            let cluster = asked.map(|text| cluster_query(&text).0);
            let items = exchange.completion.map(|done| assign_ranks(&done.retrieved));
            RetrievalQuery { place, cluster, items: items.unwrap_or_default() }
        }))
    }
}
