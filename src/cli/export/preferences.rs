//! `uptake export --preferences`

use std::io::{BufWriter, Write, stdout};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use engine::{PreferenceEncoding, PreferenceExport, PreferenceQuery, PreferenceWish};
use model::{Project, Scope, Tenant};
use serde_json::{Map, Value, json};
use store::ReadOnlyLog;

use crate::cli::output_file::OutputFile;

/// Selection and format of the rows.
#[derive(Debug, Args)]
pub(super) struct Preferences {
    /// Export preference data in this format instead of the log: dpo, kto, sft, reward or openai_dpo.
    /// Parquet when the file name ends in .parquet.
    #[arg(long, value_name = "SHAPE")]
    pub(super) preferences: Option<String>,
    /// Tenant of the preference data.
    #[arg(long, default_value = "default", requires = "preferences")]
    tenant: String,
    /// Project of the preference data.
    #[arg(long, default_value = "default", requires = "preferences")]
    project: String,
    /// Only this split: train, validation or test.
    #[arg(long, requires = "preferences")]
    split: Option<String>,
    /// Only turns asked from this time on.
    #[arg(long, value_name = "TIME", requires = "preferences")]
    since: Option<String>,
    /// Only turns asked before this time.
    #[arg(long, value_name = "TIME", requires = "preferences")]
    until: Option<String>,
    /// Minimum confidence of a row, 0 to 1 [default: 0.7].
    #[arg(long, value_name = "NUMBER", requires = "preferences")]
    min_confidence: Option<f64>,
    /// Sources of the rows: correction, rating, rephrase, regeneration, experiment.
    #[arg(long, value_delimiter = ',', value_name = "SOURCES", requires = "preferences")]
    sources: Vec<String>,
    /// Maximum number of rows per source: NUMBER for all sources, or SOURCE:NUMBER.
    #[arg(long, value_delimiter = ',', value_name = "NUMBERS", requires = "preferences")]
    cap: Vec<String>,
}

impl Preferences {
    pub(super) fn run(
        self,
        log: ReadOnlyLog,
        output: Option<PathBuf>,
        as_json: bool,
    ) -> anyhow::Result<()> {
        let scope =
            Scope { tenant: Tenant::new(self.tenant)?, project: Project::new(self.project)? };
        let is_parquet = |path: &Path| path.extension().is_some_and(|ending| ending == "parquet");
        let encoding = match output.as_deref().is_some_and(is_parquet) {
            true => PreferenceEncoding::Parquet,
            false => PreferenceEncoding::Jsonl,
        };
        let query = PreferenceQuery::read(PreferenceWish {
            format: self.preferences,
            split: self.split,
            since: self.since,
            until: self.until,
            min_confidence: self.min_confidence,
            sources: self.sources,
            cap: self.cap,
            after: None,
            encoding,
        })?;
        let mut export = PreferenceExport::new(Arc::new(log), scope, query);
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        let Some(path) = output else {
            return match runtime.block_on(write_rows(&mut export, stdout().lock())) {
                Err(error) if super::is_broken_pipe(&error) => Ok(()),
                result => result,
            };
        };
        let mut file = OutputFile::create(&path)?;
        runtime.block_on(write_rows(&mut export, &mut file))?;
        file.finish()?;
        print_counts(&export, &path, as_json);
        Ok(())
    }
}

async fn write_rows(export: &mut PreferenceExport, to: impl Write) -> anyhow::Result<()> {
    let mut output = BufWriter::new(to);
    while let Some(bytes) = export.next().await? {
        output.write_all(&bytes)?;
    }
    Ok(output.flush()?)
}

fn print_counts(export: &PreferenceExport, path: &Path, as_json: bool) {
    let tally = export.tally();
    let rows: u64 = tally.rows.values().sum();
    let by_source = tally.rows.iter().map(|(source, rows)| (source.as_word(), *rows));
    if as_json {
        let sources: Map<String, Value> =
            by_source.map(|(source, rows)| (source.to_owned(), rows.into())).collect();
        println!(
            "{}",
            json!({"rows": rows, "sources": sources, "repeated": tally.repeated,
                "unsure": tally.unsure, "capped": tally.capped, "output": path})
        );
        return;
    }
    let sources: Vec<String> = by_source.map(|(source, rows)| format!("{source} {rows}")).collect();
    let sources = if sources.is_empty() { "none".to_owned() } else { sources.join(", ") };
    println!("wrote {rows} rows to {} ({sources})", path.display());
}
