//! Which arm serves a request, and the credit of the turn that follows.
//!
//! ```text
//! request --features--> router: scores, draw --> choice --sealed--> decision_id
//!                                                    \--queue--> log
//! completed turn --decision_id, or the choice for the turn--> served by the arm, in its own commit
//! ```

use ingest::FindingPlace;
use learn::{
    ArmChoice, ChoiceRequest, FEATURES_VERSION, Router, Routers, dequantize_features,
    extract_features, quantize_features,
};
use model::hash::{GOLDEN_GAMMA, mix64};
use model::{
    Claim, ClaimSpace, ConversationId, Finding, RouterChoice, Scope, Timestamp, TurnId, UserId,
    Write,
};

use crate::changes::{changes_of, opening_of};
use crate::error::EngineError;
use crate::routing::Routing;
use crate::routing::Ticket;

const MICROS_PER_HOUR: i64 = 3_600_000_000;

/// A request that some arm must serve.
#[derive(Clone, Debug, Default)]
pub struct RouteRequest {
    /// Which router.
    pub router: String,
    /// What is asked.
    pub text: String,
    /// The turn it is for, if that has an id already.
    pub turn: Option<TurnId>,
    /// Its conversation.
    pub conversation: Option<ConversationId>,
    /// Whose.
    pub user: Option<UserId>,
    /// Arms that must not be chosen, unless nothing else is left.
    pub exclude: Vec<String>,
    /// What the call may cost, unless every arm costs more.
    pub max_cost: Option<f64>,
}

/// The choice that was made.
#[derive(Clone, Debug, PartialEq)]
pub struct Route {
    /// Give it back with the completed turn.
    pub decision_id: String,
    /// Which router chose.
    pub router: String,
    /// The arm.
    pub arm: String,
    /// How likely it was to be chosen.
    pub propensity: f64,
    /// Another arm looked better.
    pub explore: bool,
    /// Which features.
    pub features_version: &'static str,
    /// How every arm stood; none for a choice that was made before.
    pub scores: Vec<RouteScore>,
    /// `exclude`, `max_cost` or the budget had to be given up.
    pub relaxed: bool,
}

/// How one arm stood.
#[derive(Clone, Debug, PartialEq)]
pub struct RouteScore {
    /// Which.
    pub arm: String,
    /// The reward to expect of it.
    pub mean: f64,
    /// What it bid.
    pub draw: f64,
    /// How likely it was to be chosen.
    pub propensity: f64,
}

impl Routing {
    /// Chooses an arm. Reads what was learnt so far and waits for nothing.
    pub fn route(&self, scope: &Scope, request: &RouteRequest) -> Result<Route, EngineError> {
        let project = self.states.of(scope).ok_or(EngineError::NotFound("router"))?;
        // Asked again for the same turn, the answer is the same, unless that arm is not wanted now.
        let may_stand = |choice: &RouterChoice| {
            let wanted = choice.router == request.router && !request.exclude.contains(&choice.arm);
            wanted
                && request.max_cost.is_none()
                && project.with(|routers| is_enabled(routers, choice))
        };
        let before = request.turn.as_ref().and_then(|turn| project.choice_of(turn));
        if let Some(choice) = before.filter(may_stand) {
            return Ok(self.told_again(scope, choice));
        }
        let known = project
            .with(|routers| Some(routers.get(&request.router)?.state.total_choices()))
            .ok_or(EngineError::NotFound("router"))?;
        let made = project.made(&request.router, known);
        let (choice, chosen) = project
            .with(|routers| {
                let router = routers.get(&request.router)?;
                Some(self.choose(router, request, made))
            })
            .ok_or(EngineError::NotFound("router"))?;
        if let Some(first) = project.remember(request.turn.as_ref(), &choice, may_stand) {
            return Ok(self.told_again(scope, first));
        }
        self.choices.push(self.choice_write(scope, request, &choice));
        let faults = u64::from(chosen.faults);
        self.core.counters.routed(faults, chosen.relaxed);
        let scores = project.with(|routers| {
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
        Ok(Route {
            decision_id: Ticket::of(&choice).seal(&self.core.seal, scope),
            router: choice.router,
            arm: choice.arm,
            propensity: choice.propensity,
            explore: chosen.explore,
            features_version: FEATURES_VERSION,
            scores,
            relaxed: chosen.relaxed,
        })
    }

    fn told_again(&self, scope: &Scope, choice: RouterChoice) -> Route {
        Route {
            decision_id: Ticket::of(&choice).seal(&self.core.seal, scope),
            router: choice.router,
            arm: choice.arm,
            propensity: choice.propensity,
            explore: false,
            features_version: FEATURES_VERSION,
            scores: Vec::new(),
            relaxed: false,
        }
    }

    fn choose(
        &self,
        router: &Router,
        request: &RouteRequest,
        made: u64,
    ) -> (RouterChoice, ArmChoice) {
        let Router { rule, state } = router;
        let hours = hours_of(self.core.clock.now());
        let codes = match rule.algorithm().is_contextual() {
            false => Vec::new(),
            true => seen_in(&request.text, hours),
        };
        // Chosen by what will be learnt from, in the same steps.
        let seen = dequantize_features(&codes);
        let random = match rule.definition().seed {
            Some(seed) => mixed(seed, made),
            None => self.core.mint.number(),
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

    fn choice_write(&self, scope: &Scope, request: &RouteRequest, choice: &RouterChoice) -> Write {
        let now = self.core.clock.now();
        let place = FindingPlace {
            scope: scope.clone(),
            turn: request.turn.clone(),
            conversation: request.conversation.clone(),
            user: request.user.clone(),
        };
        // Without its features: who asked may be erased, and not be named here.
        let finding = Finding::Choice(RouterChoice { features: Vec::new(), ..choice.clone() });
        let event = ingest::finding_event(place, &finding, self.core.mint.event_id(now), now, now);
        let claim = Claim { space: ClaimSpace::Event, id: event.id.to_string(), mac: None };
        let changes = changes_of(&event);
        Write { claims: vec![claim], ..Write::new(event, changes) }
    }
}

pub(super) fn hours_of(time: Timestamp) -> i64 {
    time.as_micros().div_euclid(MICROS_PER_HOUR)
}

/// The features of a text, in bytes.
pub(super) fn seen_in(text: &str, hours: i64) -> Vec<i8> {
    let text = opening_of(text);
    // The built-in model: it is here, and it stays the same.
    let direction = embed::built_in().embed(text);
    let hour = u8::try_from(hours.rem_euclid(24)).unwrap_or(0);
    quantize_features(&extract_features(text, direction.values(), hour))
}

fn is_enabled(routers: &Routers, choice: &RouterChoice) -> bool {
    let arms = routers.get(&choice.router).map_or(&[][..], |router| router.rule.arms());
    arms.iter().any(|arm| arm.id == choice.arm && arm.enabled)
}

/// Random bits that a seed repeats.
fn mixed(seed: u64, count: u64) -> u64 {
    mix64(seed ^ count.wrapping_mul(GOLDEN_GAMMA))
}
