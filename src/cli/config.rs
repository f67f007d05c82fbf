//! `uptake config`

use clap::Args;
use serde_json::{Map, Value, json};

use super::Common;
use super::shown_address::with_stars;
use crate::config::Setting;

/// Show the effective configuration.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  uptake config
  uptake config --config uptake.toml --json
  UPTAKE__LOG__LEVEL=debug uptake config")]
pub(super) struct Show {
    #[command(flatten)]
    common: Common,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Show {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let (_, settings) = self.common.load(Vec::new())?;
        if self.json {
            let all: Map<String, Value> = settings
                .iter()
                .map(|(key, s)| {
                    (key.clone(), json!({"value": shown(&s.value), "origin": s.origin}))
                })
                .collect();
            println!("{}", serde_json::to_string_pretty(&all)?);
            return Ok(());
        }
        let setting = |key: &str| format!("{key} = {}", shown(&settings[key].value));
        let width = settings.keys().map(|key| setting(key).len()).max().unwrap_or(0);
        for (key, Setting { origin, .. }) in &settings {
            println!("{:width$}  # {origin}", setting(key));
        }
        Ok(())
    }
}

/// A value without the passwords that an address may hold.
fn shown(value: &toml::Value) -> toml::Value {
    match value.as_str() {
        Some(text) => toml::Value::String(with_stars(text)),
        None => value.clone(),
    }
}
