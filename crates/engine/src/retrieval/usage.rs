//! Detects the retrieved items that an answer used.

use detect::{AnswerKind, ItemUse, ParsedAnswer, ReturnedItem, detect_item_use};
use learn::cluster_query;
use model::{
    Body, Completion, EntitySignal, Event, Finding, FoundRelevance, Redacted, RelevanceSignal,
    Retrieved, TurnId, TurnStatus,
};

use crate::retrieval::Retrieval;

impl Retrieval {
    /// The relevance finding of a turn's answer. A failed answer gives none. `done` is already
    /// redacted.
    pub(crate) fn detect_relevance(
        &self,
        turn: &TurnId,
        question: &str,
        done: &Completion,
        shown: &Finding,
    ) -> Option<Finding> {
        let failed = done.status == TurnStatus::Error
            || matches!(shown, Finding::Answer(found) if found.error.error_type.is_some());
        let response = done.response.as_deref().filter(|_| !failed)?;
        let signals =
            self.detect_usage(response, AnswerKind::Response, &assign_ranks(&done.retrieved));
        let cluster = Some(question).filter(|question| !question.trim().is_empty());
        (!signals.is_empty()).then(|| {
            Finding::Relevance(FoundRelevance {
                query_id: turn.as_str().to_owned(),
                cluster: cluster.map(|question| cluster_query(question).0),
                signals,
            })
        })
    }

    pub(super) fn detect_usage(
        &self,
        response: &str,
        kind: AnswerKind,
        items: &[Retrieved],
    ) -> Vec<EntitySignal> {
        if response.trim().is_empty() {
            // An empty answer ignores nothing.
            return Vec::new();
        }
        let rule = &self.core.detectors.usage;
        let looked_for: Vec<ReturnedItem<'_>> = items
            .iter()
            .map(|item| ReturnedItem {
                entity_id: &item.entity_id,
                name: item.name.as_deref(),
                content: item.content.as_deref(),
                rank: item.rank,
            })
            .collect();
        let found = detect_item_use(rule, &ParsedAnswer::parse(rule, response, kind), &looked_for);
        let signal = |(item, found): (&Retrieved, ItemUse)| {
            let (signal, why) = match found {
                ItemUse::Used(evidence) => {
                    (RelevanceSignal::Used, Some(evidence.reason.as_word().to_owned()))
                }
                ItemUse::Ignored => (RelevanceSignal::Ignored, None),
                // Undetermined use gives no signal.
                ItemUse::Unknown => return None,
            };
            let entity_id = item.entity_id.clone();
            Some(EntitySignal { entity_id, signal, rank: item.rank, why, comment: None })
        };
        items.iter().zip(found).filter_map(signal).collect()
    }
}

/// Items without a rank get their position in the list, from 1.
pub(crate) fn assign_ranks(items: &[Retrieved]) -> Vec<Retrieved> {
    let rank = |(rank, item): (u32, &Retrieved)| Retrieved {
        rank: item.rank.or(Some(rank)),
        ..item.clone()
    };
    (1..).zip(items).map(rank).collect()
}

/// Reads a turn's usage signals from stored events.
pub(crate) fn read_usage(turn: &TurnId, events: &[Redacted<Event>]) -> Vec<EntitySignal> {
    let of_turn = events.iter().filter(|event| event.turn.as_ref() == Some(turn));
    of_turn.flat_map(|event| read_signals(event)).collect()
}

pub(super) fn read_signals(event: &Event) -> Vec<EntitySignal> {
    if let Body::Finding(Finding::Relevance(found)) = &event.body {
        found.signals.clone()
    } else {
        Vec::new()
    }
}
