//! Decisions on the wire.

use engine::{RawDecision, RawOutcome, StoredDecision};
use report::ConfidenceBin;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// `POST /api/v1/decisions`
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DecisionRequest {
    decision_id: Option<String>,
    session_id: Option<String>,
    turn_id: Option<String>,
    decision_type: String,
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    decision_data: Option<Map<String, Value>>,
    outcome: Option<String>,
    confidence: Option<f64>,
}

impl From<DecisionRequest> for RawDecision {
    fn from(request: DecisionRequest) -> Self {
        Self {
            decision_id: request.decision_id,
            session_id: request.session_id,
            turn_id: request.turn_id,
            decision_type: request.decision_type,
            decision_data: request.decision_data.unwrap_or_default(),
            outcome: request.outcome,
            confidence: request.confidence,
        }
    }
}

/// `PATCH /api/v1/decisions/{id}`
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OutcomeRequest {
    outcome: String,
    #[schema(value_type = Option<Object>)]
    outcome_data: Option<Map<String, Value>>,
}

impl From<OutcomeRequest> for RawOutcome {
    fn from(request: OutcomeRequest) -> Self {
        let outcome_data = request.outcome_data.unwrap_or_default();
        Self { outcome: request.outcome, outcome_data }
    }
}

/// The answer to a decision.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DecisionReceipt {
    pub(crate) decision_id: String,
    pub(crate) replayed: bool,
}

/// A decision as it stands.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DecisionBody {
    decision_id: String,
    session_id: Option<String>,
    turn_id: Option<String>,
    decision_type: Value,
    decision_data: Value,
    confidence: Value,
    outcome: Value,
    outcome_data: Value,
    made_at: String,
    settled_at: Option<String>,
}

impl From<StoredDecision> for DecisionBody {
    fn from(decision: StoredDecision) -> Self {
        let (made, settled) = (&decision.made.event, decision.settled.as_ref().map(|s| &s.event));
        let of_made = |name: &str| made.data.get(name).cloned().unwrap_or(Value::Null);
        let newest = |name: &str| settled.and_then(|event| event.data.get(name)).cloned();
        Self {
            decision_id: decision.id.to_string(),
            session_id: made.conversation.as_ref().map(|id| id.to_string()),
            turn_id: made.turn.as_ref().map(|id| id.to_string()),
            decision_type: of_made("decision_type"),
            decision_data: of_made("decision_data"),
            confidence: of_made("confidence"),
            outcome: newest("outcome").unwrap_or_else(|| of_made("outcome")),
            outcome_data: newest("outcome_data").unwrap_or(Value::Null),
            made_at: made.ts.to_string(),
            settled_at: settled.map(|event| event.ts.to_string()),
        }
    }
}

/// Decisions of a session, and what the confidence in them was worth.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SessionDecisionsBody {
    pub(crate) decisions: Vec<DecisionBody>,
    pub(crate) calibration: Vec<ConfidenceBody>,
    /// There are more decisions than are shown.
    pub(crate) truncated: bool,
}

/// Decisions of about the same confidence.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ConfidenceBody {
    /// From and to which confidence.
    bin: [f64; 2],
    /// The mean confidence.
    confidence: f64,
    /// The share that turned out well.
    success: Option<f64>,
    interval: Option<[f64; 2]>,
    /// Decisions whose outcome is known.
    n: u64,
}

impl From<ConfidenceBin> for ConfidenceBody {
    fn from(bin: ConfidenceBin) -> Self {
        Self {
            bin: [bin.from, bin.to],
            confidence: bin.confidence,
            success: bin.success.value(),
            interval: bin.success.interval().map(|(low, high)| [low, high]),
            n: bin.success.denominator,
        }
    }
}

/// Decisions of a session and where to go on.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DecisionsBody {
    pub(crate) items: Vec<DecisionBody>,
    pub(crate) next: u64,
}
