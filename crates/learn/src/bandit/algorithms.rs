//! Arm scores under each algorithm: mean, draw, and the probability that the draw is the highest.

use super::MAX_ARMS;
use super::best_arm_probability::{ScoreDensity, best_arm_probabilities};
use super::definition::{Algorithm, RouterRule};
use super::reward_sums::BetaCounts;
use super::ridge_regression::{FeatureVector, RewardPrediction};
use super::sampler::Sampler;
use super::state::{ArmState, RouterState, regression_prior};

/// Multiples of the regression's standard error used for exploration. Tuned on public routing
/// tables: larger values explore too long, smaller ones lock in.
const LINUCB_WIDTH: f64 = 0.5;
const LINTS_WIDTH: f64 = 0.15;
/// Weight of an observation in the Thompson draws. A weight of 1 samples the posterior itself,
/// which explores longer than a few thousand turns repay. Chapelle and Li (2011) halve the variance
/// for the same reason. Reported means and intervals use weight 1.
const THOMPSON_SHARPENING: f64 = 2.0;
/// Probability of a uniformly random arm under epsilon-greedy.
const EPSILON: f64 = 0.1;
/// Observations an arm needs before a hybrid router uses its regression.
const HYBRID_MIN_OBSERVATIONS: u64 = 10;

/// Scores of the eligible arms of one choice, in the order of `ArmScoring::indices`.
pub(super) struct ScoreBoard {
    pub(super) count: usize,
    pub(super) means: [f64; MAX_ARMS],
    pub(super) draws: [f64; MAX_ARMS],
    pub(super) chances: [f64; MAX_ARMS],
    pub(super) faults: u32,
}

impl ScoreBoard {
    fn new(count: usize) -> Self {
        let zeros = [0.0; MAX_ARMS];
        Self { count, means: zeros, draws: zeros, chances: zeros, faults: 0 }
    }

    /// The values of the eligible arms.
    pub(super) fn trim<'a>(&self, values: &'a [f64; MAX_ARMS]) -> &'a [f64] {
        &values[..self.count]
    }

    /// Gives all probability to the highest draw; ties share it equally.
    fn assign_to_winner(&mut self) {
        let best = self.trim(&self.draws).iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let equals = self.trim(&self.draws).iter().filter(|draw| **draw >= best).count().max(1);
        for index in 0..self.count {
            self.chances[index] = if self.draws[index] >= best { 1.0 / equals as f64 } else { 0.0 };
        }
    }

    /// Integrates the probabilities. On a numerical fault the highest mean gets everything.
    fn integrate_chances(&mut self, score: impl Fn(usize) -> Option<ScoreDensity>) {
        let mut scores = [ScoreDensity::NEVER_WINS; MAX_ARMS];
        let scores = &mut scores[..self.count];
        for (place, slot) in scores.iter_mut().enumerate() {
            match score(place) {
                Some(score) => *slot = score,
                None => self.faults += 1,
            }
        }
        let count = self.count;
        if best_arm_probabilities(scores, &mut self.chances[..count]).is_none() {
            self.faults += 1;
            self.draws = self.means;
            self.assign_to_winner();
        }
    }
}

pub(super) struct ArmScoring<'a> {
    pub(super) state: &'a RouterState,
    pub(super) rule: &'a RouterRule,
    pub(super) indices: &'a [usize],
    pub(super) point: Option<&'a FeatureVector>,
}

impl ArmScoring<'_> {
    /// Scores all arms. `Hybrid` scores the contextual candidate only.
    pub(super) fn score_arms(&self, algorithm: Algorithm, sampler: &mut Sampler) -> ScoreBoard {
        match algorithm {
            Algorithm::Thompson => self.score_thompson(sampler),
            Algorithm::LinTs => self.score_lints(sampler, 0),
            Algorithm::Hybrid => self.score_lints(sampler, HYBRID_MIN_OBSERVATIONS),
            Algorithm::LinUcb => self.score_linucb(),
            Algorithm::Ucb1 => self.score_ucb1(),
            Algorithm::EpsilonGreedy => self.score_epsilon_greedy(),
            Algorithm::Fixed => self.score_fixed(),
            Algorithm::Random => self.score_random(sampler),
        }
    }

    /// The arm's decayed counts, and false when its sums are inconsistent.
    fn arm_counts(&self, index: usize) -> (BetaCounts, bool) {
        let Some(arm) = self.state.find_arm(self.rule, index) else {
            return (BetaCounts::default(), true);
        };
        let remaining = self.state.arm_remaining(self.rule, arm);
        (arm.sums.decayed_counts(remaining), arm.sums.is_consistent())
    }

    fn arm_posterior(&self, index: usize) -> (f64, f64) {
        self.arm_counts(index).0.beta_posterior(self.rule.arms()[index].prior_quality, 1.0)
    }

    fn board_with_means(&self) -> ScoreBoard {
        let mut board = ScoreBoard::new(self.indices.len());
        for (place, index) in self.indices.iter().enumerate() {
            let (good, bad) = self.arm_posterior(*index);
            board.means[place] = good / (good + bad);
        }
        board
    }

    /// Samples without computing the probabilities.
    pub(super) fn sample_board(&self, algorithm: Algorithm, sampler: &mut Sampler) -> ScoreBoard {
        match algorithm {
            Algorithm::Thompson => self.sample_thompson(sampler).0,
            Algorithm::LinTs => self.sample_lints(sampler, 0).0,
            Algorithm::Hybrid => self.sample_lints(sampler, HYBRID_MIN_OBSERVATIONS).0,
            Algorithm::LinUcb
            | Algorithm::Ucb1
            | Algorithm::EpsilonGreedy
            | Algorithm::Fixed
            | Algorithm::Random => self.score_arms(algorithm, sampler),
        }
    }

    /// Returns the board and the Beta counts that each draw came from.
    fn sample_thompson(&self, sampler: &mut Sampler) -> (ScoreBoard, [(f64, f64); MAX_ARMS]) {
        let mut board = ScoreBoard::new(self.indices.len());
        let mut bids = [(0.0, 0.0); MAX_ARMS];
        for (place, index) in self.indices.iter().enumerate() {
            let (counts, sound) = self.arm_counts(*index);
            let prior = self.rule.arms()[*index].prior_quality;
            let (good, bad) = counts.beta_posterior(prior, 1.0);
            board.means[place] = good / (good + bad);
            board.faults += u32::from(!sound);
            let (good, bad) = counts.beta_posterior(prior, THOMPSON_SHARPENING);
            board.draws[place] = sampler.sample_beta(good, bad);
            bids[place] = (good, bad);
        }
        (board, bids)
    }

    fn score_thompson(&self, sampler: &mut Sampler) -> ScoreBoard {
        let (mut board, bids) = self.sample_thompson(sampler);
        board.integrate_chances(|place| ScoreDensity::from_beta(bids[place].0, bids[place].1));
        board
    }

    /// Falls back to the Beta posterior without a usable regression of `enough` observations.
    fn predict_arm(&self, index: usize, enough: u64, board: &mut ScoreBoard) -> RewardPrediction {
        let arm = self.state.find_arm(self.rule, index);
        let ready = arm.filter(|arm| arm.observations >= enough);
        let prediction = ready.and_then(|arm| self.predict_regression(arm, index));
        prediction.unwrap_or_else(|| {
            board.faults += u32::from(ready.is_some());
            let (good, bad) = self.arm_posterior(index);
            let all = good + bad;
            let deviation = (good * bad / (all * all * (all + 1.0))).sqrt();
            // Cancels the factor that callers apply to regression errors.
            RewardPrediction { mean: good / all, deviation: deviation / LINTS_WIDTH }
        })
    }

    fn predict_regression(&self, arm: &ArmState, index: usize) -> Option<RewardPrediction> {
        let prior = regression_prior(self.rule, &self.rule.arms()[index], arm.sums);
        arm.linear.as_ref()?.predict(self.point?, prior)
    }

    /// Returns the board and the standard deviation of each draw.
    fn sample_lints(&self, sampler: &mut Sampler, enough: u64) -> (ScoreBoard, [f64; MAX_ARMS]) {
        let mut board = ScoreBoard::new(self.indices.len());
        let mut deviations = [0.0; MAX_ARMS];
        for (place, index) in self.indices.iter().enumerate() {
            let prediction = self.predict_arm(*index, enough, &mut board);
            deviations[place] = (LINTS_WIDTH * prediction.deviation).max(1e-9);
            board.means[place] = prediction.mean;
            board.draws[place] = prediction.mean + deviations[place] * sampler.sample_normal();
        }
        (board, deviations)
    }

    fn score_lints(&self, sampler: &mut Sampler, enough: u64) -> ScoreBoard {
        let (mut board, deviations) = self.sample_lints(sampler, enough);
        let means = board.means;
        let score = |place: usize| ScoreDensity::from_normal(means[place], deviations[place]);
        board.integrate_chances(score);
        board
    }

    fn score_linucb(&self) -> ScoreBoard {
        let mut board = ScoreBoard::new(self.indices.len());
        for (place, index) in self.indices.iter().enumerate() {
            let prediction = self.predict_arm(*index, 0, &mut board);
            board.means[place] = prediction.mean;
            board.draws[place] = prediction.mean + LINUCB_WIDTH * prediction.deviation;
        }
        board.assign_to_winner();
        board
    }

    fn score_ucb1(&self) -> ScoreBoard {
        let mut board = self.board_with_means();
        let weight = |index: &usize| {
            let arm = self.state.find_arm(self.rule, *index);
            arm.map_or(0.0, |arm| arm.sums.weight() * self.state.arm_remaining(self.rule, arm))
        };
        let all: f64 = self.indices.iter().map(weight).sum();
        for (place, index) in self.indices.iter().enumerate() {
            let bonus = (2.0 * (1.0 + all).ln() / (weight(index) + 1e-3)).sqrt();
            board.draws[place] = board.means[place] + bonus;
        }
        board.assign_to_winner();
        board
    }

    fn score_epsilon_greedy(&self) -> ScoreBoard {
        let mut board = self.board_with_means();
        board.draws = board.means;
        board.assign_to_winner();
        let share = EPSILON / board.count as f64;
        for chance in &mut board.chances[..self.indices.len()] {
            *chance = (1.0 - EPSILON) * *chance + share;
        }
        board
    }

    fn score_fixed(&self) -> ScoreBoard {
        let mut board = self.board_with_means();
        board.draws[0] = 1.0;
        board.chances[0] = 1.0;
        board
    }

    fn score_random(&self, sampler: &mut Sampler) -> ScoreBoard {
        let mut board = self.board_with_means();
        for place in 0..board.count {
            board.draws[place] = sampler.sample_uniform();
            board.chances[place] = 1.0 / board.count as f64;
        }
        board
    }
}
