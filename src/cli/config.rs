//! `uptake config`

use clap::Args;
use serde_json::{Map, Value, json};

use super::Common;
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
        Some(text) => toml::Value::String(without_password(text)),
        None => value.clone(),
    }
}

fn without_password(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else {
        return unnamed(address, char::is_whitespace);
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (place, behind) = (&rest[..end], unnamed(&rest[end..], |letter| letter == '&'));
    match place.rsplit_once('@').map(|(who, host)| (who.split_once(':'), host)) {
        Some((Some((user, _)), host)) => format!("{scheme}://{user}:***@{host}{behind}"),
        Some((None, _)) | None => format!("{scheme}://{place}{behind}"),
    }
}

/// Without the password that is given by its name.
fn unnamed(text: &str, ends: impl Fn(char) -> bool) -> String {
    let Some((before, rest)) = text.split_once("password=") else { return text.to_owned() };
    let end = rest.find(ends).unwrap_or(rest.len());
    format!("{before}password=***{}", &rest[end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_shown() {
        let rows = [
            ("redis://:secret@h:6379/0", "redis://:***@h:6379/0"),
            ("postgres://u:s@cret@h/db?x=1", "postgres://u:***@h/db?x=1"),
            ("postgres://u@h:5432/db", "postgres://u@h:5432/db"),
            ("http://127.0.0.1:11434/v1", "http://127.0.0.1:11434/v1"),
            ("host=h password=secret user=u", "host=h password=*** user=u"),
            (
                "postgres://h/db?user=u&password=secret&x=1",
                "postgres://h/db?user=u&password=***&x=1",
            ),
            ("postgres://u:a@h/db?password=secret", "postgres://u:***@h/db?password=***"),
            ("./data", "./data"),
            ("", ""),
        ];
        for (address, expected) in rows {
            assert_eq!(without_password(address), expected);
        }
    }
}
