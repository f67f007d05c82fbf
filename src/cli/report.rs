//! `uptake report`

mod print;

use std::io::{IsTerminal, Write, stdout};
use std::path::Path;

use anyhow::{Context, ensure};
use clap::Args;
use model::{Project, Tenant};
use serde_json::{Value, json};

use super::Common;
use super::ask::ask;
use super::output::Output;
use crate::config::Config;

/// Show conversations with feedback, or one of them turn by turn.
///
/// Without a conversation: the latest ones that somebody reacted to, people or the machine. With
/// one: what was asked and answered, how each answer was taken, and the words that show it. With --html:
/// figures with their intervals and trends, what went wrong and where, models and routers, as one file
/// that needs neither this server nor any other. Asks the running server, or opens the data folder if
/// there is none.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  uptake report
  uptake report c1
  uptake report --html quality.html --days 7
  uptake report --html --tenant acme --project shop > quality.html
  uptake report --tenant acme --project shop --days 7 --json")]
pub(super) struct Report {
    #[command(flatten)]
    common: Common,
    /// The conversation to show.
    conversation: Option<String>,
    /// Whose conversations.
    #[arg(long, default_value = "default")]
    tenant: String,
    /// Which project's.
    #[arg(long, default_value = "default")]
    project: String,
    /// Only what happened in so many days.
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=3650))]
    days: u32,
    /// How many conversations or turns, the latest.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=500))]
    limit: u32,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Write a report on all of it to this file, as a page that stands alone; to standard output without
    /// a name.
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-",
          conflicts_with_all = ["json", "conversation", "limit"])]
    html: Option<String>,
}

impl Report {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let (config, _) = self.common.load(Vec::new())?;
        let scope = (self.tenant.as_str(), self.project.as_str());
        if let Some(file) = &self.html {
            return write(file, &page(&config, scope, self.days)?);
        }
        let colour = stdout().is_terminal();
        let (found, text): (Value, fn(&Value, bool) -> String) = match &self.conversation {
            Some(conversation) => {
                (one(&config, scope, conversation, self.limit)?, print::conversation)
            }
            None => (latest(&config, scope, self.days, self.limit)?, print::latest),
        };
        if self.json {
            println!("{found}");
        } else {
            print!("{}", text(&found, colour));
        }
        Ok(())
    }
}

/// The report as a page that stands alone.
fn page(config: &Config, (tenant, project): (&str, &str), days: u32) -> anyhow::Result<String> {
    let tenant = Tenant::new(tenant).with_context(|| format!("--tenant {tenant:?}"))?;
    let project = Project::new(project).with_context(|| format!("--project {project:?}"))?;
    let path = format!("/report?tenant={tenant}&project={project}&days={days}");
    ask(config, |server| server.get_text(&path)).with_context(|| format!("{tenant}/{project}"))
}

fn write(file: &str, page: &str) -> anyhow::Result<()> {
    if file == "-" {
        return Ok(stdout().write_all(page.as_bytes())?);
    }
    let mut output = Output::create(Path::new(file))?;
    output.write_all(page.as_bytes())?;
    output.finish()?;
    eprintln!("wrote {file}, {} KB", page.len().div_ceil(1024));
    Ok(())
}

fn one(
    config: &Config,
    (tenant, project): (&str, &str),
    conversation: &str,
    limit: u32,
) -> anyhow::Result<Value> {
    let fits = conversation.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'/');
    ensure!(fits && !conversation.is_empty(), "{conversation:?} is not the id of a conversation");
    // What would end the path of the address is written in another way.
    let id = conversation.replace('%', "%25").replace('?', "%3F").replace('#', "%23");
    let path = format!("/api/v1/conversations/{id}?limit={limit}");
    ask(config, |server| server.with_scope(Some(tenant), Some(project)).get(&path))
        .with_context(|| format!("conversation {conversation} of {tenant}/{project}"))
}

fn latest(
    config: &Config,
    (tenant, project): (&str, &str),
    days: u32,
    limit: u32,
) -> anyhow::Result<Value> {
    let now = crate::wiring::clock().now();
    let start = now.plus_secs(-i64::from(days) * 86_400);
    let path = format!("/conversations/{tenant}/{project}/feedback/conversations-in-period");
    // Clocks of applications may be ahead of ours.
    let window = json!({"start": start, "end": now.plus_secs(86_400), "limit": limit});
    ask(config, |server| server.with_scope(Some(tenant), Some(project)).post(&path, &window))
}
