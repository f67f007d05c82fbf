//! The demo month many times over, with other users, conversations and turns, so that every view has much
//! data. Half of the copies are a month earlier, so that the previous period is as large.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;

use anyhow::ensure;
use model::Timestamp;
use serde_json::{Map, Value};
use tempfile::TempDir;

use crate::server::Binary;

const MONTH_SECS: i64 = 30 * 86_400;
/// Shifts the copies, so that they do not all fall on the same minute.
const APART_SECS: i64 = 7 * 60;

/// Fills a folder with at least `events` events from the demo data in another folder; returns the count.
pub(super) fn fill(
    binary: &Binary,
    month: &Path,
    events: usize,
) -> anyhow::Result<(TempDir, usize)> {
    let folder = tempfile::tempdir()?;
    let (one, many) = (folder.path().join("month.jsonl"), folder.path().join("crowd.jsonl"));
    let mut export = binary.command(&["export", "--data"]);
    let done = export.arg(month).arg("--output").arg(&one).output()?;
    ensure!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let lines = read(&one)?;
    let settings = lines.iter().filter(|line| is_setting(line)).count();
    let copies = events.div_ceil(lines.len() - settings) as i64;
    let count = write(&lines, copies, BufWriter::new(File::create(&many)?))?;
    binary.import(folder.path(), &many)?;
    std::fs::remove_file(&one)?;
    std::fs::remove_file(&many)?;
    Ok((folder, count))
}

/// Sorted by time, as real events would be stored.
fn write(lines: &[Line], copies: i64, mut file: impl Write) -> anyhow::Result<usize> {
    let names = names_in(lines);
    let mut count = 0;
    for (from, month) in [(1, -MONTH_SECS), (0, 0)] {
        for line in lines {
            let copies = if is_setting(line) { 1 } else { copies };
            for number in (from..copies).step_by(2) {
                let shift = month - number / 2 * APART_SECS;
                let copy = Copy { names: &names, number, shift };
                writeln!(file, "{}", Value::Object(copy.of_line(line)))?;
                count += 1;
            }
        }
    }
    file.flush()?;
    Ok(count)
}

type Line = Map<String, Value>;

fn read(path: &Path) -> anyhow::Result<Vec<Line>> {
    let mut lines = Vec::new();
    for line in BufReader::new(File::open(path)?).lines() {
        lines.push(serde_json::from_str(&line?)?);
    }
    ensure!(lines.len() > 1000, "the demo has only {} events", lines.len());
    Ok(lines)
}

/// Routers, experiments, targets and similar: one of each.
fn is_setting(line: &Line) -> bool {
    let is = |field: &str, word: &str| line.get(field).is_some_and(|found| found == word);
    is("type", "log") && is("source", "engine")
}

/// Fields that hold ids.
fn names_in(lines: &[Line]) -> HashSet<String> {
    let fields = ["id", "message_id", "session_id", "user_id"];
    let named = |line: &Line| fields.map(|field| line.get(field)?.as_str().map(str::to_owned));
    lines.iter().flat_map(named).flatten().collect()
}

/// One copy out of many.
struct Copy<'a> {
    names: &'a HashSet<String>,
    number: i64,
    shift: i64,
}

impl Copy<'_> {
    fn of_line(&self, line: &Line) -> Line {
        let mut copied: Line =
            line.iter().map(|(name, value)| (name.clone(), self.copy_value(value))).collect();
        copied.insert("tenant_id".to_owned(), "default".into());
        copied
    }

    fn copy_value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => self.copy_text(text).into(),
            Value::Array(all) => all.iter().map(|one| self.copy_value(one)).collect(),
            Value::Object(fields) => {
                let copied = |(name, value): (&String, &Value)| {
                    let value = if name == "latency" {
                        self.copy_latency(value)
                    } else {
                        self.copy_value(value)
                    };
                    (name.clone(), value)
                };
                fields.iter().map(copied).collect()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }

    /// Each copy has its own latencies, or all answers of an hour would have the same.
    fn copy_latency(&self, value: &Value) -> Value {
        let mut copied = self.copy_value(value);
        if let Some(seconds) = copied.get("seconds").and_then(Value::as_f64) {
            copied["seconds"] = (seconds * (0.6 + 0.04 * self.number as f64)).into();
        }
        copied
    }

    fn copy_text(&self, text: &str) -> String {
        if text.len() < 40
            && text.ends_with('Z')
            && let Ok(at) = Timestamp::parse(text)
        {
            return at.plus_secs(self.shift).to_string();
        }
        let is_name = text.starts_with("demo-decision-") || self.names.contains(text);
        if self.number > 0 && is_name { format!("{text}-{}", self.number) } else { text.to_owned() }
    }
}
