//! Off-policy estimates on the Open Bandit samples, against those of the Open Bandit Pipeline.

use std::path::Path;

use anyhow::Context;
use learn::{
    LoggedChoice, LoggedReward, ModelledReward, PolicyEstimate, evaluate_policy, fit_outcome_model,
};

use crate::table::read;

/// Campaign, then IPS, SNIPS and DR of the Open Bandit Pipeline.
const REFERENCE: [(&str, [f64; 3]); 3] = [
    ("all", [0.004_552_88, 0.004_775_833_081_230_953_5, 0.004_645_604_720_529_324]),
    ("men", [0.004_533_56, 0.004_604_232_164_349_611, 0.004_531_955_456_378_875_5]),
    ("women", [0.006_813_473_999_999_999, 0.006_810_965_194_592_502, 0.006_856_466_131_067_027]),
];

pub(crate) fn measure(data: &Path) -> anyhow::Result<()> {
    println!("## Off-policy estimates: random → Bernoulli Thompson\n");
    println!("| campaign | estimator | estimate | interval | off the reference | to 1e-12 |");
    println!("|---|---|---|---|---|---|");
    for (name, reference) in REFERENCE {
        let (_, log) = read(&data.join("ope").join(format!("obd_{name}_random_log.csv")))?;
        let target = target(&data.join("ope").join(format!("obd_{name}_bts_action_dist.csv")))?;
        let logged: Vec<LoggedReward> = log
            .iter()
            .map(|row| {
                let chance = target[row[0] as usize][row[1] as usize];
                let expected = ModelledReward { of_chosen: row[4], of_target: row[5] };
                Ok(LoggedReward::new(row[2], row[3], chance, Some(expected))?)
            })
            .collect::<anyhow::Result<_>>()?;
        let found = evaluate_policy(&logged).context("an empty log")?;
        let rows = [("IPS", Some(found.ips)), ("SNIPS", found.snips), ("DR", found.dr)];
        for ((estimator, estimate), reference) in rows.into_iter().zip(reference) {
            line(name, estimator, estimate.context("no estimate")?, Some(reference));
        }
        line(name, "DM", found.dm.context("no estimate")?, None);
        let own = own_model(&log, &target)?;
        line(name, "DM, our own model", own.0, None);
        line(name, "DR, our own model", own.1, None);
    }
    println!();
    Ok(())
}

/// Probabilities by action and position. The first line is a comment.
fn target(path: &Path) -> anyhow::Result<Vec<Vec<f64>>> {
    let (first, mut rows) = read(path)?;
    rows.insert(0, first.iter().map(|cell| cell.parse()).collect::<Result<_, _>>()?);
    Ok(rows)
}

/// The log has no features but the position, so the reward model is fitted from scratch.
fn own_model(
    log: &[Vec<f64>],
    target: &[Vec<f64>],
) -> anyhow::Result<(PolicyEstimate, PolicyEstimate)> {
    let by_position: Vec<Vec<f64>> =
        (0..3).map(|position| target.iter().map(|row| row[position]).collect()).collect();
    let choices: Vec<LoggedChoice<'_>> = log
        .iter()
        .map(|row| LoggedChoice {
            arm: row[0] as usize,
            reward: row[2],
            propensity: row[3],
            target: &by_position[row[1] as usize],
            features: &[],
        })
        .collect();
    let found = evaluate_policy(&fit_outcome_model(&choices)?).context("an empty log")?;
    Ok((found.dm.context("no estimate")?, found.dr.context("no estimate")?))
}

fn line(name: &str, estimator: &str, found: PolicyEstimate, reference: Option<f64>) {
    let interval = found.interval.map(|[low, high]| format!("{low:.5}–{high:.5}"));
    let interval = interval.unwrap_or_else(|| "–".to_owned());
    let compared = reference.map_or("| |".to_owned(), |reference| {
        let off = (found.estimate - reference).abs();
        format!("{off:.1e} | {} |", if off <= 1e-12 { "held" } else { "MISSED" })
    });
    println!("| {name} | {estimator} | {} | {interval} | {compared}", found.estimate);
}
