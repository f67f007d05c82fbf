//! The command `uptake config`.

use clap::Args;
use serde_json::{Map, Value, json};

use super::JsonCommon;
use super::password_mask::mask_passwords;
use crate::config::Setting;

/// Show the effective configuration and the origin of each value. Passwords are masked.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  uptake config
  uptake config --config uptake.toml --json
  UPTAKE__LOG__LEVEL=debug uptake config")]
pub(super) struct Show {
    #[command(flatten)]
    common: JsonCommon,
}

impl Show {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let (_, settings) = self.common.common.load(Vec::new())?;
        if self.common.json {
            let all: Map<String, Value> = settings
                .iter()
                .map(|(key, s)| {
                    (key.clone(), json!({"value": mask_value(&s.value), "origin": s.origin}))
                })
                .collect();
            println!("{}", serde_json::to_string_pretty(&all)?);
            return Ok(());
        }
        let setting = |key: &str| format!("{key} = {}", mask_value(&settings[key].value));
        let width = settings.keys().map(|key| setting(key).len()).max().unwrap_or(0);
        for (key, Setting { origin, .. }) in &settings {
            println!("{:width$}  # {origin}", setting(key));
        }
        Ok(())
    }
}

/// The value with the passwords in an address masked.
fn mask_value(value: &toml::Value) -> toml::Value {
    match value.as_str() {
        Some(text) => toml::Value::String(mask_passwords(text)),
        None => value.clone(),
    }
}
