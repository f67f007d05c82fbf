//! The command `uptake report`.

mod text;

use std::io::{IsTerminal, Write, stdout};
use std::path::Path;

use anyhow::Context;
use clap::Args;
use model::{ConversationId, Project, Tenant, encode_path_segment};
use serde_json::{Value, json};

use super::JsonCommon;
use super::output_file::OutputFile;
use super::server_query::query_server;
use crate::config::Config;

/// Show conversations with feedback, or one of them turn by turn.
///
/// Without a conversation id: the latest conversations with reactions, by users or detectors. With one:
/// each question and answer, the verdict on the answer, and the evidence for it. With --html: a
/// self-contained page with metrics, confidence intervals, trends, failure patterns, models and routers.
/// The command queries the running server, or opens the data folder when there is none.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  uptake report
  uptake report c1
  uptake report --html quality.html --days 7
  uptake report --html --tenant acme --project shop > quality.html
  uptake report --tenant acme --project shop --days 7 --json")]
pub(super) struct Report {
    #[command(flatten)]
    common: JsonCommon,
    /// Id of the conversation to show.
    conversation: Option<String>,
    /// Tenant of the conversations.
    #[arg(long, default_value = "default")]
    tenant: String,
    /// Project of the conversations.
    #[arg(long, default_value = "default")]
    project: String,
    /// Length of the reported period in days.
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=3650))]
    days: u32,
    /// Maximum number of conversations or turns, latest first.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=500))]
    limit: u32,
    /// Write the report as a self-contained HTML page; without a file name, to standard output.
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-",
          conflicts_with_all = ["json", "conversation", "limit"])]
    html: Option<String>,
}

impl Report {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let config = self.common.load()?;
        if let Some(file) = &self.html {
            return write_page(file, &self.fetch_page(&config)?);
        }
        let (found, format): (Value, fn(&Value, bool) -> String) = match &self.conversation {
            Some(id) => (self.fetch_conversation(&config, id)?, text::format_conversation),
            None => (self.fetch_latest(&config)?, text::format_list),
        };
        if self.common.json {
            println!("{found}");
        } else {
            print!("{}", format(&found, stdout().is_terminal()));
        }
        Ok(())
    }

    fn fetch_page(&self, config: &Config) -> anyhow::Result<String> {
        let Self { tenant, project, days, .. } = self;
        let tenant =
            Tenant::new(tenant.as_str()).with_context(|| format!("--tenant {tenant:?}"))?;
        let project =
            Project::new(project.as_str()).with_context(|| format!("--project {project:?}"))?;
        let path = format!("/report?tenant={tenant}&project={project}&days={days}");
        query_server(config, |server| server.get_text(&path))
            .with_context(|| format!("cannot report on {tenant}/{project}"))
    }

    fn fetch_conversation(&self, config: &Config, conversation: &str) -> anyhow::Result<Value> {
        let Self { tenant, project, limit, .. } = self;
        let id = ConversationId::new(conversation)
            .with_context(|| format!("{conversation:?} is not a valid conversation id"))?;
        let id = encode_path_segment(id.as_str());
        let path = format!("/api/v1/conversations/{id}?limit={limit}");
        query_server(config, |server| server.with_scope(Some(tenant), Some(project)).get(&path))
            .with_context(|| {
                format!("cannot show conversation {conversation} of {tenant}/{project}")
            })
    }

    fn fetch_latest(&self, config: &Config) -> anyhow::Result<Value> {
        let Self { tenant, project, days, limit, .. } = self;
        let now = crate::wiring::system_clock().now();
        let start = now.plus_secs(-i64::from(*days) * 86_400);
        let path = format!("/conversations/{tenant}/{project}/feedback/conversations-in-period");
        // One day ahead, since application clocks may be fast.
        let window = json!({"start": start, "end": now.plus_secs(86_400), "limit": limit});
        query_server(config, |server| {
            server.with_scope(Some(tenant), Some(project)).post(&path, &window)
        })
    }
}

fn write_page(file: &str, page: &str) -> anyhow::Result<()> {
    if file == "-" {
        return Ok(stdout().write_all(page.as_bytes())?);
    }
    let mut output = OutputFile::create(Path::new(file))?;
    output.write_all(page.as_bytes())?;
    output.finish()?;
    eprintln!("wrote {file}, {} KB", page.len().div_ceil(1024));
    Ok(())
}
