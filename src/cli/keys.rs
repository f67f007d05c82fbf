//! The command `uptake keys`.

use anyhow::Context;
use clap::{Args, Subcommand};
use serde_json::json;

use super::JsonCommon;
use super::server_query::{check_path_segment, query_or_create_store, query_server};

/// Create, list and revoke API keys.
///
/// The command works with the server that holds the data folder, or directly on the store when no server
/// runs. While no key exists, the API is open to this machine. Creating the first key closes it.
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
    /// Create a key and print its secret, which is not shown again.
    Create(Create),
    /// List all keys, without their secrets.
    List(JsonCommon),
    /// Revoke a key by its id.
    Revoke(Revoke),
}

#[derive(Debug, Args)]
struct Create {
    #[command(flatten)]
    common: JsonCommon,
    /// Tenant of the key.
    #[arg(long)]
    tenant: String,
    /// Restrict the key to this project; all projects of the tenant when absent.
    #[arg(long)]
    project: Option<String>,
    /// Role: widget, ingest, read or admin.
    #[arg(long)]
    role: String,
    /// Rate limit in requests per second.
    #[arg(long)]
    rate: Option<u32>,
    /// For widget keys: origin of the web page that uses the key.
    #[arg(long, value_name = "URL")]
    origin: Option<String>,
}

#[derive(Debug, Args)]
struct Revoke {
    #[command(flatten)]
    common: JsonCommon,
    /// Id of the key, from `uptake keys list`.
    id: String,
}

impl Keys {
    pub(super) fn run(self) -> anyhow::Result<()> {
        match self.action {
            Action::Create(create) => create.run(),
            Action::List(common) => list_keys(&common),
            Action::Revoke(revoke) => revoke.run(),
        }
    }
}

impl Create {
    fn run(self) -> anyhow::Result<()> {
        let config = self.common.load()?;
        let body = json!({"tenant": self.tenant, "project": self.project, "role": self.role,
            "rate": self.rate, "origin": self.origin});
        let made = query_or_create_store(&config, |server| server.post("/api/v1/keys", &body))?;
        let key = made["key"].as_str().context("the server's response has no key")?;
        if self.common.json {
            println!("{made}");
        } else {
            println!("{key}");
            let id = made["id"].as_str().unwrap_or("unknown");
            eprintln!("Save this key: it is not shown again. Its id is {id}.");
        }
        Ok(())
    }
}

fn list_keys(common: &JsonCommon) -> anyhow::Result<()> {
    let config = common.load()?;
    let found = query_server(&config, |server| server.get("/api/v1/keys"))?;
    if common.json {
        println!("{found}");
        return Ok(());
    }
    let keys = found["keys"].as_array().cloned().unwrap_or_default();
    if keys.is_empty() {
        println!("no keys; the API is open to this machine");
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

impl Revoke {
    fn run(self) -> anyhow::Result<()> {
        let path = format!("/api/v1/keys/{}", check_path_segment("key id", &self.id)?);
        let config = self.common.load()?;
        let answer = query_server(&config, |server| server.delete(&path))?;
        match (self.common.json, answer["revoked"].as_bool()) {
            (true, _) => println!("{answer}"),
            (false, Some(true)) => println!("revoked {}", self.id),
            (false, _) => println!("{} was already revoked", self.id),
        }
        Ok(())
    }
}
