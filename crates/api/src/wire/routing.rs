//! Routers, routing choices and policy evaluation.

use std::collections::BTreeMap;

use engine::{ArmSummary, RewardTrend, Route, RouterEvaluation, RouterView};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::time::TimeInput;

/// Body of `PUT /api/v1/routers/{name}`.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only for the OpenAPI schema; `learn` parses the body")]
pub(crate) struct RouterRequest {
    arms: Vec<ArmRequest>,
    /// `thompson`, `linucb`, `lints`, `hybrid`, `epsilon_greedy`, `ucb1`, `fixed` or `random`.
    algorithm: Option<String>,
    reward: Option<RewardRequestShape>,
    /// Discount of old observations: a factor per observation, {"half_life_observations": N} or
    /// {"half_life_days": N}.
    #[schema(value_type = Option<Object>)]
    discount: Option<Value>,
    /// Minimum propensity of an enabled arm.
    min_propensity: Option<f64>,
    daily_budget: Option<f64>,
    seed: Option<u64>,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "only for the OpenAPI schema; `learn` parses the body")]
struct ArmRequest {
    id: String,
    /// Price per million tokens.
    price_in: Option<f64>,
    price_out: Option<f64>,
    prior_quality: Option<f64>,
    enabled: Option<bool>,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "only for the OpenAPI schema; `learn` parses the body")]
struct RewardRequestShape {
    explicit_weight: Option<f64>,
    implicit_weight: Option<f64>,
    latency_seconds: Option<[f64; 2]>,
    cost_weight: Option<f64>,
    cost_ref: Option<f64>,
    latency_weight: Option<f64>,
    latency_ref: Option<f64>,
    /// Rewards of interactions, for example {"dwell_ms>=30000": 0.8, "export": 1.0}.
    #[schema(value_type = Option<Object>)]
    overrides: Option<Value>,
}

/// A router with its learned state.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RouterBody {
    name: String,
    algorithm: Value,
    /// Log position up to which the router has learned.
    position: u64,
    arms: Vec<ArmBody>,
    trend: RewardTrendBody,
    spent_today: f64,
    /// Number of invalid computations that were replaced by the mean of the arm.
    faults: u64,
    /// Hybrid routers: estimated advantage of the contextual policy over Thompson sampling.
    #[serde(skip_serializing_if = "Option::is_none")]
    lead: Option<LeadBody>,
    #[schema(value_type = Object)]
    definition: Value,
    /// Summary for people.
    explanation: String,
}

#[derive(Debug, Serialize, ToSchema)]
struct ArmBody {
    id: String,
    enabled: bool,
    choices: u64,
    observations: u64,
    weight: f64,
    mean: f64,
    interval: [f64; 2],
    share: f64,
    /// Detected falls of the reward. Each dropped the observations from before it.
    falls: u64,
    cost: f64,
    expected_cost: Option<f64>,
}

#[derive(Debug, Serialize, ToSchema)]
struct RewardTrendBody {
    recent: MeanBody,
    before: MeanBody,
}

#[derive(Debug, Serialize, ToSchema)]
struct MeanBody {
    turns: usize,
    reward: Option<f64>,
}

#[derive(Debug, Serialize, ToSchema)]
struct LeadBody {
    estimate: f64,
    interval: [f64; 2],
    turns: f64,
    serving: bool,
}

impl From<RouterView> for RouterBody {
    fn from(view: RouterView) -> Self {
        let definition = json!(view.definition);
        Self {
            explanation: explain_router(&view),
            name: view.name,
            algorithm: definition["algorithm"].clone(),
            position: view.position.0,
            arms: view.arms.into_iter().map(ArmBody::from).collect(),
            trend: RewardTrendBody::from(view.trend),
            spent_today: view.spent_today,
            faults: view.faults,
            lead: view.lead.map(|lead| {
                let (estimate, interval) = (lead.estimate, lead.interval);
                LeadBody { estimate, interval, turns: lead.turns, serving: lead.serving }
            }),
            definition,
        }
    }
}

impl From<ArmSummary> for ArmBody {
    fn from(arm: ArmSummary) -> Self {
        Self {
            id: arm.id,
            enabled: arm.enabled,
            choices: arm.choices,
            observations: arm.observations,
            weight: arm.weight,
            mean: arm.mean,
            interval: arm.interval,
            share: arm.share,
            falls: arm.falls,
            cost: arm.cost,
            expected_cost: arm.expected_cost,
        }
    }
}

impl From<RewardTrend> for RewardTrendBody {
    fn from(trend: RewardTrend) -> Self {
        let mean = |(turns, reward)| MeanBody { turns, reward };
        Self { recent: mean(trend.recent), before: mean(trend.before) }
    }
}

/// Summarizes the state of a router for people.
fn explain_router(view: &RouterView) -> String {
    let known = view.arms.iter().filter(|arm| arm.enabled && arm.observations > 0);
    let best = known.max_by(|one, other| one.mean.total_cmp(&other.mean));
    let Some(best) = best else {
        return "No arm has observations yet: choices follow the algorithm, prior_quality and chance."
            .to_owned();
    };
    let seen: u64 = view.arms.iter().map(|arm| arm.observations).sum();
    let [low, high] = best.interval;
    let untried = view.arms.iter().find(|arm| arm.enabled && arm.observations == 0);
    let turns = if seen == 1 { "turn" } else { "turns" };
    let mut text = format!(
        "After {seen} observed {turns}, {}: mean reward {:.2} (95% interval {low:.2} to \
         {high:.2}), {:.0}% of the choices.",
        match untried {
            Some(_) => format!("{} has the highest mean so far", best.id),
            None => format!("{} looks best", best.id),
        },
        best.mean,
        best.share * 100.0
    );
    if let Some(arm) = untried {
        text.push_str(&format!(" {} has no observations yet.", arm.id));
        return text;
    }
    let unsure = view
        .arms
        .iter()
        .find(|arm| arm.enabled && arm.id != best.id && arm.interval[1] > best.interval[0]);
    if let Some(arm) = unsure {
        text.push_str(&format!(" This is not conclusive: {} may be as good.", arm.id));
    }
    text
}

/// Body of `POST /api/v1/route`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RouteRequestBody {
    pub(crate) router: String,
    pub(crate) text: Option<String>,
    pub(crate) turn_id: Option<String>,
    pub(crate) conversation_id: Option<String>,
    pub(crate) user_id: Option<String>,
    pub(crate) exclude: Option<Vec<String>>,
    pub(crate) max_cost: Option<f64>,
}

/// The chosen arm with its propensity.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RouteBody {
    decision_id: String,
    router: String,
    arm: String,
    propensity: f64,
    explore: bool,
    features_version: &'static str,
    scores: Vec<ScoreBody>,
    /// True when `exclude`, `max_cost` or the budget could not be honoured.
    relaxed: bool,
}

#[derive(Debug, Serialize, ToSchema)]
struct ScoreBody {
    arm: String,
    mean: f64,
    draw: f64,
    propensity: f64,
}

impl From<Route> for RouteBody {
    fn from(route: Route) -> Self {
        let score = |score: engine::RouteScore| ScoreBody {
            arm: score.arm,
            mean: score.mean,
            draw: score.draw,
            propensity: score.propensity,
        };
        Self {
            decision_id: route.decision_id,
            router: route.router,
            arm: route.arm,
            propensity: route.propensity,
            explore: route.explore,
            features_version: route.features_version,
            scores: route.scores.into_iter().map(score).collect(),
            relaxed: route.relaxed,
        }
    }
}

/// Body of `POST /api/v1/rewards`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RewardRequest {
    pub(crate) turn_id: String,
    pub(crate) user_id: Option<String>,
    pub(crate) quality_score: Option<f64>,
    pub(crate) user_rating: Option<f64>,
    pub(crate) met_expectations: Option<bool>,
}

/// Body of `POST /api/v1/policies/evaluate`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EvaluateRequest {
    pub(crate) router: String,
    pub(crate) policy: PolicyRequest,
    pub(crate) since: Option<TimeInput>,
}

/// The policy to evaluate.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum PolicyRequest {
    Fixed { arm: String },
    Random,
    Weights { weights: BTreeMap<String, f64> },
}

/// Renders the estimates, which are null without matching choices.
pub(crate) fn evaluation_json(found: &RouterEvaluation) -> Value {
    let mut body = match &found.estimates {
        // No logged choice matches the policy, so any estimate would be a guess.
        Some(estimates) if estimates.effective_n == 0.0 => json!({"ips": null, "snips": null,
            "dm": null, "dr": null, "n": estimates.n, "effective_n": 0.0}),
        Some(estimates) => json!(estimates),
        None => json!({"ips": null, "snips": null, "dm": null, "dr": null, "n": 0,
            "effective_n": 0.0}),
    };
    body["logged"] = json!(found.logged);
    body
}
