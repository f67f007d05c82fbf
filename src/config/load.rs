//! Merges defaults, file, environment and flags, and records the origin of each value.
//!
//! Hand-written because `figment` would not save lines: it does not suggest keys for misspelt ones,
//! and it parses variables by their text instead of by the type of the default.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, bail};
use toml::{Table, Value};

use super::Config;

const DEFAULTS: &str = include_str!("default.toml");
const ENVIRONMENT_PREFIX: &str = "UPTAKE__";

#[derive(Clone, Debug)]
pub(crate) struct Setting {
    pub(crate) value: Value,
    /// Shown to the user: `default`, `file PATH`, `environment NAME` or `flag --NAME`.
    pub(crate) origin: String,
}

/// Settings by dotted key.
pub(crate) type Settings = BTreeMap<String, Setting>;

/// Values from flags: key, value, flag.
pub(crate) type Overrides = Vec<(&'static str, String, &'static str)>;

/// Loads the effective configuration, and each value with its origin.
pub(crate) fn load(file: Option<&Path>, flags: Overrides) -> anyhow::Result<(Config, Settings)> {
    let environment = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
        .filter(|(name, _)| name.starts_with(ENVIRONMENT_PREFIX))
        .map(|(name, value)| match value.into_string() {
            Ok(text) => Ok((name, text)),
            Err(_) => bail!("environment variable {name} is not valid UTF-8"),
        })
        .collect::<anyhow::Result<Vec<_>>>()?;
    merge_sources(file, environment, flags)
}

fn merge_sources(
    file: Option<&Path>,
    environment: Vec<(String, String)>,
    flags: Overrides,
) -> anyhow::Result<(Config, Settings)> {
    let mut settings = Settings::new();
    let defaults: Table = DEFAULTS.parse().context("cannot parse the built-in defaults")?;
    for (key, value) in flatten_table("", defaults) {
        settings.insert(key, Setting { value, origin: "default".to_owned() });
    }
    if let Some(path) = file {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read the configuration file {}", path.display()))?;
        let origin = format!("file {}", path.display());
        let table: Table = text.parse().with_context(|| format!("{origin} is not valid TOML"))?;
        for (key, value) in flatten_table("", table) {
            set_value(&mut settings, &key, value, &origin)?;
        }
    }
    for (name, text) in environment {
        let key = name[ENVIRONMENT_PREFIX.len()..].to_ascii_lowercase().replace("__", ".");
        set_text(&mut settings, &key, &text, &format!("environment {name}"))?;
    }
    for (key, text, flag) in flags {
        set_text(&mut settings, key, &text, &format!("flag {flag}"))?;
    }
    check_ranges(&settings)?;
    let config = Config::deserialize_from(&settings)?;
    Ok((config, settings))
}

/// Smallest and largest accepted value of each integer a server could not run with otherwise.
const INTEGER_RANGES: [(&str, i64, i64); 14] = [
    ("server.max_body_kib", 1, 1 << 20),
    ("server.max_batch_mib", 1, 1 << 12),
    ("server.linger_secs", 0, 3600),
    ("server.max_connections", 1, 1 << 20),
    ("server.idle_secs", 1, 86_400),
    ("store.queue_mib", 1, 1 << 16),
    ("store.group_writes", 1, 1 << 20),
    ("store.readers", 1, 1 << 10),
    ("store.similar_turns_per_project", 1, 1 << 30),
    ("store.similar_turns", 1, 1 << 30),
    ("detect.sweep_secs", 1, 86_400),
    ("detect.reader_budget_ms", 0, 60_000),
    ("detect.llm_reader_budget_ms", 0, 60_000),
    ("detect.llm_reader_calls_per_minute", 1, 100_000),
];

fn check_ranges(settings: &Settings) -> anyhow::Result<()> {
    for (key, least, most) in INTEGER_RANGES {
        let Some(Setting { value, origin }) = settings.get(key) else { continue };
        if value.as_integer().is_none_or(|number| !(least..=most).contains(&number)) {
            bail!("{origin}: {key} is {value}, expected {least} to {most}");
        }
    }
    Ok(())
}

impl Config {
    fn deserialize_from(settings: &Settings) -> anyhow::Result<Self> {
        let mut table = Table::new();
        for (key, setting) in settings {
            let (section, name) = key.split_once('.').unwrap_or(("", key));
            let section = table.entry(section).or_insert_with(|| Value::Table(Table::new()));
            if let Value::Table(section) = section {
                section.insert(name.to_owned(), setting.value.clone());
            }
        }
        Value::Table(table).try_into().context("the configuration is invalid")
    }
}

/// Turns nested tables into dotted keys.
fn flatten_table(prefix: &str, table: Table) -> Vec<(String, Value)> {
    let dotted = |name: String| match prefix {
        "" => name,
        prefix => format!("{prefix}.{name}"),
    };
    let mut flat = Vec::new();
    for (name, value) in table {
        if let Value::Table(inner) = value {
            flat.extend(flatten_table(&dotted(name), inner));
        } else {
            flat.push((dotted(name), value));
        }
    }
    flat
}

/// Parses text from the environment or a flag by the type of the default value.
fn set_text(settings: &mut Settings, key: &str, text: &str, origin: &str) -> anyhow::Result<()> {
    let value = match settings.get(key).map(|setting| &setting.value) {
        Some(Value::Integer(_)) => text.parse().ok().map(Value::Integer),
        Some(Value::Float(_)) => text.parse().ok().map(Value::Float),
        Some(Value::Boolean(_)) => text.parse().ok().map(Value::Boolean),
        Some(_) | None => None,
    };
    set_value(settings, key, value.unwrap_or_else(|| Value::String(text.to_owned())), origin)
}

fn set_value(settings: &mut Settings, key: &str, value: Value, origin: &str) -> anyhow::Result<()> {
    let Some(setting) = settings.get_mut(key) else {
        bail!("{origin}: unknown setting {key}{}", suggest_key(settings, key));
    };
    let value = match (&value, &setting.value) {
        // TOML writes `40` for a float setting too.
        (Value::Integer(whole), Value::Float(_)) => Value::Float(*whole as f64),
        _ => value,
    };
    if !value.same_type(&setting.value) {
        let (got, expected) = (type_name(&value), type_name(&setting.value));
        bail!("{origin}: {key} is {got} ({value}), expected {expected}");
    }
    *setting = Setting { value, origin: origin.to_owned() };
    Ok(())
}

/// The TOML type with its article: "an integer".
fn type_name(value: &Value) -> String {
    let article = if value.is_integer() || value.is_array() { "an" } else { "a" };
    format!("{article} {}", value.type_str())
}

fn suggest_key(settings: &Settings, key: &str) -> String {
    let distance = |known: &&String| strsim::damerau_levenshtein(known, key);
    match settings.keys().min_by_key(distance).filter(|known| distance(known) <= 5) {
        Some(known) => format!("; did you mean {known}?"),
        None => "; `uptake config` lists all settings".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    #[test]
    fn integers_out_of_range_are_refused_and_an_integer_is_a_valid_float() {
        for (key, least, most) in INTEGER_RANGES {
            let name =
                format!("{ENVIRONMENT_PREFIX}{}", key.to_ascii_uppercase().replace('.', "__"));
            for (number, fits) in
                [(least, true), (most, true), (least - 1, false), (most + 1, false)]
            {
                let merged =
                    merge_sources(None, vec![pair(&name, &number.to_string())], Vec::new());
                let message = merged.err().map(|error| error.to_string()).unwrap_or_default();
                assert_eq!(message.is_empty(), fits, "{key} = {number}: {message}");
                assert!(
                    fits || message.contains(&format!("expected {least} to {most}")),
                    "{message}"
                );
            }
        }
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("uptake.toml");
        std::fs::write(&file, "[detect]\nlow_over_secs = 40").unwrap();
        let (config, _) = merge_sources(Some(&file), Vec::new(), Vec::new()).unwrap();
        assert_eq!(config.detect.low_over_secs, 40.0);
    }

    #[test]
    fn later_sources_win_and_origins_are_recorded() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("uptake.toml");
        std::fs::write(&file, "[store]\nreaders = 2\ndata = 'f'\n[log]\nlevel = 'debug'").unwrap();
        let environment =
            vec![pair("UPTAKE__STORE__DATA", "e"), pair("UPTAKE__STORE__READERS", "3")];
        let flags = vec![("store.data", "g".to_owned(), "--data")];
        let (config, settings) = merge_sources(Some(&file), environment, flags).unwrap();
        assert_eq!((config.store.data.as_str(), config.store.readers), ("g", 3));
        assert_eq!(config.log.level, "debug");
        assert_eq!(settings["store.data"].origin, "flag --data");
        assert_eq!(settings["store.readers"].origin, "environment UPTAKE__STORE__READERS");
        assert_eq!(settings["server.listen"].origin, "default");
    }

    #[track_caller]
    fn check_refused(name: &str, value: &str, expected: &str) {
        let error = merge_sources(None, vec![pair(name, value)], vec![]).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }

    #[test]
    fn misspelt_keys_and_wrong_types_are_refused_with_a_hint() {
        check_refused("UPTAKE__SERVER__LISTN", "x", "did you mean server.listen?");
        check_refused("UPTAKE__STORE__READERS", "many", "store.readers is a string");
        check_refused("UPTAKE__STORE__READERS", "many", "expected an integer");
    }
}
