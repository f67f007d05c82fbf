//! How every eligible arm scores under an algorithm: its mean, its draw, and how often a draw of
//! it would be the highest.

use super::MOST_ARMS;
use super::best_arm_probability::{Score, likeliest};
use super::ridge_regression::{Guess, Point};
use super::sampler::Draws;
use super::definition::{Algorithm, RouterRule};
use super::state::{Arm, RouterState, prior_of};
use super::reward_sums::Counts;

/// Deviations of the regression that count as uncertainty. Found on public routing tables: more
/// explores too long, less locks in.
const LINUCB: f64 = 0.5;
const LINTS: f64 = 0.15;
/// How much an observation counts for the draws. With 1 they would come from the posterior itself,
/// which explores longer than a few thousand turns repay (Chapelle and Li, 2011, halve its variance
/// for the same reason). Means and intervals are shown as they are.
const SHARPER: f64 = 2.0;
/// How often any arm is taken instead of the best.
const EPSILON: f64 = 0.1;
/// Observations from which a hybrid's regression speaks for an arm.
const ENOUGH: u64 = 10;

/// The arms of one choice, side by side.
pub(super) struct Board {
    pub(super) count: usize,
    pub(super) means: [f64; MOST_ARMS],
    pub(super) draws: [f64; MOST_ARMS],
    pub(super) chances: [f64; MOST_ARMS],
    pub(super) faults: u32,
}

impl Board {
    fn new(count: usize) -> Self {
        let zeros = [0.0; MOST_ARMS];
        Self { count, means: zeros, draws: zeros, chances: zeros, faults: 0 }
    }

    pub(super) fn means(&self) -> &[f64] {
        &self.means[..self.count]
    }

    pub(super) fn draws(&self) -> &[f64] {
        &self.draws[..self.count]
    }

    pub(super) fn chances(&self) -> &[f64] {
        &self.chances[..self.count]
    }

    /// The highest draw takes all; equals share.
    fn winner_takes_all(&mut self) {
        let best = self.draws().iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let equals = self.draws().iter().filter(|draw| **draw >= best).count().max(1);
        for index in 0..self.count {
            self.chances[index] = if self.draws[index] >= best { 1.0 / equals as f64 } else { 0.0 };
        }
    }

    /// Integrates the chances; when that fails, the best mean takes all.
    fn integrate(&mut self, score: impl Fn(usize) -> Option<Score>) {
        let mut scores = [Score::NONE; MOST_ARMS];
        let scores = &mut scores[..self.count];
        for (place, slot) in scores.iter_mut().enumerate() {
            match score(place) {
                Some(score) => *slot = score,
                None => self.faults += 1,
            }
        }
        let count = self.count;
        if likeliest(scores, &mut self.chances[..count]).is_none() {
            self.faults += 1;
            self.draws = self.means;
            self.winner_takes_all();
        }
    }
}

/// What is looked at while scoring.
pub(super) struct Scoring<'a> {
    pub(super) state: &'a RouterState,
    pub(super) rule: &'a RouterRule,
    pub(super) indices: &'a [usize],
    pub(super) point: Option<&'a Point>,
}

impl Scoring<'_> {
    /// Scores by an algorithm; a hybrid's two sides are scored by name.
    pub(super) fn board(&self, algorithm: Algorithm, draws: &mut Draws) -> Board {
        match algorithm {
            Algorithm::Thompson => self.thompson(draws),
            Algorithm::LinTs => self.lints(draws, 0),
            Algorithm::Hybrid => self.lints(draws, ENOUGH),
            Algorithm::LinUcb => self.linucb(),
            Algorithm::Ucb1 => self.ucb1(),
            Algorithm::EpsilonGreedy => self.epsilon_greedy(),
            Algorithm::Fixed => self.fixed(),
            Algorithm::Random => self.random(draws),
        }
    }

    /// What an arm has been worth so far, as far as it has not faded.
    fn counts(&self, index: usize) -> (Counts, bool) {
        let Some(arm) = self.state.arm_at(self.rule, index) else {
            return (Counts::default(), true);
        };
        (arm.sums.counts(self.state.left(self.rule, arm)), arm.sums.are_sound())
    }

    /// The Beta posterior of an arm.
    fn posterior(&self, index: usize) -> (f64, f64) {
        self.counts(index).0.posterior(self.rule.arms()[index].prior_quality, 1.0)
    }

    fn with_means(&self) -> Board {
        let mut board = Board::new(self.indices.len());
        for (place, index) in self.indices.iter().enumerate() {
            let (good, bad) = self.posterior(*index);
            board.means[place] = good / (good + bad);
        }
        board
    }

    /// Draws without their chances.
    pub(super) fn drawn(&self, algorithm: Algorithm, draws: &mut Draws) -> Board {
        match algorithm {
            Algorithm::Thompson => self.thompson_draws(draws).0,
            Algorithm::LinTs => self.lints_draws(draws, 0).0,
            Algorithm::Hybrid => self.lints_draws(draws, ENOUGH).0,
            Algorithm::LinUcb
            | Algorithm::Ucb1
            | Algorithm::EpsilonGreedy
            | Algorithm::Fixed
            | Algorithm::Random => self.board(algorithm, draws),
        }
    }

    /// The second are the counts that the draws come from.
    fn thompson_draws(&self, draws: &mut Draws) -> (Board, [(f64, f64); MOST_ARMS]) {
        let mut board = Board::new(self.indices.len());
        let mut bids = [(0.0, 0.0); MOST_ARMS];
        for (place, index) in self.indices.iter().enumerate() {
            let (counts, sound) = self.counts(*index);
            let prior = self.rule.arms()[*index].prior_quality;
            let (good, bad) = counts.posterior(prior, 1.0);
            board.means[place] = good / (good + bad);
            board.faults += u32::from(!sound);
            let (good, bad) = counts.posterior(prior, SHARPER);
            board.draws[place] = draws.beta(good, bad);
            bids[place] = (good, bad);
        }
        (board, bids)
    }

    fn thompson(&self, draws: &mut Draws) -> Board {
        let (mut board, bids) = self.thompson_draws(draws);
        board.integrate(|place| Score::beta(bids[place].0, bids[place].1));
        board
    }

    /// What the regression says of an arm; its plain mean when that went wrong or does not know
    /// enough yet.
    fn guess(&self, index: usize, enough: u64, board: &mut Board) -> Guess {
        let arm = self.state.arm_at(self.rule, index);
        let ready = arm.filter(|arm| arm.observations >= enough);
        let guess = ready.and_then(|arm| self.regression(arm, index));
        guess.unwrap_or_else(|| {
            board.faults += u32::from(ready.is_some());
            let (good, bad) = self.posterior(index);
            let all = good + bad;
            let deviation = (good * bad / (all * all * (all + 1.0))).sqrt();
            // Undoes the factor that regressions are scaled by.
            Guess { mean: good / all, deviation: deviation / LINTS }
        })
    }

    fn regression(&self, arm: &Arm, index: usize) -> Option<Guess> {
        let prior = prior_of(self.rule, &self.rule.arms()[index], arm.sums);
        arm.linear.as_ref()?.guess(self.point?, prior)
    }

    /// The second are the deviations that the draws come from.
    fn lints_draws(&self, draws: &mut Draws, enough: u64) -> (Board, [f64; MOST_ARMS]) {
        let mut board = Board::new(self.indices.len());
        let mut deviations = [0.0; MOST_ARMS];
        for (place, index) in self.indices.iter().enumerate() {
            let guess = self.guess(*index, enough, &mut board);
            deviations[place] = (LINTS * guess.deviation).max(1e-9);
            board.means[place] = guess.mean;
            board.draws[place] = guess.mean + deviations[place] * draws.normal();
        }
        (board, deviations)
    }

    fn lints(&self, draws: &mut Draws, enough: u64) -> Board {
        let (mut board, deviations) = self.lints_draws(draws, enough);
        let means = board.means;
        board.integrate(|place| Score::normal(means[place], deviations[place]));
        board
    }

    fn linucb(&self) -> Board {
        let mut board = Board::new(self.indices.len());
        for (place, index) in self.indices.iter().enumerate() {
            let guess = self.guess(*index, 0, &mut board);
            board.means[place] = guess.mean;
            board.draws[place] = guess.mean + LINUCB * guess.deviation;
        }
        board.winner_takes_all();
        board
    }

    fn ucb1(&self) -> Board {
        let mut board = self.with_means();
        let weight = |index: &usize| {
            let arm = self.state.arm_at(self.rule, *index);
            arm.map_or(0.0, |arm| arm.sums.weight() * self.state.left(self.rule, arm))
        };
        let all: f64 = self.indices.iter().map(weight).sum();
        for (place, index) in self.indices.iter().enumerate() {
            let bonus = (2.0 * (1.0 + all).ln() / (weight(index) + 1e-3)).sqrt();
            board.draws[place] = board.means[place] + bonus;
        }
        board.winner_takes_all();
        board
    }

    fn epsilon_greedy(&self) -> Board {
        let mut board = self.with_means();
        board.draws = board.means;
        board.winner_takes_all();
        let share = EPSILON / board.count as f64;
        for chance in &mut board.chances[..self.indices.len()] {
            *chance = (1.0 - EPSILON) * *chance + share;
        }
        board
    }

    fn fixed(&self) -> Board {
        let mut board = self.with_means();
        board.draws[0] = 1.0;
        board.chances[0] = 1.0;
        board
    }

    fn random(&self, draws: &mut Draws) -> Board {
        let mut board = self.with_means();
        for place in 0..board.count {
            board.draws[place] = draws.uniform();
            board.chances[place] = 1.0 / board.count as f64;
        }
        board
    }
}
