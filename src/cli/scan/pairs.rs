//! Writes the preference pairs of a scan to a file.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use engine::{EngineError, PreferenceQuery, PreferenceRequest, ScanPairs, ScannedConversation};
use serde_json::{Map, Value, json};

use crate::cli::export::choose_encoding;

/// Selection and format of the rows.
#[derive(Debug, Args)]
pub(super) struct PairOptions {
    /// Write preference pairs to this file, redacted, in the format of `uptake export --preferences`. Each row
    /// has its source, margin, turn ids and split. Parquet when the name ends in .parquet.
    #[arg(long, value_name = "FILE")]
    pairs: Option<PathBuf>,
    /// Format of the pairs: dpo, kto, sft, reward or openai_dpo [default: dpo].
    #[arg(long, value_name = "SHAPE", requires = "pairs")]
    format: Option<String>,
    /// Only this split: train, validation or test.
    #[arg(long, requires = "pairs")]
    split: Option<String>,
    /// Minimum confidence of a row, 0 to 1 [default: 0.7].
    #[arg(long, value_name = "NUMBER", requires = "pairs")]
    min_confidence: Option<f64>,
    /// Sources of the pairs: correction, rating, rephrase, regeneration.
    #[arg(long, value_delimiter = ',', value_name = "SOURCES", requires = "pairs")]
    sources: Vec<String>,
    /// Maximum number of rows per source: NUMBER for all sources, or SOURCE:NUMBER.
    #[arg(long, value_delimiter = ',', value_name = "NUMBERS", requires = "pairs")]
    cap: Vec<String>,
}

pub(super) struct PairFile {
    pairs: ScanPairs,
    file: BufWriter<File>,
}

impl PairOptions {
    /// Creates the file when --pairs is given.
    pub(super) fn create(&self) -> anyhow::Result<Option<PairFile>> {
        let Some(path) = &self.pairs else { return Ok(None) };
        let query = PreferenceQuery::parse(PreferenceRequest {
            format: self.format.clone(),
            split: self.split.clone(),
            min_confidence: self.min_confidence,
            sources: self.sources.clone(),
            cap: self.cap.clone(),
            encoding: choose_encoding(path),
            ..PreferenceRequest::default()
        })?;
        let file =
            File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Some(PairFile { pairs: ScanPairs::new(&query), file: BufWriter::new(file) }))
    }
}

impl PairFile {
    pub(super) fn write_conversation(
        &mut self,
        scanned: &ScannedConversation,
    ) -> std::io::Result<()> {
        let bytes = self.pairs.add_conversation(scanned).map_err(to_io_error)?;
        self.file.write_all(&bytes)
    }

    /// Writes the remaining pairs and returns the counts.
    pub(super) fn finish(mut self) -> std::io::Result<Value> {
        let bytes = self.pairs.finish().map_err(to_io_error)?;
        self.file.write_all(&bytes)?;
        self.file.flush()?;
        let tally = self.pairs.tally();
        let by_source =
            tally.rows.iter().map(|(from, rows)| (from.as_word().to_owned(), json!(rows)));
        Ok(json!({
            "rows": tally.rows.values().sum::<u64>(),
            "sources": by_source.collect::<Map<String, Value>>(),
            "repeated": tally.repeated,
            "unsure": tally.unsure,
            "capped": tally.capped,
            "not_compared": self.pairs.not_compared(),
        }))
    }
}

fn to_io_error(error: EngineError) -> std::io::Error {
    std::io::Error::other(error)
}
