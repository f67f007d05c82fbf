//! Bodies of experiment requests and responses.

mod results;

use std::collections::BTreeMap;

use engine::experiment::RolloutState;
use engine::{ExperimentView, StoredMove};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

pub(crate) use results::ResultsBody;

/// Body of `POST /api/v1/experiments`.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only for the OpenAPI schema; `learn` parses the body")]
pub(crate) struct ExperimentRequest {
    /// Generated when absent.
    id: Option<String>,
    name: String,
    /// `user` or `conversation`: the unit that keeps one variant.
    unit: String,
    /// The first variant is the control.
    variants: Vec<VariantRequest>,
    /// `satisfaction`, `error_rate`, `rejection_rate`, `correction_rate`, `retry_rate`, `latency`,
    /// `cost` or `quality_score`.
    metric: String,
    /// `turn` weights every turn equally, `unit` every unit.
    by: Option<String>,
    guardrails: Option<Vec<GuardrailRequest>>,
    rollout: Option<RolloutRequest>,
    adaptive: Option<AdaptiveRequest>,
    /// Accepted probability of a wrong verdict, over all looks and comparisons.
    alpha: Option<f64>,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "only for the OpenAPI schema; `learn` parses the body")]
struct VariantRequest {
    name: String,
    weight: Option<f64>,
    #[schema(value_type = Option<Object>)]
    payload: Option<Value>,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "only for the OpenAPI schema; `learn` parses the body")]
struct GuardrailRequest {
    metric: String,
    /// Maximum for metrics where less is better, minimum for the others.
    limit: f64,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "only for the OpenAPI schema; `learn` parses the body")]
struct RolloutRequest {
    /// Percentages of units that get a treatment, one per step.
    steps: Option<Vec<f64>>,
    /// Tolerated difference to the control in the wrong direction.
    margin: f64,
    /// Units per variant required before the next step.
    min_units: Option<u64>,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "only for the OpenAPI schema; `learn` parses the body")]
struct AdaptiveRequest {
    /// Minimum share of every variant.
    min_share: Option<f64>,
}

/// Body of `POST /api/v1/experiments/{id}/assign`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AssignRequest {
    /// Id of the user or conversation, as in turns.
    pub(crate) unit_id: String,
}

/// The assigned variant of a unit.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AssignedBody {
    pub(crate) variant: String,
    #[schema(value_type = Object)]
    pub(crate) payload: Value,
    pub(crate) experiment_id: String,
}

/// A page of experiments; `next` continues it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ExperimentsBody {
    pub(crate) experiments: Vec<ExperimentBody>,
    pub(crate) next: u64,
}

/// An experiment with its current state.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ExperimentBody {
    id: String,
    status: &'static str,
    /// Actions that the current status allows.
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
    /// Current share of each variant among new units.
    shares: BTreeMap<String, f64>,
    /// Progress of the rollout.
    progress: Option<ProgressBody>,
    /// Automatic changes of the shares, oldest first.
    moves: Vec<MoveBody>,
    created_at: String,
    /// Time of the last status change.
    changed_at: String,
}

/// Progress of a rollout.
#[derive(Debug, Serialize, ToSchema)]
struct ProgressBody {
    percent: f64,
    rolled_back: bool,
}

/// An automatic change of the shares, with its reason and evidence.
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
        let (shares, floor) = (variant_shares(&view), view.definition.min_share());
        let definition = view.definition;
        Self {
            id: view.id.to_string(),
            status: view.status.word(),
            possible: view
                .status
                .allowed_actions()
                .iter()
                .map(|(action, _)| action.word())
                .collect(),
            name: definition.name,
            unit: json!(definition.unit),
            variants: json!(definition.variants),
            metric: definition.metric.word(),
            by: json!(definition.by),
            guardrails: json!(definition.guardrails),
            rollout: json!(definition.rollout),
            adaptive: json!(floor.map(|min_share| json!({ "min_share": min_share }))),
            alpha: definition.alpha,
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
    fn from(StoredMove { number, ts, step, .. }: StoredMove) -> Self {
        Self { number, at: ts.to_string(), step }
    }
}
