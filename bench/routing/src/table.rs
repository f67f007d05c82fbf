//! A table of the reward of every arm on every row.

use std::fs;
use std::path::Path;

use anyhow::{Context, ensure};

/// Features and rewards by row.
#[derive(Clone)]
pub(crate) struct Table {
    pub(crate) arms: usize,
    pub(crate) features: Vec<Vec<f64>>,
    pub(crate) rewards: Vec<Vec<f64>>,
}

/// The numeric columns of every row.
pub(crate) fn read(path: &Path) -> anyhow::Result<(Vec<String>, Vec<Vec<f64>>)> {
    let text = fs::read_to_string(path)
        .with_context(|| format!("{} is not there; is UPTAKE_DATA right?", path.display()))?;
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    let header: Vec<String> =
        lines.next().context("an empty file")?.split(',').map(str::to_owned).collect();
    let numbers =
        |line: &str| line.split(',').map(|cell| cell.parse().unwrap_or(f64::NAN)).collect();
    Ok((header, lines.map(numbers).collect()))
}

impl Table {
    /// A file with columns `f0`, `f1`, … and either `score:ARM` columns or the correct arm as `y`.
    pub(crate) fn read(path: &Path) -> anyhow::Result<Self> {
        let (header, rows) = read(path)?;
        let columns = |wanted: &dyn Fn(&str) -> bool| -> Vec<usize> {
            let named = header.iter().enumerate().filter(|(_, name)| wanted(name));
            named.map(|(index, _)| index).collect()
        };
        let is_feature =
            |name: &str| name.strip_prefix('f').is_some_and(|number| number.parse::<u32>().is_ok());
        let features = columns(&is_feature);
        let scores = columns(&|name: &str| name.starts_with("score:"));
        let right = columns(&|name: &str| name == "y");
        let pick = |row: &Vec<f64>, columns: &[usize]| -> Vec<f64> {
            columns.iter().map(|column| row[*column]).collect()
        };
        let arms = if right.is_empty() { scores.len() } else { 10 };
        let earned = |row: &Vec<f64>| match right.first() {
            Some(column) => {
                (0..arms).map(|arm| if row[*column] == arm as f64 { 1.0 } else { 0.0 }).collect()
            }
            None => pick(row, &scores),
        };
        let table = Self {
            arms,
            features: rows.iter().map(|row| pick(row, &features)).collect(),
            rewards: rows.iter().map(earned).collect(),
        };
        let sound = |rows: &[Vec<f64>]| rows.iter().flatten().all(|value| value.is_finite());
        ensure!(sound(&table.features) && sound(&table.rewards), "{} has holes", path.display());
        Ok(table)
    }

    /// The average reward of the best single arm.
    pub(crate) fn best_fixed(&self) -> f64 {
        self.earned(self.best_arm()) / self.rewards.len() as f64
    }

    /// The best single arm.
    pub(crate) fn best_arm(&self) -> usize {
        (0..self.arms).max_by(|a, b| self.earned(*a).total_cmp(&self.earned(*b))).unwrap_or(0)
    }

    fn earned(&self, arm: usize) -> f64 {
        self.rewards.iter().map(|row| row[arm]).sum()
    }
}
