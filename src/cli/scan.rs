//! The command `uptake scan`.

use std::fs::File;
use std::io::{BufWriter, IsTerminal, Write, stdout};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Args;
use engine::{ScanReport, ScannedConversation};
use serde_json::json;

use pairs::{PairFile, PairOptions};

use super::JsonCommon;
use super::import::open_lines;
use super::progress::Progress;
use crate::config::DetectMode;
use crate::wiring;

mod pairs;
mod text_report;

/// Run all detectors over chat logs and print a report.
///
/// Reads JSON Lines, one JSON array or CSV: turns or an export of Uptake, OpenAI-style `messages`, ShareGPT,
/// LMSYS, WildChat, Langfuse traces, LangSmith runs. Nothing is stored and nothing leaves the machine.
///
/// Files may be of any size, since conversations are processed one by one. In memory are counts, the worst
/// conversations, 400 bytes of each text of the latest 10,000 failed answers (for the failure patterns), and up
/// to 128 MB of unfinished conversations in logs with one turn per line. --pairs adds one number per row and up
/// to 128 MB of rated answers, which are compared with other answers to the same question.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  uptake scan chats.jsonl
  uptake scan --verdicts verdicts.jsonl --pairs pairs.jsonl logs/*.jsonl
  uptake scan --pairs train.parquet --format kto --split train chats.jsonl
  uptake scan --json chats.jsonl | jq .failure_patterns")]
pub(super) struct Scan {
    #[command(flatten)]
    common: JsonCommon,
    /// Files to read.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Detector mode [default: the setting detect.mode].
    #[arg(long, value_enum)]
    mode: Option<DetectMode>,
    /// Judge by the instant models alone, without the reader: many times faster, less accurate.
    #[arg(long)]
    fast: bool,
    /// Write the findings of each turn to this file, as JSON Lines.
    #[arg(long, value_name = "FILE")]
    verdicts: Option<PathBuf>,
    #[command(flatten)]
    pairs: PairOptions,
    /// Number of worst conversations to show.
    #[arg(long, default_value_t = 5, value_name = "N")]
    worst: usize,
    /// Number of failure patterns to show, largest first; 0 for none.
    #[arg(long, default_value_t = 10, value_name = "N")]
    patterns: usize,
    /// Number of threads [default: one per core].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
}

impl Scan {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let config = self.common.load()?;
        let mut detectors = wiring::build_detectors(&config.detect)?;
        if let Some(mode) = self.mode {
            detectors.verdict.mode = wiring::convert_mode(mode);
        }
        if self.fast {
            detectors.reader = engine::ReaderMode::Off;
        }
        let mut pairs = self.pairs.create()?;
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        let settings = engine::ScanSettings {
            detectors,
            threads: self.threads.map_or(cores, usize::from),
            worst: self.worst,
            keep: self.verdicts.is_some() || pairs.is_some(),
        };
        let mut verdicts = create_file(self.verdicts.as_deref())?;
        let mut total = ScanReport::default();
        for file in &self.files {
            let report = scan_file(&settings, file, &mut verdicts, &mut pairs)?;
            total.merge(report, self.worst);
        }
        if let Some(file) = &mut verdicts {
            file.flush().context("cannot write the --verdicts file")?;
        }
        let written = pairs
            .map(|pairs| pairs.finish().context("cannot write the --pairs file"))
            .transpose()?;
        if total.conversations == 0 {
            bail!(
                "no conversation with an answer found; {} lines are not conversations (`uptake import` prints \
                 the error of each line). Expected JSON Lines or one JSON array with `messages`, \
                 `conversation(s)`, `input` and `output`, or `text` and `response`",
                total.unreadable
            );
        }
        let mut found = (self.patterns > 0).then(|| total.patterns());
        if let Some(found) = &mut found {
            found.patterns.truncate(self.patterns);
        }
        let report =
            text_report::Report { total: &total, found: found.as_ref(), pairs: written.as_ref() };
        if self.common.json {
            println!("{}", report.as_json());
        } else {
            print!("{}", report.as_text(stdout().is_terminal()));
        }
        Ok(())
    }
}

type VerdictFile = Option<BufWriter<File>>;

fn create_file(path: Option<&Path>) -> anyhow::Result<VerdictFile> {
    path.map(|path| {
        let file =
            File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(BufWriter::new(file))
    })
    .transpose()
}

fn scan_file(
    settings: &engine::ScanSettings,
    path: &Path,
    verdicts: &mut VerdictFile,
    pairs: &mut Option<PairFile>,
) -> anyhow::Result<ScanReport> {
    let failed = || format!("cannot read {}", path.display());
    let file = File::open(path).with_context(failed)?;
    let size = file.metadata()?.len();
    let progress = Progress::new("bytes");
    let mut shown = 0;
    let each = |conversations: &[ScannedConversation]| -> std::io::Result<()> {
        for scanned in conversations {
            if let Some(file) = verdicts {
                write_verdicts(file, scanned)?;
            }
            if let Some(file) = pairs {
                file.write_conversation(scanned)?;
            }
        }
        Ok(())
    };
    let step = (size / 200).max(1);
    let report = engine::scan(settings, open_lines(path, file)?, each, |read| {
        if read - shown >= step || read == size {
            shown = read;
            progress.show(read, size);
        }
    });
    report.with_context(failed)
}

/// Writes the findings as JSON Lines, one per turn.
fn write_verdicts(file: &mut impl Write, scanned: &ScannedConversation) -> std::io::Result<()> {
    for (number, turn) in scanned.turns.iter().enumerate() {
        let line = json!({
            "conversation_id": scanned.conversation,
            "turn_id": turn.id.as_str(),
            "model": turn.model,
            "turn": number,
            "question": turn.question,
            "answer": turn.answer,
            "next": turn.next,
            "verdict": turn.verdict,
            "error": turn.failure,
            "latency": turn.pace,
            "retry": turn.retry.as_ref().map(|retry| json!({
                "original_turn": retry.original_turn_id.as_str(),
                "similarity": retry.similarity,
                "delay_seconds": retry.delay_seconds,
                "intent": retry.intent,
            })),
        });
        serde_json::to_writer(&mut *file, &line)?;
        file.write_all(b"\n")?;
    }
    Ok(())
}
