//! Postgres, Redis, Kafka and S3: available in builds with the feature `scaled`.

#![cfg_attr(
    not(feature = "scaled"),
    expect(unused_variables, clippy::unused_async, reason = "without the feature all are refused")
)]

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

#[cfg(not(feature = "scaled"))]
fn refuse<T>(service: &'static str, setting: Option<&'static str>) -> anyhow::Result<T> {
    Err(MissingSupport { service, setting }.into())
}

pub(super) fn connect_store(
    folder: &Path,
    address: &str,
    limits: Limits,
    fresh_key: [u8; 32],
) -> anyhow::Result<Store> {
    #[cfg(feature = "scaled")]
    return Ok(Store::connect(folder, address, limits, fresh_key)?);
    #[cfg(not(feature = "scaled"))]
    return refuse("Postgres", Some("store.postgres"));
}

pub(super) fn connect_log(address: &str) -> anyhow::Result<ReadOnlyLog> {
    #[cfg(feature = "scaled")]
    return Ok(ReadOnlyLog::connect(address)?);
    #[cfg(not(feature = "scaled"))]
    return refuse("Postgres", Some("store.postgres"));
}

/// Recent questions in Redis. Succeeds while Redis is unreachable.
pub(super) async fn connect_history(
    address: &str,
    timeout: Duration,
    rule: &RetryRule,
) -> anyhow::Result<Arc<dyn QueryHistory>> {
    #[cfg(feature = "scaled")]
    return Ok(Arc::new(
        connectors::redis::RedisHistory::open(connectors::redis::RedisSettings {
            address: address.to_owned(),
            timeout,
            window: rule.window,
            most: rule.max_questions,
        })
        .await?,
    ));
    #[cfg(not(feature = "scaled"))]
    return refuse("Redis", Some("history.redis"));
}

pub(super) fn open_publisher(section: &KafkaSection) -> anyhow::Result<Arc<dyn EventSink>> {
    #[cfg(feature = "scaled")]
    return Ok(Arc::new(connectors::kafka::KafkaSink::new(
        connectors::kafka::KafkaSettings {
            brokers: section.brokers.clone(),
            prefix: section.prefix.clone(),
            create_topics: section.create_topics,
            partitions: section.partitions,
            replication: section.replication,
        },
        &engine::Topic::ALL_TOPICS.map(|(name, _)| name),
    )));
    #[cfg(not(feature = "scaled"))]
    return refuse("Kafka", Some("kafka.brokers"));
}

pub(crate) fn join_consumer_group(
    brokers: &str,
    group: &str,
    topics: &[&str],
) -> anyhow::Result<Box<dyn EventSource>> {
    #[cfg(feature = "scaled")]
    return Ok(Box::new(connectors::kafka::KafkaSource::join(brokers, group, topics)?));
    #[cfg(not(feature = "scaled"))]
    return refuse("Kafka", None);
}

/// Credentials come from a file, or from the `AWS_*` variables of the environment.
pub(super) fn open_bucket(section: &TurnLogSection) -> anyhow::Result<Arc<dyn BlobStore>> {
    #[cfg(feature = "scaled")]
    return Ok(Arc::new(connectors::S3BlobStore::new(&connectors::S3Settings {
        bucket: section.bucket.clone(),
        prefix: section.prefix.clone(),
        endpoint: section.endpoint.clone(),
        region: section.region.clone(),
        options: crate::config::aws_options(&section.credentials_file)?,
    })?));
    #[cfg(not(feature = "scaled"))]
    return refuse("S3", Some("turn_log.bucket"));
}
