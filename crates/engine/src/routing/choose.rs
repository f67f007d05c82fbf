//! Chooses the arm that serves a request.
//!
//! ```text
//! request --features--> router: scores, draw --> choice --seal--> decision_id
//!                                                    \--queue--> log
//! completed turn --decision_id, or the choice for the turn--> finding `served`
//! ```

use ingest::FindingPlace;
use learn::{
    ArmChoice, ChoiceRequest, FEATURES_VERSION, Router, Routers, dequantize_features,
    extract_features, quantize_features,
};
use model::hash::{GOLDEN_GAMMA, mix64};
use model::{
    ConversationId, Finding, Redacted, RouterChoice, Scope, Timestamp, TurnId, UserId, Write,
};

use crate::changes::truncate_for_embedding;
use crate::core::build_redacted_write;
use crate::error::EngineError;
use crate::routing::DecisionToken;
use crate::routing::Routing;

const MICROS_PER_HOUR: i64 = 3_600_000_000;

/// A request for an arm.
#[derive(Clone, Debug, Default)]
pub struct RouteRequest {
    pub router: String,
    pub text: String,
    /// The turn, if it already has an id.
    pub turn: Option<TurnId>,
    pub conversation: Option<ConversationId>,
    pub user: Option<UserId>,
    /// Arms to avoid, unless no other arm is left.
    pub exclude: Vec<String>,
    /// Cost limit of the call, unless every arm costs more.
    pub max_cost: Option<f64>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Route {
    /// The client sends it back with the completed turn.
    pub decision_id: String,
    pub router: String,
    pub arm: String,
    /// Probability of this choice.
    pub propensity: f64,
    /// True when another arm had a higher mean.
    pub explore: bool,
    pub features_version: &'static str,
    /// Scores of all arms; empty when an earlier choice is repeated.
    pub scores: Vec<RouteScore>,
    /// True when `exclude`, `max_cost` or the budget could not be met.
    pub relaxed: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct RouteScore {
    pub arm: String,
    /// The mean of the expected reward.
    pub mean: f64,
    /// The reward of this draw.
    pub draw: f64,
    /// Probability of this choice.
    pub propensity: f64,
}

impl Routing {
    /// Chooses an arm by the current state, without I/O.
    pub fn choose_route(
        &self,
        scope: &Scope,
        request: &RouteRequest,
    ) -> Result<Route, EngineError> {
        let project = self.states.find_project(scope).ok_or(EngineError::NotFound("router"))?;
        // A repeated request for a turn gets the same arm, unless the request rules it out.
        let may_stand = |choice: &RouterChoice| {
            let wanted = choice.router == request.router && !request.exclude.contains(&choice.arm);
            wanted
                && request.max_cost.is_none()
                && project.read_routers(|routers| is_enabled(routers, choice))
        };
        let before =
            request.turn.as_ref().and_then(|turn| project.recent_choices().find_choice(turn));
        if let Some(choice) = before.filter(may_stand) {
            return Ok(self.repeat_route(scope, choice));
        }
        let known = project
            .read_routers(|routers| Some(routers.get(&request.router)?.state.total_choices()))
            .ok_or(EngineError::NotFound("router"))?;
        let made = project.recent_choices().count_choices(&request.router, known);
        let (choice, chosen) = project
            .read_routers(|routers| {
                let router = routers.get(&request.router)?;
                Some(self.draw_arm(router, request, made))
            })
            .ok_or(EngineError::NotFound("router"))?;
        let turn = request.turn.as_ref();
        let first = project.recent_choices().remember_choice(turn, &choice, may_stand);
        if let Some(first) = first {
            return Ok(self.repeat_route(scope, first));
        }
        self.choices.push(self.build_choice_write(scope, request, &choice));
        let faults = u64::from(chosen.faults);
        self.core.counters.count_route(faults, chosen.relaxed);
        let scores = project.read_routers(|routers| {
            let router = routers.get(&request.router);
            let arms = router.map_or(&[][..], |router| router.rule.arms());
            let score = |score: &learn::ArmScore| {
                Some(RouteScore {
                    arm: arms.get(score.arm)?.id.clone(),
                    mean: score.mean,
                    draw: score.draw,
                    propensity: score.propensity,
                })
            };
            chosen.scores.iter().filter_map(score).collect()
        });
        let route = self.repeat_route(scope, choice);
        Ok(Route { explore: chosen.explore, scores, relaxed: chosen.relaxed, ..route })
    }

    /// The route of a known choice, without scores.
    fn repeat_route(&self, scope: &Scope, choice: RouterChoice) -> Route {
        Route {
            decision_id: DecisionToken::from_choice(&choice).seal(&self.core.seal, scope),
            router: choice.router,
            arm: choice.arm,
            propensity: choice.propensity,
            explore: false,
            features_version: FEATURES_VERSION,
            scores: Vec::new(),
            relaxed: false,
        }
    }

    fn draw_arm(
        &self,
        router: &Router,
        request: &RouteRequest,
        made: u64,
    ) -> (RouterChoice, ArmChoice) {
        let Router { rule, state } = router;
        let hours = unix_hours(self.core.clock.now());
        let codes = match rule.algorithm().is_contextual() {
            false => Vec::new(),
            true => encode_features(&request.text, hours),
        };
        // The choice uses the quantised features, as learning will.
        let seen = dequantize_features(&codes);
        let random = match rule.definition().seed {
            Some(seed) => mix_seed(seed, made),
            None => self.core.ids.random_u64(),
        };
        let chosen = state.choose_arm(
            rule,
            &ChoiceRequest {
                features: &seen,
                exclude: &request.exclude,
                max_cost: request.max_cost,
                day: hours.div_euclid(24),
                random,
            },
        );
        let choice = RouterChoice {
            router: request.router.clone(),
            arm: rule.arms()[chosen.arm].id.clone(),
            propensity: chosen.propensity,
            features_version: FEATURES_VERSION.to_owned(),
            features: seen.iter().map(|value| *value as f32).collect(),
            shadow: chosen.shadow.map(|shadow| (shadow.offset, shadow.slope)),
        };
        (choice, chosen)
    }

    fn build_choice_write(
        &self,
        scope: &Scope,
        request: &RouteRequest,
        choice: &RouterChoice,
    ) -> Write {
        let now = self.core.clock.now();
        let place = FindingPlace {
            scope: scope.clone(),
            turn: request.turn.clone(),
            conversation: request.conversation.clone(),
            user: request.user.clone(),
        };
        // Stored without features: they derive from the user's text, and the event may not name the user.
        let finding = Finding::Choice(RouterChoice { features: Vec::new(), ..choice.clone() });
        let event = ingest::finding_event(place, finding, self.core.ids.event_id(now), now, now);
        build_redacted_write(Redacted::assert_no_user_text(event), None, None)
    }
}

pub(super) fn unix_hours(time: Timestamp) -> i64 {
    time.as_micros().div_euclid(MICROS_PER_HOUR)
}

/// Quantised features of a text.
pub(super) fn encode_features(text: &str, hours: i64) -> Vec<i8> {
    let text = truncate_for_embedding(text);
    // Always the built-in model: it is local and never changes.
    let direction = embed::built_in().embed(text);
    let hour = u8::try_from(hours.rem_euclid(24)).unwrap_or(0);
    quantize_features(&extract_features(text, direction.values(), hour))
}

fn is_enabled(routers: &Routers, choice: &RouterChoice) -> bool {
    let arms = routers.get(&choice.router).map_or(&[][..], |router| router.rule.arms());
    arms.iter().any(|arm| arm.id == choice.arm && arm.enabled)
}

/// Reproducible random bits for the `count`-th choice of a seeded router.
fn mix_seed(seed: u64, count: u64) -> u64 {
    mix64(seed ^ count.wrapping_mul(GOLDEN_GAMMA))
}
