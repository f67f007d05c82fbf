//! Scores rows with the program itself.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};
use serde_json::Value;

/// Paths of the program, the corpus and the data.
pub(crate) struct Bench {
    pub(crate) binary: PathBuf,
    pub(crate) corpus: PathBuf,
    pub(crate) data: PathBuf,
}

impl Bench {
    /// Rows of a file of the public data.
    pub(crate) fn rows(&self, file: &str) -> anyhow::Result<Vec<Value>> {
        let path = self.data.join(file);
        let text = fs::read_to_string(&path)
            .with_context(|| format!("{} is not there; is UPTAKE_DATA right?", path.display()))?;
        text.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
    }

    /// The rows with the results of `uptake score`. Mode `reader` is mode `model` with the reader.
    pub(crate) fn scored(
        &self,
        task: &str,
        mode: &str,
        rows: &[Value],
    ) -> anyhow::Result<Vec<Value>> {
        let (mode, reader) = if mode == "reader" { ("model", "auto") } else { (mode, "off") };
        let mut child = Command::new(&self.binary)
            .args(["score", "--task", task, "--mode", mode])
            .env("UPTAKE__DETECT__READER", reader)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start the program")?;
        let mut input = child.stdin.take().context("no standard input")?;
        let lines: String = rows.iter().map(|row| format!("{row}\n")).collect();
        let feeder = std::thread::spawn(move || input.write_all(lines.as_bytes()));
        let output = child.wait_with_output()?;
        feeder.join().map_err(|_| anyhow::anyhow!("the feeding thread died"))??;
        ensure!(output.status.success(), "uptake score failed");
        let text = String::from_utf8(output.stdout)?;
        let scored: Vec<Value> =
            text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
        ensure!(scored.len() == rows.len(), "{} rows in, {} out", rows.len(), scored.len());
        Ok(scored)
    }
}

/// The rows of one set.
pub(crate) fn of_set<'a>(rows: &'a [Value], set: &str) -> Vec<&'a Value> {
    rows.iter().filter(|row| row["set"] == set).collect()
}

/// Pairs of probability and label.
pub(crate) fn ranked(rows: &[&Value]) -> Vec<(f64, bool)> {
    rows.iter().map(|row| (row["p"].as_f64().unwrap_or(0.0), is_true(row, "label"))).collect()
}

/// Pairs of prediction and label.
pub(crate) fn said(rows: &[&Value]) -> Vec<(bool, bool)> {
    rows.iter().map(|row| (is_true(row, "pred"), is_true(row, "label"))).collect()
}

pub(crate) fn is_true(row: &Value, field: &str) -> bool {
    row[field].as_bool().unwrap_or(false)
}

/// Marks a figure that meets its target.
pub(crate) fn held(figure: f64, bar: f64) -> &'static str {
    if figure >= bar { "held" } else { "MISSED" }
}
