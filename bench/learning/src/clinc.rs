//! The questions of `learning/clinc150-train.jsonl`.

use std::fs;
use std::path::Path;

use anyhow::Context;
use serde_json::Value;

/// Each question and its intent, in file order.
pub(crate) fn read(data: &Path) -> anyhow::Result<Vec<(String, String)>> {
    let path = data.join("learning/clinc150-train.jsonl");
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let row = |(at, line): (usize, &str)| {
        let row: Value = serde_json::from_str(line)?;
        let field = |name: &str| {
            let text = row[name].as_str().map(str::to_owned);
            text.with_context(|| format!("line {}: {name} is no text", at + 1))
        };
        Ok((field("text")?, field("intent")?))
    };
    text.lines().enumerate().map(row).collect()
}
