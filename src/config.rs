//! Configuration: one section per part of the program; `config/default.toml` documents each key.
//!
//! Precedence, lowest first: defaults, file, environment, flags.

#[cfg(feature = "scaled")]
mod aws;
mod load;

#[cfg(feature = "scaled")]
pub(crate) use aws::aws_options;
pub(crate) use load::{Overrides, Setting, load};

use api::TrustedProxies;
use serde::de::Error;
use serde::{Deserialize, Deserializer};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    pub(crate) server: ServerSection,
    pub(crate) store: StoreSection,
    pub(crate) history: HistorySection,
    pub(crate) turn_log: TurnLogSection,
    pub(crate) kafka: KafkaSection,
    pub(crate) embed: EmbedSection,
    pub(crate) llm: LlmSection,
    pub(crate) detect: DetectSection,
    pub(crate) alerts: AlertsSection,
    pub(crate) log: LogSection,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ServerSection {
    pub(crate) listen: String,
    pub(crate) max_body_kib: usize,
    pub(crate) max_batch_mib: usize,
    pub(crate) linger_secs: u64,
    pub(crate) max_connections: usize,
    pub(crate) idle_secs: u64,
    #[serde(deserialize_with = "parse_trusted_proxies")]
    pub(crate) trusted_proxies: TrustedProxies,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StoreSection {
    pub(crate) data: String,
    pub(crate) postgres: String,
    pub(crate) queue_mib: usize,
    pub(crate) group_writes: usize,
    pub(crate) readers: usize,
    pub(crate) similar_turns_per_project: usize,
    pub(crate) similar_turns: usize,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HistorySection {
    pub(crate) redis: String,
    pub(crate) timeout_ms: u64,
}

#[cfg_attr(
    not(feature = "scaled"),
    expect(dead_code, reason = "only builds with the feature `scaled` read the S3 settings")
)]
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TurnLogSection {
    pub(crate) mirror: bool,
    pub(crate) keep: KeepCopies,
    pub(crate) folder: String,
    pub(crate) bucket: String,
    pub(crate) prefix: String,
    pub(crate) endpoint: String,
    pub(crate) region: String,
    pub(crate) credentials_file: String,
}

/// Storage of turn log copies.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum KeepCopies {
    Table,
    Folder,
    S3,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(
    not(feature = "scaled"),
    expect(dead_code, reason = "only builds with the feature `scaled` read the Kafka settings")
)]
pub(crate) struct KafkaSection {
    pub(crate) brokers: String,
    pub(crate) prefix: String,
    pub(crate) create_topics: bool,
    pub(crate) partitions: u32,
    pub(crate) replication: u32,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EmbedSection {
    pub(crate) url: String,
    pub(crate) model: String,
    pub(crate) key_file: String,
    pub(crate) timeout_ms: u64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LlmSection {
    pub(crate) url: String,
    pub(crate) model: String,
    pub(crate) key_file: String,
    pub(crate) timeout_ms: u64,
    pub(crate) max_tokens: u32,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AlertsSection {
    pub(crate) allow_private_webhooks: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DetectSection {
    pub(crate) mode: DetectMode,
    pub(crate) reader: ReaderSwitch,
    pub(crate) reader_budget_ms: u64,
    pub(crate) llm_reader: LlmReaderSwitch,
    pub(crate) llm_reader_budget_ms: u64,
    pub(crate) llm_reader_calls_per_minute: u32,
    pub(crate) session_minutes: u64,
    pub(crate) sweep_secs: u64,
    pub(crate) rephrased_same_intent: f64,
    pub(crate) rephrased: f64,
    pub(crate) moved_on: MovedOn,
    pub(crate) min_confidence: f64,
    pub(crate) target_floor: f64,
    pub(crate) target_margin: f64,
    pub(crate) target_scope: TargetScope,
    pub(crate) usage_run_share: f64,
    pub(crate) usage_identifier_share: f64,
    pub(crate) retry_similarity: f64,
    pub(crate) retry_window_secs: u64,
    pub(crate) retry_history: usize,
    pub(crate) min_response_chars: usize,
    pub(crate) refusal_confidence: f64,
    pub(crate) medium_over_secs: f64,
    pub(crate) low_over_secs: f64,
    pub(crate) complex_medium_over_secs: f64,
    pub(crate) complex_low_over_secs: f64,
}

/// Detector that judges an answer by the user's next message.
#[derive(Clone, Copy, Debug, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DetectMode {
    /// The rules of the reference specification, for comparison.
    Seed,
    /// Phrase lists without the model.
    Rules,
    /// Phrases, then the trained model.
    Model,
}

/// Switches the reader, which reads messages that the instant models are unsure about.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ReaderSwitch {
    /// If the build has the feature `reader`.
    Auto,
    Off,
}

/// Switches the chat model of `[llm]` as a judge of messages.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LlmReaderSwitch {
    Off,
    /// Asked about messages that the reader is uncertain about.
    Uncertain,
}

/// Verdict on an answer that is followed by an unrelated question.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum MovedOn {
    Accepted,
    Neutral,
}

/// Turns that a remark about an earlier answer is matched with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum TargetScope {
    Conversation,
    User,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LogSection {
    pub(crate) level: String,
    pub(crate) format: LogFormat,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogFormat {
    Text,
    Json,
}

fn parse_trusted_proxies<'de, D: Deserializer<'de>>(value: D) -> Result<TrustedProxies, D::Error> {
    let networks = String::deserialize(value)?;
    TrustedProxies::parse(&networks).map_err(|part| {
        D::Error::custom(format!(
            "server.trusted_proxies has {part:?}, expected addresses or networks such as \
             \"10.0.0.0/8, 127.0.0.1\""
        ))
    })
}
