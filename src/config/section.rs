//! The sections as they are written.

use serde::Deserialize;

/// The whole configuration.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    pub(crate) server: ServerSection,
    pub(crate) store: StoreSection,
    pub(crate) turn_log: TurnLogSection,
    pub(crate) log: LogSection,
}

/// `[server]`; `default.toml` explains each key.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ServerSection {
    pub(crate) listen: String,
    pub(crate) max_body_kib: usize,
    pub(crate) max_batch_mib: usize,
}

/// `[store]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StoreSection {
    pub(crate) data: String,
    pub(crate) queue_mib: usize,
    pub(crate) group_writes: usize,
    pub(crate) readers: usize,
}

/// `[turn_log]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TurnLogSection {
    pub(crate) mirror: bool,
    pub(crate) keep: KeepCopies,
    pub(crate) folder: String,
}

/// Where copies of turn logs are kept.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum KeepCopies {
    Table,
    Folder,
}

/// `[log]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LogSection {
    pub(crate) level: String,
    pub(crate) format: LogFormat,
}

/// How log lines are written.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogFormat {
    Text,
    Json,
}
