//! The choice of an arm. Reads what was learnt and changes nothing; never fails.

use super::MOST_ARMS;
use super::eligibility::eligible;
use super::propensity_floor::{divert, lift};
use super::ridge_regression::Point;
use super::sampler::Draws;
use super::definition::{Algorithm, RouterRule};
use super::algorithms::{Board, Scoring};
use super::shadow_evaluation::Shadow;
use super::state::RouterState;

/// An arm with fewer observations is new, and is tried whatever the others promise.
const NEW: u64 = 5;
/// The least chance of a new arm.
const NEW_FLOOR: f64 = 0.05;

/// What a choice is made from.
#[derive(Clone, Copy, Debug, Default)]
pub struct Choosing<'a> {
    /// The request's features, as many as the rule says; only contextual algorithms look at them.
    pub features: &'a [f64],
    /// Arms that must not be chosen, unless nothing else is left.
    pub exclude: &'a [String],
    /// What a call may cost, unless every arm costs more.
    pub max_cost: Option<f64>,
    /// Days since 1970, for the daily budget.
    pub day: i64,
    /// Sixty-four random bits. The same bits make the same choice.
    pub random: u64,
}

/// How one arm stood.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmScore {
    /// Its index in the rule.
    pub arm: usize,
    /// The reward to expect of it.
    pub mean: f64,
    /// What it bid.
    pub draw: f64,
    /// How likely it was to be chosen.
    pub propensity: f64,
}

/// A choice and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The chosen arm's index in the rule.
    pub arm: usize,
    /// How likely it was to be chosen.
    pub propensity: f64,
    /// Another arm had the better mean.
    pub explore: bool,
    /// Every arm that could have been chosen.
    pub scores: Vec<ArmScore>,
    /// For a hybrid: what to hand in with the turn's observation.
    pub shadow: Option<Shadow>,
    /// `exclude`, `max_cost` or the budget had to be given up: nothing would have been left.
    pub relaxed: bool,
    /// How often numbers went wrong; the arm's mean stood in.
    pub faults: u32,
}

impl RouterState {
    /// Chooses an arm for one request.
    pub fn choose(&self, rule: &RouterRule, choosing: &Choosing<'_>) -> Choice {
        let open = eligible(self, rule, choosing);
        let point = point(rule, choosing);
        let scoring = Scoring { state: self, rule, indices: open.indices(), point: point.as_ref() };
        let mut draws = Draws::new(choosing.random);
        let pair = (rule.algorithm() == Algorithm::Hybrid).then(|| {
            // Numbers of its own: what runs in the shadow must not change what is chosen.
            let mut apart = Draws::new(!choosing.random);
            let candidate = scoring.board(Algorithm::Hybrid, &mut apart);
            (scoring.board(Algorithm::Thompson, &mut draws), candidate)
        });
        let mut choice = match &pair {
            None => self.settle(&scoring, &scoring.board(rule.algorithm(), &mut draws), &mut draws),
            Some((present, candidate)) => {
                let serving = if self.comparison.serving { candidate } else { present };
                self.settle(&scoring, serving, &mut draws)
            }
        };
        if let Some((present, candidate)) = &pair {
            choice.shadow = self.shadow(&scoring, &choice, present, candidate);
            choice.faults = present.faults + candidate.faults;
        }
        choice.relaxed = open.relaxed;
        choice
    }

    /// The chances of every eligible arm, by its index in the rule; 0 for the others. For
    /// evaluating a policy on the choices of another.
    pub fn propensities(&self, rule: &RouterRule, choosing: &Choosing<'_>) -> Vec<f64> {
        let mut chances = vec![0.0; rule.arms().len()];
        for score in self.choose(rule, choosing).scores {
            chances[score.arm] = score.propensity;
        }
        chances
    }

    /// The arm with the highest draw, without its propensity and without floors: nothing that is
    /// logged should be chosen so.
    pub fn draw(&self, rule: &RouterRule, choosing: &Choosing<'_>) -> Option<usize> {
        let open = eligible(self, rule, choosing);
        let point = point(rule, choosing);
        let scoring = Scoring { state: self, rule, indices: open.indices(), point: point.as_ref() };
        let board = scoring.drawn(rule.algorithm(), &mut Draws::new(choosing.random));
        highest(board.draws()).map(|place| open.indices()[place])
    }

    /// From a board to a choice: floors, the draw, and the chance it had.
    fn settle(&self, scoring: &Scoring<'_>, board: &Board, draws: &mut Draws) -> Choice {
        let mut lifted = [0.0; MOST_ARMS];
        let lifted = &mut lifted[..board.count];
        self.lifted(scoring, board, lifted);
        let drawn = match scoring.rule.algorithm() {
            Algorithm::Thompson | Algorithm::LinTs | Algorithm::Hybrid => highest(board.draws()),
            Algorithm::LinUcb
            | Algorithm::EpsilonGreedy
            | Algorithm::Ucb1
            | Algorithm::Fixed
            | Algorithm::Random => draws.pick(board.chances()),
        };
        let place = divert(draws, drawn.unwrap_or(0), board.chances(), lifted);
        let scores = scoring.indices.iter().enumerate().map(|(place, index)| ArmScore {
            arm: *index,
            mean: board.means[place],
            draw: board.draws[place],
            propensity: lifted[place],
        });
        Choice {
            arm: scoring.indices[place],
            propensity: lifted[place],
            explore: highest(board.means()) != Some(place),
            scores: scores.collect(),
            shadow: None,
            relaxed: false,
            faults: board.faults,
        }
    }

    /// Chances with their floors: everyone's, and a higher one for new arms. A fixed arm stays
    /// fixed.
    fn lifted(&self, scoring: &Scoring<'_>, board: &Board, lifted: &mut [f64]) {
        if scoring.rule.algorithm() == Algorithm::Fixed {
            lifted.copy_from_slice(board.chances());
            return;
        }
        let mut floors = [0.0; MOST_ARMS];
        let least = scoring.rule.definition().min_propensity;
        for (floor, index) in floors.iter_mut().zip(scoring.indices) {
            let arm = self.arm_at(scoring.rule, *index);
            let is_new = arm.is_none_or(|arm| arm.observations < NEW);
            *floor = if is_new { least.max(NEW_FLOOR) } else { least };
        }
        lift(board.chances(), &mut floors[..board.count], lifted);
    }

    fn shadow(
        &self,
        scoring: &Scoring<'_>,
        choice: &Choice,
        present: &Board,
        candidate: &Board,
    ) -> Option<Shadow> {
        let count = present.count;
        let (mut before, mut after) = ([0.0; MOST_ARMS], [0.0; MOST_ARMS]);
        self.lifted(scoring, present, &mut before[..count]);
        self.lifted(scoring, candidate, &mut after[..count]);
        let place = scoring.indices.iter().position(|index| *index == choice.arm)?;
        Shadow::of(place, choice.propensity, &after[..count], &before[..count], present.means())
    }
}

fn point(rule: &RouterRule, choosing: &Choosing<'_>) -> Option<Point> {
    let contextual = rule.algorithm().is_contextual();
    contextual.then(|| Point::new(choosing.features, rule.definition().features)).flatten()
}

/// The first of the highest; numbers that are none never win.
fn highest(values: &[f64]) -> Option<usize> {
    let numbers = values.iter().enumerate().filter(|(_, value)| !value.is_nan());
    numbers.reduce(|best, next| if next.1 > best.1 { next } else { best }).map(|(place, _)| place)
}
