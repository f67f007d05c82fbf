//! `uptake score`

use std::io::{BufRead, BufWriter, Write, stdin, stdout};

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use engine::{ScoreTask, score_line};
use serde_json::json;

use super::Common;
use crate::config::DetectMode;
use crate::wiring;

/// Score rows with one detector, for benchmarks and for checking.
///
/// Reads JSON lines from standard input and writes each back with `pred`, `p`, `evidence` and what
/// else the task tells. Fields it does not know stay. A line it cannot read becomes an error row.
#[derive(Debug, Args)]
#[command(after_help = "Rows by task:
  verdict  user, and prev_user and assistant if known   is the user dissatisfied with the answer?
  refusal  response, and prompt if known                does the answer decline?
  pair     a, b                                         do they ask the same?
  embed    text                                         its vector; the configuration says by which model

Examples:
  echo '{\"user\":\"No, I meant gaming laptops\"}' | uptake score --task verdict
  uptake score --task pair --mode seed < pairs.jsonl > scored.jsonl")]
pub(super) struct Score {
    #[command(flatten)]
    common: Common,
    /// What to ask about each row.
    #[arg(long, value_enum)]
    task: TaskName,
    /// How to judge; the configuration's when not given.
    #[arg(long, value_enum)]
    mode: Option<DetectMode>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum TaskName {
    Verdict,
    Refusal,
    Pair,
    Embed,
}

impl Score {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let (config, _) = self.common.load(Vec::new())?;
        super::logging::start(&config)?;
        let mut detectors = wiring::detectors(&config.detect)?;
        if let Some(mode) = self.mode {
            detectors.verdict.mode = wiring::mode(mode);
        }
        let embedder = wiring::embedder(&config.embed)?;
        let task = match self.task {
            TaskName::Verdict => ScoreTask::Verdict,
            TaskName::Refusal => ScoreTask::Refusal,
            TaskName::Pair => ScoreTask::Pair,
            TaskName::Embed => ScoreTask::Embed,
        };
        let (mut input, mut output) = (stdin().lock(), BufWriter::new(stdout().lock()));
        let (mut line, mut bad) = (Vec::new(), 0_u64);
        loop {
            line.clear();
            let read = input.read_until(b'\n', &mut line).context("cannot read standard input")?;
            if read == 0 {
                break;
            }
            if line.trim_ascii().is_empty() {
                continue;
            }
            let row = score_line(&detectors, &embedder, task, &line).unwrap_or_else(|error| {
                bad += 1;
                json!({ "error": error.to_string() })
            });
            serde_json::to_writer(&mut output, &row)?;
            output.write_all(b"\n")?;
        }
        output.flush().context("cannot write standard output")?;
        if bad > 0 {
            bail!("{bad} lines could not be scored; they are error rows in the output");
        }
        Ok(())
    }
}
