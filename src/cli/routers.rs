//! The command `uptake routers`.

use std::fmt::Write;

use anyhow::Context;
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::JsonCommon;
use super::server_query::{check_path_segment, query_server};

/// Show and reset routers.
///
/// The command queries the running server, or opens the data folder when there is none.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  uptake routers show
  uptake routers show chat --tenant acme --project shop
  uptake routers reset chat")]
pub(super) struct Routers {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show the arms of one router, or of all routers.
    Show(Selection),
    /// Discard the learned state of a router.
    Reset(Selection),
}

#[derive(Debug, Args)]
struct Selection {
    #[command(flatten)]
    common: JsonCommon,
    /// Name of the router.
    name: Option<String>,
    /// Tenant of the router.
    #[arg(long, default_value = "default")]
    tenant: String,
    /// Project of the router.
    #[arg(long, default_value = "default")]
    project: String,
}

impl Routers {
    pub(super) fn run(self) -> anyhow::Result<()> {
        match self.command {
            Command::Show(selection) => selection.show(),
            Command::Reset(selection) => selection.reset(),
        }
    }
}

impl Selection {
    fn show(self) -> anyhow::Result<()> {
        let path = match &self.name {
            Some(name) => format!("/api/v1/routers/{}", check_path_segment("router name", name)?),
            None => "/api/v1/routers".to_owned(),
        };
        let config = self.common.load()?;
        let (tenant, project) = (&self.tenant, &self.project);
        let found = query_server(&config, |server| {
            server.with_scope(Some(tenant), Some(project)).get(&path)
        })
        .with_context(|| format!("cannot show routers of {tenant}/{project}"))?;
        if self.common.json {
            println!("{found}");
            return Ok(());
        }
        match found["routers"].as_array() {
            None => print!("{}", format_router(&found)),
            Some(all) if all.is_empty() => {
                println!(
                    "{tenant}/{project} has no routers; create one with PUT /api/v1/routers/NAME"
                );
            }
            Some(all) => {
                let texts: Vec<String> = all.iter().map(format_router).collect();
                print!("{}", texts.join("\n"));
            }
        }
        Ok(())
    }

    fn reset(self) -> anyhow::Result<()> {
        let name = self
            .name
            .as_deref()
            .context("no router named: pass a name from `uptake routers show`")?;
        let path = format!("/api/v1/routers/{}/reset", check_path_segment("router name", name)?);
        let config = self.common.load()?;
        let (tenant, project) = (&self.tenant, &self.project);
        let found = query_server(&config, |server| {
            server.with_scope(Some(tenant), Some(project)).post(&path, &json!({}))
        })
        .with_context(|| format!("cannot reset router {name} of {tenant}/{project}"))?;
        if self.common.json {
            println!("{found}");
        } else {
            println!("reset {name}: its learned state was discarded");
        }
        Ok(())
    }
}

fn format_router(router: &Value) -> String {
    let mut page = String::new();
    let number = |value: &Value| value.as_f64().unwrap_or(0.0);
    let name = router["name"].as_str().unwrap_or_default();
    let algorithm = router["algorithm"].as_str().unwrap_or_default();
    // Writing to a string cannot fail.
    let _ = writeln!(page, "{name} ({algorithm})");
    let arms = router["arms"].as_array().map_or(&[][..], Vec::as_slice);
    let width = arms.iter().filter_map(|arm| arm["id"].as_str()).map(str::len).max().unwrap_or(3);
    let width = width.max(3);
    let _ =
        writeln!(page, "  {:width$}  choices  share  turns  reward  95% interval     cost", "arm");
    for arm in arms {
        let off = if arm["enabled"] == true { "" } else { "  disabled" };
        let _ = writeln!(
            page,
            "  {:width$}  {:>7}  {:>4.0}%  {:>5}  {:>6.3}  {:.3} to {:.3}  {:>7.4}{off}",
            arm["id"].as_str().unwrap_or_default(),
            arm["choices"].as_u64().unwrap_or(0),
            number(&arm["share"]) * 100.0,
            arm["observations"].as_u64().unwrap_or(0),
            number(&arm["mean"]),
            number(&arm["interval"][0]),
            number(&arm["interval"][1]),
            number(&arm["cost"]),
        );
    }
    let _ = writeln!(page, "  {}", router["explanation"].as_str().unwrap_or_default());
    let half = |part: &Value| {
        let reward = part["reward"].as_f64()?;
        Some(format!("{reward:.3} over {} turns", part["turns"]))
    };
    let trend = &router["trend"];
    if let Some(recent) = half(&trend["recent"]) {
        let before =
            half(&trend["before"]).map_or(String::new(), |text| format!(", before {text}"));
        let _ = writeln!(page, "  lately {recent}{before}");
    }
    page
}
