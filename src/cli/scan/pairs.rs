//! Preference pairs of a scan, into a file.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use engine::{
    EngineError, PreferenceEncoding, PreferenceQuery, PreferenceRequest, ScanPairs,
    ScannedConversation,
};
use serde_json::{Map, Value, json};

/// Which rows, and in which shape.
#[derive(Debug, Args)]
pub(super) struct PairOptions {
    /// Write preference pairs: rows as `uptake export --preferences` writes them, each with its source
    /// (correction, rating, rephrase, regeneration), margin, turn ids and split, redacted. Parquet when the
    /// name ends in .parquet.
    #[arg(long, value_name = "FILE")]
    pairs: Option<PathBuf>,
    /// The shape of the pairs: dpo, kto, sft, reward or openai_dpo; dpo when left out.
    #[arg(long, value_name = "SHAPE", requires = "pairs")]
    format: Option<String>,
    /// Only this part: train, validation or test.
    #[arg(long, requires = "pairs")]
    split: Option<String>,
    /// Nothing less sure than this; 0.7 when left out.
    #[arg(long, value_name = "NUMBER", requires = "pairs")]
    min_confidence: Option<f64>,
    /// Where pairs may come from: correction, rating, rephrase, regeneration.
    #[arg(long, value_delimiter = ',', value_name = "SOURCES", requires = "pairs")]
    sources: Vec<String>,
    /// At most so many rows of each source, or source:number.
    #[arg(long, value_delimiter = ',', value_name = "NUMBERS", requires = "pairs")]
    cap: Vec<String>,
}

/// A file that pairs go into.
pub(super) struct PairFile {
    pairs: ScanPairs,
    file: BufWriter<File>,
}

impl PairOptions {
    /// The file, if one is wanted.
    pub(super) fn create(&self) -> anyhow::Result<Option<PairFile>> {
        let Some(path) = &self.pairs else { return Ok(None) };
        let is_parquet = |path: &Path| path.extension().is_some_and(|ending| ending == "parquet");
        let encoding = match is_parquet(path) {
            true => PreferenceEncoding::Parquet,
            false => PreferenceEncoding::Jsonl,
        };
        let query = PreferenceQuery::parse(PreferenceRequest {
            format: self.format.clone(),
            split: self.split.clone(),
            min_confidence: self.min_confidence,
            sources: self.sources.clone(),
            cap: self.cap.clone(),
            encoding,
            ..PreferenceRequest::default()
        })?;
        let file =
            File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Some(PairFile { pairs: ScanPairs::new(&query), file: BufWriter::new(file) }))
    }
}

impl PairFile {
    /// The pairs of the next conversation.
    pub(super) fn conversation(&mut self, scanned: &ScannedConversation) -> std::io::Result<()> {
        let bytes = self.pairs.add_conversation(scanned).map_err(unwritten)?;
        self.file.write_all(&bytes)
    }

    /// The rest, and how many there are.
    pub(super) fn finish(mut self) -> std::io::Result<Value> {
        let bytes = self.pairs.finish().map_err(unwritten)?;
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

fn unwritten(error: EngineError) -> std::io::Error {
    std::io::Error::other(error)
}
