//! The command line: one file per command.

#![expect(clippy::print_stdout, reason = "commands answer on standard output")]

mod ask;
mod backup;
mod config;
mod consume;
mod demo;
mod excerpt;
mod evaluate;
mod export;
mod import;
mod keys;
mod lines;
mod logging;
mod mcp;
mod output;
#[cfg(feature = "scaled")]
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
mod shown_address;

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
    /// Offer tools to agents over standard input and output (MCP).
    Mcp(mcp::Mcp),
    /// Fill a store with a month of made-up conversations, or take them away again.
    Demo(demo::Demo),
    /// Create, list and revoke API keys.
    Keys(keys::Keys),
    /// Show conversations with feedback, or one of them turn by turn.
    Report(report::Report),
    /// Show and reset routers.
    Routers(routers::Routers),
    /// Estimate what another policy would have earned.
    Evaluate(evaluate::Evaluate),
    /// Make every projection again from the log.
    Rebuild(rebuild::Rebuild),
    /// Copy a store into a file while it is served.
    Backup(backup::Backup),
    /// Make a backup the store of an empty folder.
    Restore(restore::Restore),
    /// Copy a store into a Postgres database.
    #[cfg(feature = "scaled")]
    MigrateStore(migrate_store::MigrateStore),
    /// Run today's detectors over everything that is stored.
    Redetect(redetect::Redetect),
    /// Run every detector over chat logs and report what it finds.
    Scan(scan::Scan),
    /// Score rows with one detector, for benchmarks and for checking.
    Score(score::Score),
    /// Load events or chat logs from files of JSON lines.
    Import(import::Import),
    /// Take events from Kafka into the store, or print them.
    Consume(consume::Consume),
    /// Write the log as JSON lines, or preference data for training.
    Export(export::Export),
    /// Show the effective configuration and where each value came from.
    Config(config::Show),
}

impl Arguments {
    /// Runs the command that was given.
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
            #[cfg(feature = "scaled")]
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

/// Flags that every command takes.
#[derive(Debug, Args)]
struct Common {
    /// Configuration file; `uptake config` shows every key.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Folder that holds the data.
    #[arg(long, value_name = "DIR")]
    data: Option<String>,
}

impl Common {
    fn load(
        self,
        mut flags: Overrides,
    ) -> anyhow::Result<(Config, std::collections::BTreeMap<String, Setting>)> {
        flags.extend(self.data.map(|data| ("store.data", data, "--data")));
        load(self.config.as_deref(), flags)
    }
}
