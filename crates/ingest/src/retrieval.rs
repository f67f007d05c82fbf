//! Validates retrieved items and feedback on them.

use model::{EntityId, EntitySignal, QueryId, RelevanceSignal, Returned};

use crate::check::{CaptureError, accept_text, parse_id, parse_word};
use crate::turn::{RawRetrieved, accept_retrieved};

/// Maximum signals per request.
const MAX_SIGNALS: usize = 1000;

#[derive(Clone, Debug, Default)]
pub struct RawReturned {
    pub query_id: String,
    pub query: Option<String>,
    /// In rank order.
    pub entities: Vec<RawRetrieved>,
}

#[derive(Clone, Debug, Default)]
pub struct RawSignal {
    pub entity_id: String,
    pub signal: String,
    /// Rank from 1.
    pub rank: Option<u32>,
    pub comment: Option<String>,
}

pub fn accept_query_id(query: String) -> Result<String, CaptureError> {
    let checked = parse_id("query_id", Some(query), QueryId::new)?;
    Ok(checked.map(String::from).unwrap_or_default())
}

/// Validates the results of a query. Items without a rank are ranked by their order.
pub fn accept_returned(raw: RawReturned) -> Result<Returned, CaptureError> {
    if raw.entities.is_empty() {
        return Err(CaptureError::new("entities", "an empty list", "1 or more items"));
    }
    let mut entities = accept_retrieved("entities", raw.entities)?;
    for (rank, entity) in (1..).zip(&mut entities) {
        entity.rank = entity.rank.or(Some(rank));
    }
    Ok(Returned {
        query_id: accept_query_id(raw.query_id)?,
        query: accept_text("query", raw.query)?,
        entities,
    })
}

pub fn accept_signals(raw: Vec<RawSignal>) -> Result<Vec<EntitySignal>, CaptureError> {
    if raw.is_empty() || raw.len() > MAX_SIGNALS {
        let got = format!("a list of {}", raw.len());
        return Err(CaptureError::new("signals", got, format!("1 to {MAX_SIGNALS} signals")));
    }
    let check = |(index, raw): (usize, RawSignal)| {
        let field = |name: &str| format!("signals[{index}].{name}");
        let entity = parse_id(&field("entity_id"), Some(raw.entity_id), EntityId::new)?;
        let signal = parse_word(
            &field("signal"),
            &raw.signal,
            RelevanceSignal::from_word,
            RelevanceSignal::WORDS,
        )?;
        Ok(EntitySignal {
            entity_id: entity.map(|id| id.to_string()).unwrap_or_default(),
            signal,
            rank: raw.rank,
            why: None,
            comment: accept_text(&field("comment"), raw.comment)?,
        })
    };
    raw.into_iter().enumerate().map(check).collect()
}
