//! Decisions and their outcomes.

use engine::report::ConfidenceBin;
use engine::{RawDecision, RawOutcome, StoredDecision};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// Body of `POST /api/v1/decisions`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DecisionRequest {
    decision_id: Option<String>,
    pub(crate) tenant_id: Option<String>,
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

/// Body of `PATCH /api/v1/decisions/{id}`.
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

/// Response to a stored decision or outcome.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DecisionReceipt {
    pub(crate) decision_id: String,
    pub(crate) replayed: bool,
    /// True when the outcome waits for its decision. Absent otherwise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) pending: bool,
}

/// A decision with its latest outcome.
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
        let mut made_fields = made.body.to_fields();
        let mut made_field = |name: &str| made_fields.remove(name).unwrap_or(Value::Null);
        let mut settled_fields = settled.map(|event| event.body.to_fields()).unwrap_or_default();
        let mut latest = |name: &str| settled_fields.remove(name);
        Self {
            decision_id: decision.id.to_string(),
            session_id: made.conversation.as_ref().map(|id| id.to_string()),
            turn_id: made.turn.as_ref().map(|id| id.to_string()),
            decision_type: made_field("decision_type"),
            decision_data: made_field("decision_data"),
            confidence: made_field("confidence"),
            outcome: latest("outcome").unwrap_or_else(|| made_field("outcome")),
            outcome_data: latest("outcome_data").unwrap_or(Value::Null),
            made_at: made.ts.to_string(),
            settled_at: settled.map(|event| event.ts.to_string()),
        }
    }
}

/// Decisions of a session, with the calibration of their confidences.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SessionDecisionsBody {
    pub(crate) decisions: Vec<DecisionBody>,
    /// Of all decisions of the session, not only those of the page.
    pub(crate) calibration: Vec<ConfidenceBody>,
    /// True when the session has more decisions after this page.
    pub(crate) truncated: bool,
    /// The `after` of the next page.
    pub(crate) next: u64,
}

/// Decisions of one confidence bin.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ConfidenceBody {
    /// Lower and upper bound of the confidence.
    bin: [f64; 2],
    /// Mean confidence of the bin.
    confidence: f64,
    /// Share of decisions with a successful outcome.
    success: Option<f64>,
    interval: Option<[f64; 2]>,
    /// Number of decisions with a known outcome.
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

/// A page of decisions; `next` continues it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DecisionsBody {
    pub(crate) items: Vec<DecisionBody>,
    pub(crate) next: u64,
}
