//! The command line: one file per command.

#![expect(clippy::print_stdout, reason = "commands print their results on standard output")]

mod server_query;
mod backup;
mod config;
mod consume;
mod demo;
mod excerpt;
mod evaluate;
mod export;
mod import;
mod keys;
mod logging;
mod mcp;
mod output_file;
mod migrate_store;
mod progress;
mod rebuild;
mod redetect;
mod report;
mod restore;
mod routers;
mod scan;
mod score;
mod serve;
mod password_mask;

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::config::{Config, Overrides, Setting, load};

/// A feedback engine for LLM applications.
#[derive(Debug, Parser)]
#[command(version, propagate_version = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve the API.
    Serve(serve::Serve),
    /// Serve tools to agents over standard input and output (MCP).
    Mcp(mcp::Mcp),
    /// Load a month of generated demo conversations, or remove them.
    Demo(demo::Demo),
    /// Create, list and revoke API keys.
    Keys(keys::Keys),
    /// Show conversations with feedback, or one of them turn by turn.
    Report(report::Report),
    /// Show and reset routers.
    Routers(routers::Routers),
    /// Estimate the reward another routing policy would have earned.
    Evaluate(evaluate::Evaluate),
    /// Recompute every projection from the log.
    Rebuild(rebuild::Rebuild),
    /// Back up a store into one file, also while a server runs.
    Backup(backup::Backup),
    /// Restore a backup into an empty folder.
    Restore(restore::Restore),
    /// Copy a store into a Postgres database (builds with the feature `scaled`).
    MigrateStore(migrate_store::MigrateStore),
    /// Run the current detectors over all stored turns.
    Redetect(redetect::Redetect),
    /// Run all detectors over chat logs and print a report; stores nothing.
    Scan(scan::Scan),
    /// Score rows with one detector, for benchmarks and debugging.
    Score(score::Score),
    /// Import events or chat logs from JSON Lines files.
    Import(import::Import),
    /// Consume events from Kafka (builds with the feature `scaled`).
    Consume(consume::Consume),
    /// Export the log as JSON Lines, or preference data for training.
    Export(export::Export),
    /// Show the effective configuration and the origin of each value.
    Config(config::Show),
}

impl Arguments {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        match self.command {
            Command::Serve(command) => command.run(),
            Command::Mcp(command) => command.run(),
            Command::Demo(command) => command.run(),
            Command::Keys(command) => command.run(),
            Command::Report(command) => command.run(),
            Command::Routers(command) => command.run(),
            Command::Evaluate(command) => command.run(),
            Command::Rebuild(command) => command.run(),
            Command::Backup(command) => command.run(),
            Command::Restore(command) => command.run(),
            Command::MigrateStore(command) => command.run(),
            Command::Redetect(command) => command.run(),
            Command::Scan(command) => command.run(),
            Command::Score(command) => command.run(),
            Command::Import(command) => command.run(),
            Command::Consume(command) => command.run(),
            Command::Export(command) => command.run(),
            Command::Config(command) => command.run(),
        }
    }
}

/// Flags shared by all commands.
#[derive(Debug, Args)]
struct Common {
    /// Configuration file; `uptake config` lists all keys.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The folder of the store.
    #[arg(long, value_name = "DIR")]
    data: Option<String>,
}

impl Common {
    fn load(&self, mut flags: Overrides) -> anyhow::Result<(Config, BTreeMap<String, Setting>)> {
        flags.extend(self.data.clone().map(|data| ("store.data", data, "--data")));
        load(self.config.as_deref(), flags)
    }
}

/// Flags shared by the commands that print a result.
#[derive(Debug, Args)]
struct JsonCommon {
    #[command(flatten)]
    common: Common,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
}

impl JsonCommon {
    fn load(&self) -> anyhow::Result<Config> {
        Ok(self.common.load(Vec::new())?.0)
    }
}
