//! Postgres, Redis, Kafka and S3: available in builds with the feature `scaled`.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use connectors::{BlobStore, EventSink, EventSource, QueryHistory};
use engine::RetryRule;
use store::{Limits, ReadOnlyLog, Store};

use crate::config::{KafkaSection, TurnLogSection};

/// A service that the command line or the configuration asks for and this build does not include.
#[derive(Debug)]
pub(crate) struct MissingSupport {
    service: &'static str,
    /// The setting to clear, when a setting asks for the service.
    setting: Option<&'static str>,
}

impl fmt::Display for MissingSupport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { service, setting } = self;
        write!(
            f,
            "this build has no {service} support: build with `cargo build --release --features scaled`"
        )?;
        match setting {
            Some(setting) => write!(f, ", or leave {setting} empty"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for MissingSupport {}

/// Fails in builds without the feature `scaled`, for a command that needs the service.
pub(crate) fn require_support(service: &'static str) -> Result<(), MissingSupport> {
    match cfg!(feature = "scaled") {
        true => Ok(()),
        false => Err(MissingSupport { service, setting: None }),
    }
}

#[cfg(feature = "scaled")]
pub(super) fn connect_store(
    folder: &Path,
    address: &str,
    limits: Limits,
    fresh_key: [u8; 32],
) -> anyhow::Result<Store> {
    Ok(Store::connect(folder, address, limits, fresh_key)?)
}

#[cfg(feature = "scaled")]
pub(super) fn connect_log(address: &str) -> anyhow::Result<ReadOnlyLog> {
    Ok(ReadOnlyLog::connect(address)?)
}

/// Recent questions in Redis. Succeeds while Redis is unreachable.
#[cfg(feature = "scaled")]
pub(super) async fn connect_history(
    address: &str,
    timeout: Duration,
    rule: &RetryRule,
) -> anyhow::Result<Arc<dyn QueryHistory>> {
    let settings = connectors::redis::RedisSettings {
        address: address.to_owned(),
        timeout,
        window: rule.window,
        most: rule.max_questions,
    };
    Ok(Arc::new(connectors::redis::RedisHistory::open(settings).await?))
}

#[cfg(feature = "scaled")]
pub(super) fn open_publisher(section: &KafkaSection) -> anyhow::Result<Arc<dyn EventSink>> {
    let settings = connectors::kafka::KafkaSettings {
        brokers: section.brokers.clone(),
        prefix: section.prefix.clone(),
        create_topics: section.create_topics,
        partitions: section.partitions,
        replication: section.replication,
    };
    let topics = engine::Topic::ALL.map(|(name, _)| name);
    Ok(Arc::new(connectors::kafka::KafkaSink::new(settings, &topics)))
}

#[cfg(feature = "scaled")]
pub(crate) fn join_consumer_group(
    brokers: &str,
    group: &str,
    topics: Vec<String>,
) -> anyhow::Result<Box<dyn EventSource>> {
    let group = connectors::kafka::ConsumerGroup {
        brokers: brokers.to_owned(),
        name: group.to_owned(),
        topics,
    };
    Ok(Box::new(connectors::kafka::KafkaSource::join(&group)?))
}

/// Credentials come from a file, or from the `AWS_*` variables of the environment.
#[cfg(feature = "scaled")]
pub(super) fn open_bucket(section: &TurnLogSection) -> anyhow::Result<Arc<dyn BlobStore>> {
    let options = crate::config::aws_options(&section.credentials_file)?;
    let place = connectors::S3Settings {
        bucket: section.bucket.clone(),
        prefix: section.prefix.clone(),
        endpoint: section.endpoint.clone(),
        region: section.region.clone(),
        options,
    };
    Ok(Arc::new(connectors::S3BlobStore::new(&place)?))
}

#[cfg(not(feature = "scaled"))]
fn refuse<T>(service: &'static str, setting: &'static str) -> anyhow::Result<T> {
    Err(MissingSupport { service, setting: Some(setting) }.into())
}

#[cfg(not(feature = "scaled"))]
pub(super) fn connect_store(_: &Path, _: &str, _: Limits, _: [u8; 32]) -> anyhow::Result<Store> {
    refuse("Postgres", "store.postgres")
}

#[cfg(not(feature = "scaled"))]
pub(super) fn connect_log(_: &str) -> anyhow::Result<ReadOnlyLog> {
    refuse("Postgres", "store.postgres")
}

#[cfg(not(feature = "scaled"))]
#[expect(clippy::unused_async, reason = "the version with the feature is async")]
pub(super) async fn connect_history(
    _: &str,
    _: Duration,
    _: &RetryRule,
) -> anyhow::Result<Arc<dyn QueryHistory>> {
    refuse("Redis", "history.redis")
}

#[cfg(not(feature = "scaled"))]
pub(super) fn open_publisher(_: &KafkaSection) -> anyhow::Result<Arc<dyn EventSink>> {
    refuse("Kafka", "kafka.brokers")
}

#[cfg(not(feature = "scaled"))]
pub(crate) fn join_consumer_group(
    _: &str,
    _: &str,
    _: Vec<String>,
) -> anyhow::Result<Box<dyn EventSource>> {
    Err(MissingSupport { service: "Kafka", setting: None }.into())
}

#[cfg(not(feature = "scaled"))]
pub(super) fn open_bucket(_: &TurnLogSection) -> anyhow::Result<Arc<dyn BlobStore>> {
    refuse("S3", "turn_log.bucket")
}
