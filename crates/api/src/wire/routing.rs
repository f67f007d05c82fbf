//! Routers on the wire.

use std::collections::BTreeMap;

use engine::{ArmSummary, Evaluation, PolicyEvaluation, RewardTrend, Route, RouterView};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

/// `PUT /api/v1/routers/{name}`: the shape for the reference; `learn` reads it.
#[derive(ToSchema)]
#[expect(dead_code, reason = "the shape is for the reference")]
pub(crate) struct RouterRequest {
    arms: Vec<ArmRequest>,
    /// thompson, linucb, lints, hybrid, epsilon_greedy, ucb1, fixed or random.
    algorithm: Option<String>,
    reward: Option<RewardRequestShape>,
    /// A factor per observation, {"half_life_observations": N} or {"half_life_days": N}.
    #[schema(value_type = Option<Object>)]
    discount: Option<Value>,
    /// The least chance of an enabled arm.
    min_propensity: Option<f64>,
    daily_budget: Option<f64>,
    seed: Option<u64>,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "the shape is for the reference")]
struct ArmRequest {
    id: String,
    /// Per million tokens.
    price_in: Option<f64>,
    price_out: Option<f64>,
    prior_quality: Option<f64>,
    enabled: Option<bool>,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "the shape is for the reference")]
struct RewardRequestShape {
    explicit_weight: Option<f64>,
    implicit_weight: Option<f64>,
    latency_seconds: Option<[f64; 2]>,
    cost_weight: Option<f64>,
    cost_ref: Option<f64>,
    latency_weight: Option<f64>,
    latency_ref: Option<f64>,
    /// For example {"dwell_ms>=30000": 0.8, "export": 1.0}.
    #[schema(value_type = Option<Object>)]
    overrides: Option<Value>,
}

/// A router, explained.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RouterBody {
    name: String,
    algorithm: Value,
    /// Up to where in the log it has learnt.
    position: u64,
    arms: Vec<ArmBody>,
    trend: RewardTrendBody,
    spent_today: f64,
    /// How often numbers went wrong; the arm's mean stood in.
    faults: u64,
    /// For a hybrid: how far its contextual candidate is ahead of Thompson.
    #[serde(skip_serializing_if = "Option::is_none")]
    lead: Option<LeadBody>,
    #[schema(value_type = Object)]
    definition: Value,
    /// The same in words.
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
            explanation: explanation(&view),
            name: view.name,
            algorithm: definition["algorithm"].clone(),
            position: view.position.0,
            arms: view.arms.into_iter().map(ArmBody::from).collect(),
            trend: RewardTrendBody::from(view.trend),
            spent_today: view.spent_today,
            faults: view.faults,
            lead: view.lead.map(|lead| LeadBody {
                estimate: lead.estimate,
                interval: lead.interval,
                turns: lead.turns,
                serving: lead.serving,
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

/// What a person would say about it.
fn explanation(view: &RouterView) -> String {
    let known = view.arms.iter().filter(|arm| arm.enabled && arm.observations > 0);
    let best = known.max_by(|one, other| one.mean.total_cmp(&other.mean));
    let Some(best) = best else {
        return "Nothing is known of any arm yet: the algorithm, prior_quality and chance decide."
            .to_owned();
    };
    let seen: u64 = view.arms.iter().map(|arm| arm.observations).sum();
    let [low, high] = best.interval;
    let untried = view.arms.iter().find(|arm| arm.enabled && arm.observations == 0);
    let turns = if seen == 1 { "turn" } else { "turns" };
    let mut text = format!(
        "After {seen} observed {turns} {}: a turn it serves earns {:.2} of 1 ({low:.2} to \
         {high:.2}), and it gets {:.0}% of the choices.",
        match untried {
            Some(_) => format!("more is known of {} than of others", best.id),
            None => format!("{} looks best", best.id),
        },
        best.mean,
        best.share * 100.0
    );
    if let Some(arm) = untried {
        text.push_str(&format!(" Nothing is known of {} yet.", arm.id));
        return text;
    }
    let unsure = view
        .arms
        .iter()
        .find(|arm| arm.enabled && arm.id != best.id && arm.interval[1] > best.interval[0]);
    if let Some(arm) = unsure {
        text.push_str(&format!(" That is not settled: {} may be as good.", arm.id));
    }
    text
}

/// `POST /api/v1/route`
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

/// The choice of an arm.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RouteBody {
    decision_id: String,
    router: String,
    arm: String,
    propensity: f64,
    explore: bool,
    features_version: &'static str,
    scores: Vec<ScoreBody>,
    /// `exclude`, `max_cost` or the budget had to be given up.
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

/// `POST /api/v1/rewards`
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RewardRequest {
    pub(crate) turn_id: String,
    pub(crate) user_id: Option<String>,
    pub(crate) quality_score: Option<f64>,
    pub(crate) user_rating: Option<f64>,
    pub(crate) met_expectations: Option<bool>,
}

/// `POST /api/v1/policies/evaluate`
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EvaluateRequest {
    pub(crate) router: String,
    pub(crate) policy: PolicyRequest,
    pub(crate) since: Option<String>,
}

/// Another way to choose.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum PolicyRequest {
    Fixed { arm: String },
    Random,
    Weights { weights: BTreeMap<String, f64> },
}

/// The estimates as they are shown. Without anything to learn from they are null.
pub(crate) fn evaluation_json(found: &PolicyEvaluation) -> Value {
    let mut body = match &found.estimates {
        // Nothing that was chosen is what the policy would choose: any estimate would be a guess.
        Some(estimates) if estimates.effective_n == 0.0 => json!({"ips": null, "snips": null,
            "dm": null, "dr": null, "n": estimates.n, "effective_n": 0.0}),
        Some(estimates) => estimates_json(estimates),
        None => json!({"ips": null, "snips": null, "dm": null, "dr": null, "n": 0,
            "effective_n": 0.0}),
    };
    body["logged"] = json!(found.logged);
    body
}

fn estimates_json(estimates: &Evaluation) -> Value {
    json!(estimates)
}
