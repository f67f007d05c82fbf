//! Experiments on the wire.

mod results;

use std::collections::BTreeMap;

use engine::experiment::{ExperimentDefinition, RolloutState};
use engine::{ExperimentView, StoredMove};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

pub(crate) use results::ResultsBody;

/// `POST /api/v1/experiments`: the shape for the reference; `learn` reads it.
#[derive(ToSchema)]
#[expect(dead_code, reason = "the shape is for the reference")]
pub(crate) struct ExperimentRequest {
    /// Made for you when absent.
    id: Option<String>,
    name: String,
    /// user or conversation: who keeps one variant as a whole.
    unit: String,
    /// The first is the control.
    variants: Vec<VariantRequest>,
    /// satisfaction, error_rate, rejection_rate, correction_rate, retry_rate, latency, cost or
    /// quality_score.
    metric: String,
    /// turn (every turn counts the same) or unit (every unit does).
    by: Option<String>,
    guardrails: Option<Vec<GuardrailRequest>>,
    rollout: Option<RolloutRequest>,
    adaptive: Option<AdaptiveRequest>,
    /// The chance of a wrong verdict that is allowed, over all looks and comparisons.
    alpha: Option<f64>,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "the shape is for the reference")]
struct VariantRequest {
    name: String,
    weight: Option<f64>,
    #[schema(value_type = Option<Object>)]
    payload: Option<Value>,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "the shape is for the reference")]
struct GuardrailRequest {
    metric: String,
    /// The most where less is better, the least where more is.
    limit: f64,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "the shape is for the reference")]
struct RolloutRequest {
    /// Percent of the units that get a treatment, step by step.
    steps: Option<Vec<f64>>,
    /// How much worse than the control is still borne.
    margin: f64,
    /// Units of each arm at a step before the next.
    min_units: Option<u64>,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "the shape is for the reference")]
struct AdaptiveRequest {
    /// The least share of every variant.
    min_share: Option<f64>,
}

/// `POST /api/v1/experiments/{id}/assign`
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AssignRequest {
    /// The user's or the conversation's id, as in turns.
    pub(crate) unit_id: String,
}

/// The variant of a unit.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AssignedBody {
    pub(crate) variant: String,
    #[schema(value_type = Object)]
    pub(crate) payload: Value,
    pub(crate) experiment_id: String,
}

/// A page of experiments.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ExperimentsBody {
    pub(crate) experiments: Vec<ExperimentBody>,
    pub(crate) next: u64,
}

/// An experiment as it stands.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ExperimentBody {
    id: String,
    status: &'static str,
    /// What can be done with it.
    possible: Vec<&'static str>,
    name: String,
    unit: Value,
    #[schema(value_type = Vec<Object>)]
    variants: Value,
    metric: &'static str,
    by: Value,
    #[schema(value_type = Vec<Object>)]
    guardrails: Value,
    #[schema(value_type = Option<Object>)]
    rollout: Value,
    #[schema(value_type = Option<Object>)]
    adaptive: Value,
    alpha: f64,
    /// The share of each variant among units that come now.
    shares: BTreeMap<String, f64>,
    /// How far a rollout has come.
    progress: Option<ProgressBody>,
    /// How the shares moved by themselves, in order.
    moves: Vec<MoveBody>,
    created_at: String,
    /// When it came to stand where it stands.
    changed_at: String,
}

/// How far a rollout has come.
#[derive(Debug, Serialize, ToSchema)]
struct ProgressBody {
    percent: f64,
    rolled_back: bool,
}

/// A move of the shares: from where to where and why, with its evidence.
#[derive(Debug, Serialize, ToSchema)]
struct MoveBody {
    number: u32,
    at: String,
    #[serde(flatten)]
    #[schema(value_type = Object)]
    step: Map<String, Value>,
}

impl From<ExperimentView> for ExperimentBody {
    fn from(view: ExperimentView) -> Self {
        let (shares, floor) = (variant_shares(&view), view.definition.floor());
        let ExperimentDefinition {
            name,
            unit,
            variants,
            metric,
            by,
            guardrails,
            rollout,
            adaptive: _,
            alpha,
        } = view.definition;
        Self {
            id: view.id.to_string(),
            status: view.status.word(),
            possible: view.status.possible().iter().map(|(action, _)| action.word()).collect(),
            name,
            unit: json!(unit),
            variants: json!(variants),
            metric: metric.word(),
            by: json!(by),
            guardrails: json!(guardrails),
            rollout: json!(rollout),
            adaptive: json!(floor.map(|min_share| json!({ "min_share": min_share }))),
            alpha,
            shares,
            progress: view.rollout.map(ProgressBody::from),
            moves: view.moves.into_iter().map(MoveBody::from).collect(),
            created_at: view.created.to_string(),
            changed_at: view.changed.to_string(),
        }
    }
}

fn variant_shares(view: &ExperimentView) -> BTreeMap<String, f64> {
    let names = view.definition.variants.iter().map(|variant| variant.name.clone());
    names.zip(view.shares().as_slice().iter().copied()).collect()
}

impl From<RolloutState> for ProgressBody {
    fn from(RolloutState { percent, rolled_back }: RolloutState) -> Self {
        Self { percent, rolled_back }
    }
}

impl From<StoredMove> for MoveBody {
    fn from(StoredMove { number, ts, shares: _, step }: StoredMove) -> Self {
        Self { number, at: ts.to_string(), step }
    }
}
