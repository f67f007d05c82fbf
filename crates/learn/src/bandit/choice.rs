//! Arm choice. Reads the learned state, changes nothing and never fails.

use super::MAX_ARMS;
use super::algorithms::{ArmScoring, ScoreBoard};
use super::definition::{Algorithm, RouterRule};
use super::eligibility::find_eligible_arms;
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
        let open = find_eligible_arms(self, rule, request);
        let point = feature_vector(rule, request);
        let (indices, point) = (open.indices(), point.as_ref());
        let scoring = ArmScoring { state: self, rule, indices, point };
        let mut sampler = Sampler::new(request.random);
        let pair = (rule.algorithm() == Algorithm::Hybrid).then(|| {
            // A separate random stream: the shadow candidate must not influence the choice.
            let mut shadow_sampler = Sampler::new(!request.random);
            let candidate = scoring.score_arms(Algorithm::Hybrid, &mut shadow_sampler);
            (scoring.score_arms(Algorithm::Thompson, &mut sampler), candidate)
        });
        let mut choice = match &pair {
            None => {
                let board = scoring.score_arms(rule.algorithm(), &mut sampler);
                self.finish_choice(&scoring, &board, &mut sampler)
            }
            Some((present, candidate)) => {
                let serving = if self.comparison.serving { candidate } else { present };
                self.finish_choice(&scoring, serving, &mut sampler)
            }
        };
        if let Some((present, candidate)) = &pair {
            choice.shadow = self.estimate_shadow(&scoring, &choice, present, candidate);
            choice.faults = present.faults + candidate.faults;
        }
        choice.relaxed = open.relaxed;
        choice
    }

    /// The propensity of every arm of the rule, 0 for ineligible ones.
    pub fn compute_propensities(&self, rule: &RouterRule, request: &ChoiceRequest<'_>) -> Vec<f64> {
        let mut chances = vec![0.0; rule.arms().len()];
        for score in self.choose_arm(rule, request).scores {
            chances[score.arm] = score.propensity;
        }
        chances
    }

    /// The arm with the highest draw, without propensity and floors. Must not be logged.
    pub fn sample_arm(&self, rule: &RouterRule, request: &ChoiceRequest<'_>) -> Option<usize> {
        let open = find_eligible_arms(self, rule, request);
        let point = feature_vector(rule, request);
        let (indices, point) = (open.indices(), point.as_ref());
        let scoring = ArmScoring { state: self, rule, indices, point };
        let board = scoring.sample_board(rule.algorithm(), &mut Sampler::new(request.random));
        argmax(board.draws()).map(|place| open.indices()[place])
    }

    /// Applies the floors, draws the arm and records its propensity.
    fn finish_choice(
        &self,
        scoring: &ArmScoring<'_>,
        board: &ScoreBoard,
        sampler: &mut Sampler,
    ) -> ArmChoice {
        let mut lifted = [0.0; MAX_ARMS];
        let lifted = &mut lifted[..board.count];
        self.floor_propensities(scoring, board, lifted);
        let drawn = match scoring.rule.algorithm() {
            Algorithm::Thompson | Algorithm::LinTs | Algorithm::Hybrid => argmax(board.draws()),
            Algorithm::LinUcb
            | Algorithm::EpsilonGreedy
            | Algorithm::Ucb1
            | Algorithm::Fixed
            | Algorithm::Random => sampler.sample_index(board.chances()),
        };
        let place = resample_with_floors(sampler, drawn.unwrap_or(0), board.chances(), lifted);
        let scores = scoring.indices.iter().enumerate().map(|(place, index)| ArmScore {
            arm: *index,
            mean: board.means[place],
            draw: board.draws[place],
            propensity: lifted[place],
        });
        ArmChoice {
            arm: scoring.indices[place],
            propensity: lifted[place],
            explore: argmax(board.means()) != Some(place),
            scores: scores.collect(),
            shadow: None,
            relaxed: false,
            faults: board.faults,
        }
    }

    /// Applies the rule's minimum, and a higher one for new arms. Fixed routers have no floors.
    fn floor_propensities(&self, scoring: &ArmScoring<'_>, board: &ScoreBoard, lifted: &mut [f64]) {
        if scoring.rule.algorithm() == Algorithm::Fixed {
            lifted.copy_from_slice(board.chances());
            return;
        }
        let mut floors = [0.0; MAX_ARMS];
        let least = scoring.rule.definition().min_propensity;
        for (floor, index) in floors.iter_mut().zip(scoring.indices) {
            let arm = self.find_arm(scoring.rule, *index);
            let is_new = arm.is_none_or(|arm| arm.observations < NEW_ARM_OBSERVATIONS);
            *floor = if is_new { least.max(NEW_ARM_MIN_PROPENSITY) } else { least };
        }
        raise_to_floors(board.chances(), &mut floors[..board.count], lifted);
    }

    fn estimate_shadow(
        &self,
        scoring: &ArmScoring<'_>,
        choice: &ArmChoice,
        present: &ScoreBoard,
        candidate: &ScoreBoard,
    ) -> Option<ShadowEstimate> {
        let count = present.count;
        let (mut before, mut after) = ([0.0; MAX_ARMS], [0.0; MAX_ARMS]);
        self.floor_propensities(scoring, present, &mut before[..count]);
        self.floor_propensities(scoring, candidate, &mut after[..count]);
        let place = scoring.indices.iter().position(|index| *index == choice.arm)?;
        let (after, before) = (&after[..count], &before[..count]);
        ShadowEstimate::from_policies(place, choice.propensity, after, before, present.means())
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
