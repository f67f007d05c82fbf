//! The command `uptake score`.

use std::io::{BufRead, BufWriter, Write, stdin, stdout};

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use engine::{ScoreTask, score_line};
use serde_json::json;

use super::Common;
use crate::config::DetectMode;
use crate::wiring;

/// Score rows with one detector, for benchmarks and debugging.
///
/// Reads JSON Lines from standard input and writes each row with the added fields `pred`, `p`, `evidence` and
/// the results of the task. Unknown fields are kept. A line that cannot be read becomes an error row.
#[derive(Debug, Args)]
#[command(after_help = "Rows by task:
  verdict  user, and prev_user and assistant if known   is the user dissatisfied with the answer?
  refusal  response, and prompt if known                is the answer a refusal?
  pair     a, b                                         are the two questions the same?
  target   user, and turns with user and assistant      which turn, from 1, does the message judge?
  embed    text                                         vector of the text, by the configured model

Examples:
  echo '{\"user\":\"No, I meant gaming laptops\"}' | uptake score --task verdict
  uptake score --task pair --mode seed < pairs.jsonl > scored.jsonl")]
pub(super) struct Score {
    #[command(flatten)]
    common: Common,
    /// Detector to run.
    #[arg(long, value_enum)]
    task: TaskName,
    /// Detector mode [default: the setting detect.mode].
    #[arg(long, value_enum)]
    mode: Option<DetectMode>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum TaskName {
    Verdict,
    Refusal,
    Pair,
    Target,
    Embed,
}

impl Score {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let (config, _) = self.common.load(Vec::new())?;
        super::logging::init_logging(&config)?;
        let mut detectors = wiring::build_detectors(&config.detect)?;
        if let Some(mode) = self.mode {
            detectors.verdict.mode = wiring::convert_mode(mode);
        }
        let embedder = wiring::build_embedder(&config.embed)?;
        let task = match self.task {
            TaskName::Verdict => ScoreTask::Verdict,
            TaskName::Refusal => ScoreTask::Refusal,
            TaskName::Pair => ScoreTask::Pair,
            TaskName::Target => ScoreTask::Target,
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
            bail!("cannot score {bad} lines; see the error rows in the output");
        }
        Ok(())
    }
}
