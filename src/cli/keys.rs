//! `uptake keys`

use anyhow::Context;
use clap::{Args, Subcommand};
use serde_json::json;

use super::Common;
use super::ask::{ask, ask_or_make, in_path};

/// Create, list and revoke API keys.
///
/// If a server has the data folder, the command talks to it; otherwise it works on the store itself.
/// The first key ends open mode at once.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  uptake keys create --tenant acme --role ingest
  uptake keys create --tenant acme --project shop --role widget --origin https://shop.example
  uptake keys list --json
  uptake keys revoke 4k2p9x0a7dqz")]
pub(super) struct Keys {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Make a key and print it, this once.
    Create(Create),
    /// List all keys, without their secrets.
    List(List),
    /// Revoke a key by its id.
    Revoke(Revoke),
}

#[derive(Debug, Args)]
struct Create {
    #[command(flatten)]
    common: Common,
    /// Whose key it is.
    #[arg(long)]
    tenant: String,
    /// Only for this project; all of the tenant's when absent.
    #[arg(long)]
    project: Option<String>,
    /// widget, ingest, read or admin.
    #[arg(long)]
    role: String,
    /// Requests per second that it may make.
    #[arg(long)]
    rate: Option<u32>,
    /// The web page's origin that it may be used from, for widgets.
    #[arg(long, value_name = "URL")]
    origin: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct List {
    #[command(flatten)]
    common: Common,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct Revoke {
    #[command(flatten)]
    common: Common,
    /// The id, as `uptake keys list` shows it.
    id: String,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Keys {
    pub(super) fn run(self) -> anyhow::Result<()> {
        match self.action {
            Action::Create(create) => create.run(),
            Action::List(list) => list.run(),
            Action::Revoke(revoke) => revoke.run(),
        }
    }
}

impl Create {
    fn run(self) -> anyhow::Result<()> {
        let (config, _) = self.common.load(Vec::new())?;
        let body = json!({"tenant": self.tenant, "project": self.project, "role": self.role,
            "rate": self.rate, "origin": self.origin});
        let made = ask_or_make(&config, |server| server.post("/api/v1/keys", &body))?;
        let key = made["key"].as_str().context("the server answered without a key")?;
        if self.json {
            println!("{made}");
        } else {
            println!("{key}");
            let id = made["id"].as_str().unwrap_or("unknown");
            eprintln!("Keep it: it is shown this once. Its id is {id}.");
        }
        Ok(())
    }
}

impl List {
    fn run(self) -> anyhow::Result<()> {
        let (config, _) = self.common.load(Vec::new())?;
        let found = ask(&config, |server| server.get("/api/v1/keys"))?;
        if self.json {
            println!("{found}");
            return Ok(());
        }
        let keys = found["keys"].as_array().cloned().unwrap_or_default();
        if keys.is_empty() {
            println!("no keys; the server is open to this machine");
            return Ok(());
        }
        println!("{:12}  {:8}  {:20}  {:20}  created", "id", "role", "tenant/project", "state");
        for key in keys {
            let text = |name: &str| key[name].as_str().unwrap_or("*").to_owned();
            let state = key["revoked_at"]
                .as_str()
                .map_or("valid".to_owned(), |at| format!("revoked {}", &at[..10]));
            let scope = format!("{}/{}", text("tenant"), text("project"));
            println!(
                "{:12}  {:8}  {scope:20}  {state:20}  {}",
                text("id"),
                text("role"),
                text("created_at")
            );
        }
        Ok(())
    }
}

impl Revoke {
    fn run(self) -> anyhow::Result<()> {
        let path = format!("/api/v1/keys/{}", in_path("key's id", &self.id)?);
        let (config, _) = self.common.load(Vec::new())?;
        let answer = ask(&config, |server| server.delete(&path))?;
        match (self.json, answer["revoked"].as_bool()) {
            (true, _) => println!("{answer}"),
            (false, Some(true)) => println!("revoked {}", self.id),
            (false, _) => println!("{} was revoked before", self.id),
        }
        Ok(())
    }
}
