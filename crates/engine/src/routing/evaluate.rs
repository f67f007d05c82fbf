//! Off-policy evaluation over the choices of a router, or over files.

use std::collections::BTreeMap;

use learn::{
    LoggedChoice, LoggedReward, ModelledReward, PolicyEvaluation, TurnRecord, evaluate_policy,
    fit_outcome_model,
};
use model::{BadData, Scope, Timestamp};

use crate::error::EngineError;
use crate::routing::Routing;

/// Newest turns that are evaluated.
const MAX_TURNS: usize = 50_000;
const PAGE_TURNS: usize = 5_000;

/// The target policy.
#[derive(Clone, Debug, PartialEq)]
pub enum Policy {
    Fixed(String),
    /// Uniform over all arms.
    Random,
    /// Weights by arm, normalised to probabilities.
    Weights(BTreeMap<String, f64>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RouterEvaluation {
    /// `None` without usable turns.
    pub estimates: Option<PolicyEvaluation>,
    /// Mean reward of the logged choices.
    pub logged: Option<f64>,
}

impl Routing {
    /// Estimates the reward of a policy from the turns that the router served since `since`.
    pub async fn evaluate_policy(
        &self,
        scope: &Scope,
        router: &str,
        policy: &Policy,
        since: Option<Timestamp>,
    ) -> Result<RouterEvaluation, EngineError> {
        let project = self.states.find_project(scope).ok_or(EngineError::NotFound("router"))?;
        let arms: Vec<String> = project
            .read_routers(|routers| {
                let arms = routers.get(router)?.rule.arms();
                Some(arms.iter().map(|arm| arm.id.clone()).collect())
            })
            .ok_or(EngineError::NotFound("router"))?;
        let target = arm_probabilities(policy, &arms)?;
        project.save_checkpoint(&self.core.store).await?;
        let since = since.unwrap_or(Timestamp::from_micros(0));
        let mut turns = Vec::new();
        while turns.len() < MAX_TURNS {
            let page =
                self.core.store.router_turns(scope, router, since, turns.len(), PAGE_TURNS).await?;
            let last = page.len() < PAGE_TURNS;
            turns.extend(page);
            if last {
                break;
            }
        }
        Ok(evaluate_turns(&turns, &arms, &target))
    }
}

/// Skips turns without a reward, and those whose features were erased.
fn evaluate_turns(
    turns: &[store::RouterTurn],
    arms: &[String],
    target: &[f64],
) -> RouterEvaluation {
    let read = |turn: &store::RouterTurn| {
        let mut record: TurnRecord = serde_json::from_str(&turn.record).ok()?;
        record.restore_features(&turn.features);
        let seen = record.observation()?;
        let served = record.served?;
        let arm = arms.iter().position(|arm| *arm == served.arm)?;
        Some((arm, seen.reward(), served.propensity, served.features()))
    };
    let mut choices: Vec<_> = turns.iter().filter_map(read).collect();
    choices.reverse();
    let with_features = choices.iter().filter(|choice| !choice.3.is_empty()).count();
    // The reward model needs features for all turns or for none.
    let featured = with_features * 2 > choices.len();
    choices.retain(|choice| choice.3.is_empty() != featured);
    let logged: Vec<LoggedChoice<'_>> = choices
        .iter()
        .map(|(arm, reward, propensity, features)| LoggedChoice {
            arm: *arm,
            reward: *reward,
            propensity: *propensity,
            target,
            features,
        })
        .collect();
    let earned: f64 = choices.iter().map(|choice| choice.1).sum();
    let estimates = fit_outcome_model(&logged).ok().and_then(|logged| evaluate_policy(&logged));
    let mean = (!choices.is_empty()).then(|| earned / choices.len() as f64);
    RouterEvaluation { estimates, logged: mean }
}

fn arm_probabilities(policy: &Policy, arms: &[String]) -> Result<Vec<f64>, EngineError> {
    let wrong = |field: &str, got: String, expected: String| {
        EngineError::InvalidSetting(BadData { field: field.into(), got, expected })
    };
    let known = |arm: &str| {
        let index = arms.iter().position(|known| known == arm);
        let expected = format!("one of {}", arms.join(", "));
        index.ok_or_else(|| wrong("policy.arm", format!("{arm:?}"), expected))
    };
    let mut probabilities = vec![0.0; arms.len()];
    match policy {
        Policy::Fixed(arm) => probabilities[known(arm)?] = 1.0,
        Policy::Random => probabilities.fill(1.0 / arms.len() as f64),
        Policy::Weights(weights) => {
            let sum: f64 = weights.values().sum();
            let fits = weights.values().all(|weight| weight.is_finite() && *weight >= 0.0);
            if !fits || sum <= 0.0 || !sum.is_finite() {
                let expected = "numbers not below 0, at least one above".to_owned();
                return Err(wrong("policy.weights", "invalid weights".to_owned(), expected));
            }
            for (arm, weight) in weights {
                probabilities[known(arm)?] = weight / sum;
            }
        }
    }
    Ok(probabilities)
}

#[derive(Debug, thiserror::Error)]
#[error("{file} line {line}: {problem}")]
pub struct EvaluateError {
    pub file: &'static str,
    /// Line number, from 1.
    pub line: usize,
    pub problem: String,
}

const REQUIRED_COLUMNS: [&str; 4] = ["action", "position", "reward", "pscore"];
const MODEL_COLUMNS: [&str; 2] = ["q_hat_logged_action", "v_hat_target_policy"];

/// Evaluates a target policy on a log of choices.
///
/// The log is CSV with a header: `action`, `position`, `reward`, `pscore`, and optionally a
/// model's `q_hat_logged_action` and `v_hat_target_policy`. The target is CSV without a header:
/// a line of probabilities for each action, a column for each position. Lines that begin with
/// `#` are comments.
pub fn evaluate_files(log: &str, target: &str) -> Result<PolicyEvaluation, EvaluateError> {
    let probabilities = parse_probabilities(target)?;
    let bad = |line, problem: String| EvaluateError { file: "the log", line, problem };
    let mut lines = (1..).zip(log.lines()).filter(|(_, line)| is_data_line(line));
    let (at, header) = lines.next().ok_or_else(|| bad(1, "it is empty".into()))?;
    let names: Vec<&str> = header.split(',').map(str::trim).collect();
    let column = |name: &str| names.iter().position(|known| *known == name);
    let wanted = |name: &&str| {
        column(name).ok_or_else(|| {
            bad(at, format!("no column {name}; expected {}", REQUIRED_COLUMNS.join(",")))
        })
    };
    let [action, position, reward, pscore] = {
        let all = REQUIRED_COLUMNS.iter().map(wanted).collect::<Result<Vec<usize>, _>>()?;
        [all[0], all[1], all[2], all[3]]
    };
    let model = MODEL_COLUMNS.map(column);
    let mut logged = Vec::new();
    for (at, line) in lines {
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        let number = |index: usize| -> Result<f64, EvaluateError> {
            let cell = cells.get(index).copied().unwrap_or_default();
            cell.parse().map_err(|_| bad(at, format!("{}: {cell:?} is not a number", names[index])))
        };
        let whole = |index: usize| -> Result<usize, EvaluateError> {
            let value = number(index)?;
            let fits = value >= 0.0 && value.fract() == 0.0 && value < 1e9;
            fits.then_some(value as usize)
                .ok_or_else(|| bad(at, format!("{}: {value} is not an index", names[index])))
        };
        let (row, place) = (whole(action)?, whole(position)?);
        let probability =
            probabilities.get(row).and_then(|row| row.get(place)).ok_or_else(|| {
                bad(
                    at,
                    format!("the target has no probability for action {row} at position {place}"),
                )
            })?;
        let expected = match model {
            [Some(q), Some(v)] => {
                Some(ModelledReward { of_chosen: number(q)?, of_target: number(v)? })
            }
            [_, _] => None,
        };
        let one = LoggedReward::new(number(reward)?, number(pscore)?, *probability, expected);
        logged.push(one.map_err(|error| bad(at, error.to_string()))?);
    }
    evaluate_policy(&logged).ok_or_else(|| bad(at, "the log has no choices".into()))
}

fn parse_probabilities(text: &str) -> Result<Vec<Vec<f64>>, EvaluateError> {
    let row = |(line, text): (usize, &str)| {
        let cells = text.split(',').map(|cell| cell.trim().parse::<f64>());
        cells.collect::<Result<Vec<f64>, _>>().map_err(|_| EvaluateError {
            file: "the target",
            line,
            problem: "expected numbers with commas between them".into(),
        })
    };
    (1..).zip(text.lines()).filter(|(_, line)| is_data_line(line)).map(row).collect()
}

fn is_data_line(line: &str) -> bool {
    !line.trim().is_empty() && !line.starts_with('#')
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "action,position,reward,pscore\n0,0,1,0.5\n1,0,0,0.5\n0,0,1,0.5\n";

    #[test]
    fn files_are_read_by_their_header_and_errors_name_the_line() {
        let found = evaluate_files(LOG, "# two actions\n0.8\n0.2\n").unwrap();
        assert!((found.ips.estimate - 3.2 / 3.0).abs() < 1e-12);
        assert!((found.snips.unwrap().estimate - 3.2 / 3.6).abs() < 1e-12);
        assert!(found.dr.is_none());
        let problem =
            |log: &str, target: &str| evaluate_files(log, target).unwrap_err().to_string();
        assert!(
            problem(LOG, "0.8\n").contains("line 3: the target has no probability for action 1")
        );
        assert!(problem(LOG, "a\n").contains("the target line 1"));
        assert!(problem("action,reward\n", "1\n").contains("no column position"));
        assert!(problem(&LOG.replace("0.5\n1", "x\n1"), "1\n").contains("line 2: pscore"));
        assert!(problem("", "1\n").contains("empty"));
    }

    #[test]
    fn policy_may_only_name_known_arms() {
        let arms = ["a".to_owned(), "b".to_owned()];
        let weights = |pairs: &[(&str, f64)]| {
            let weights = pairs.iter().map(|(arm, weight)| ((*arm).to_owned(), *weight));
            arm_probabilities(&Policy::Weights(weights.collect()), &arms)
        };
        assert_eq!(arm_probabilities(&Policy::Fixed("b".into()), &arms).unwrap(), [0.0, 1.0]);
        assert_eq!(arm_probabilities(&Policy::Random, &arms).unwrap(), [0.5, 0.5]);
        assert_eq!(weights(&[("a", 1.0), ("b", 3.0)]).unwrap(), [0.25, 0.75]);
        assert!(weights(&[("a", f64::NAN)]).is_err());
        assert!(weights(&[("c", 1.0)]).is_err());
    }
}
