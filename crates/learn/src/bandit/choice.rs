//! Eligible arms, and the choice among them. Reads the learned state, changes nothing and never
//! fails.

use super::MAX_ARMS;
use super::algorithms::{ArmScoring, ScoreBoard};
use super::definition::{Algorithm, RouterRule};
use super::propensity_floor::{raise_to_floors, resample_with_floors};
use super::ridge_regression::FeatureVector;
use super::sampler::Sampler;
use super::shadow_evaluation::ShadowEstimate;
use super::state::RouterState;

/// Arms with fewer observations than this are new and get a higher floor.
const NEW_ARM_OBSERVATIONS: u64 = 5;
const NEW_ARM_MIN_PROPENSITY: f64 = 0.05;

#[derive(Clone, Copy, Debug, Default)]
pub struct ChoiceRequest<'a> {
    /// Must have the rule's feature count. Used by contextual algorithms only.
    pub features: &'a [f64],
    /// Arms to avoid; ignored when no other arm is left.
    pub exclude: &'a [String],
    /// Cost limit of a call; ignored when every arm costs more.
    pub max_cost: Option<f64>,
    /// Days since 1970, for the daily budget.
    pub day: i64,
    /// 64 random bits. The same bits give the same choice.
    pub random: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmScore {
    /// Index in the rule.
    pub arm: usize,
    pub mean: f64,
    /// Sampled score, or upper bound for UCB algorithms.
    pub draw: f64,
    pub propensity: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ArmChoice {
    /// Index in the rule.
    pub arm: usize,
    pub propensity: f64,
    /// True when another arm has the higher mean.
    pub explore: bool,
    /// All eligible arms.
    pub scores: Vec<ArmScore>,
    /// For hybrid routers; passed on with the turn's observation.
    pub shadow: Option<ShadowEstimate>,
    /// True when `exclude`, `max_cost` or the budget was ignored because no arm was left.
    pub relaxed: bool,
    /// Numerical faults; the arm's mean was used instead.
    pub faults: u32,
}

impl RouterState {
    pub fn choose_arm(&self, rule: &RouterRule, request: &ChoiceRequest<'_>) -> ArmChoice {
        let open = self.find_eligible_arms(rule, request);
        let point = feature_vector(rule, request);
        let (indices, point) = (open.indices(), point.as_ref());
        let scoring = ArmScoring { state: self, rule, indices, point };
        let mut sampler = Sampler::new(request.random);
        // A separate random stream: the shadow candidate must not influence the choice.
        let candidate = (rule.algorithm() == Algorithm::Hybrid)
            .then(|| scoring.score_arms(Algorithm::Hybrid, &mut Sampler::new(!request.random)));
        let algorithm = if candidate.is_some() { Algorithm::Thompson } else { rule.algorithm() };
        let present = scoring.score_arms(algorithm, &mut sampler);
        let serving = candidate.as_ref().filter(|_| self.comparison.serving).unwrap_or(&present);
        let mut choice = scoring.finish_choice(serving, &mut sampler);
        if let Some(candidate) = &candidate {
            choice.shadow = scoring.estimate_shadow(&choice, &present, candidate);
            choice.faults = present.faults + candidate.faults;
        }
        ArmChoice { relaxed: open.relaxed, ..choice }
    }

    /// The arm with the highest draw, without propensity and floors. Must not be logged.
    pub fn sample_arm(&self, rule: &RouterRule, request: &ChoiceRequest<'_>) -> Option<usize> {
        let open = self.find_eligible_arms(rule, request);
        let point = feature_vector(rule, request);
        let (indices, point) = (open.indices(), point.as_ref());
        let scoring = ArmScoring { state: self, rule, indices, point };
        let board = scoring.sample_board(rule.algorithm(), &mut Sampler::new(request.random));
        argmax(board.trim(&board.draws)).map(|place| open.indices()[place])
    }
}

impl ArmScoring<'_> {
    /// Applies the floors, draws the arm and records its propensity.
    fn finish_choice(&self, board: &ScoreBoard, sampler: &mut Sampler) -> ArmChoice {
        let lifted = self.floor_propensities(board);
        let drawn = match self.rule.algorithm() {
            Algorithm::Thompson | Algorithm::LinTs | Algorithm::Hybrid => {
                argmax(board.trim(&board.draws))
            }
            Algorithm::LinUcb
            | Algorithm::EpsilonGreedy
            | Algorithm::Ucb1
            | Algorithm::Fixed
            | Algorithm::Random => sampler.sample_index(board.trim(&board.chances).iter().copied()),
        };
        let place =
            resample_with_floors(sampler, drawn.unwrap_or(0), board.trim(&board.chances), &lifted);
        let scores = self.indices.iter().enumerate().map(|(place, index)| ArmScore {
            arm: *index,
            mean: board.means[place],
            draw: board.draws[place],
            propensity: lifted[place],
        });
        ArmChoice {
            arm: self.indices[place],
            propensity: lifted[place],
            explore: argmax(board.trim(&board.means)) != Some(place),
            scores: scores.collect(),
            shadow: None,
            relaxed: false,
            faults: board.faults,
        }
    }

    /// Applies the rule's minimum, and a higher one for new arms. Fixed routers have no floors.
    fn floor_propensities(&self, board: &ScoreBoard) -> [f64; MAX_ARMS] {
        if self.rule.algorithm() == Algorithm::Fixed {
            return board.chances;
        }
        let (mut floors, mut lifted) = ([0.0; MAX_ARMS], [0.0; MAX_ARMS]);
        let least = self.rule.definition().min_propensity;
        for (floor, index) in floors.iter_mut().zip(self.indices) {
            let arm = self.state.find_arm(self.rule, *index);
            let is_new = arm.is_none_or(|arm| arm.observations < NEW_ARM_OBSERVATIONS);
            *floor = if is_new { least.max(NEW_ARM_MIN_PROPENSITY) } else { least };
        }
        let count = board.count;
        raise_to_floors(board.trim(&board.chances), &mut floors[..count], &mut lifted[..count]);
        lifted
    }

    fn estimate_shadow(
        &self,
        choice: &ArmChoice,
        present: &ScoreBoard,
        candidate: &ScoreBoard,
    ) -> Option<ShadowEstimate> {
        let (before, after) =
            (self.floor_propensities(present), self.floor_propensities(candidate));
        let place = self.indices.iter().position(|index| *index == choice.arm)?;
        let (before, after) = (&before[..present.count], &after[..present.count]);
        ShadowEstimate::from_policies(
            place,
            choice.propensity,
            after,
            before,
            present.trim(&present.means),
        )
    }
}

fn feature_vector(rule: &RouterRule, request: &ChoiceRequest<'_>) -> Option<FeatureVector> {
    let contextual = rule.algorithm().is_contextual();
    contextual.then(|| FeatureVector::new(request.features, rule.definition().features)).flatten()
}

/// Index of the first maximum. NaN never wins.
fn argmax(values: &[f64]) -> Option<usize> {
    let numbers = values.iter().enumerate().filter(|(_, value)| !value.is_nan());
    numbers.reduce(|best, next| if next.1 > best.1 { next } else { best }).map(|(place, _)| place)
}

/// Token counts of a typical call, for price estimates before any call was paid.
const TYPICAL_INPUT_TOKENS: f64 = 500.0;
const TYPICAL_OUTPUT_TOKENS: f64 = 300.0;
/// Share of the daily budget from which expensive arms are dropped one by one.
const BUDGET_PRESSURE_START: f64 = 0.7;

/// Arms that are enabled, not excluded and within the cost limit, by their index in the rule.
struct EligibleArms {
    indices: [usize; MAX_ARMS],
    count: usize,
    /// True when a limit was ignored because no arm was left.
    relaxed: bool,
}

impl EligibleArms {
    fn indices(&self) -> &[usize] {
        &self.indices[..self.count]
    }

    fn collect_matching(keep: impl Fn(usize) -> bool, arms: usize) -> Self {
        let mut eligible = Self { indices: [0; MAX_ARMS], count: 0, relaxed: false };
        for index in (0..arms.min(MAX_ARMS)).filter(|index| keep(*index)) {
            eligible.indices[eligible.count] = index;
            eligible.count += 1;
        }
        eligible
    }
}

impl RouterState {
    /// Never empty for a validated rule: limits are relaxed rather than failing the request.
    fn find_eligible_arms(&self, rule: &RouterRule, request: &ChoiceRequest<'_>) -> EligibleArms {
        let arms = rule.arms();
        let enabled = |index: usize| arms[index].enabled;
        let wanted = |index: usize| enabled(index) && !request.exclude.contains(&arms[index].id);
        let mut open = EligibleArms::collect_matching(wanted, arms.len());
        if open.count == 0 {
            open = EligibleArms::collect_matching(enabled, arms.len());
            open.relaxed = true;
        }
        if request.max_cost.is_none() && rule.definition().daily_budget.is_none() {
            return open;
        }
        let mut costs = [None; MAX_ARMS];
        for index in open.indices() {
            costs[*index] = self.expected_cost(rule, *index);
        }
        let known = || open.indices().iter().filter_map(|index| costs[*index]);
        let Some(cheapest) = known().reduce(f64::min) else { return open };
        let priciest = known().fold(cheapest, f64::max);
        let limit = self.cost_limit(rule, request, cheapest, priciest);
        let affordable = |index: usize| costs[index].is_none_or(|cost| cost <= limit);
        let is_open = |index: usize| open.indices().contains(&index);
        let fits = |index: usize| is_open(index) && affordable(index);
        let mut kept = EligibleArms::collect_matching(fits, arms.len());
        kept.relaxed = open.relaxed;
        if kept.count == 0 {
            // Every arm exceeds the limit: fall back to the cheapest.
            let least = |index: usize| costs[index].is_some_and(|cost| cost <= cheapest);
            kept =
                EligibleArms::collect_matching(|index| is_open(index) && least(index), arms.len());
            kept.relaxed = true;
        }
        kept
    }

    /// Mean cost of past calls, else the list price; `None` when unknown.
    pub(super) fn expected_cost(&self, rule: &RouterRule, index: usize) -> Option<f64> {
        let paid = self.find_arm(rule, index).and_then(|arm| arm.mean_cost());
        paid.or_else(|| rule.arms()[index].price_call(TYPICAL_INPUT_TOKENS, TYPICAL_OUTPUT_TOKENS))
    }

    /// Falls from the most expensive arm's cost to the cheapest's as the daily budget runs out.
    fn cost_limit(
        &self,
        rule: &RouterRule,
        request: &ChoiceRequest<'_>,
        cheapest: f64,
        priciest: f64,
    ) -> f64 {
        let most = request.max_cost.filter(|most| !most.is_nan()).unwrap_or(f64::INFINITY);
        let Some(budget) = rule.definition().daily_budget else { return most };
        let used = self.spent_on(request.day) / budget;
        let pressure =
            ((used - BUDGET_PRESSURE_START) / (1.0 - BUDGET_PRESSURE_START)).clamp(0.0, 1.0);
        let budget_limit =
            if pressure >= 1.0 { cheapest } else { priciest - pressure * (priciest - cheapest) };
        most.min(budget_limit)
    }
}
