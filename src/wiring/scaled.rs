//! What only a build with the feature `scaled` can do.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use connectors::{BlobStore, EventSink, EventSource, QueryHistory};
use engine::RetryRule;
use store::{Limits, ReadOnlyLog, Store};

use crate::config::{KafkaSection, TurnLogSection};

/// The store in a Postgres database.
#[cfg(feature = "scaled")]
pub(super) fn store(
    folder: &Path,
    address: &str,
    limits: Limits,
    fresh_key: [u8; 32],
) -> anyhow::Result<Store> {
    Ok(Store::connect(folder, address, limits, fresh_key)?)
}

/// The log in a Postgres database.
#[cfg(feature = "scaled")]
pub(super) fn log(address: &str) -> anyhow::Result<ReadOnlyLog> {
    Ok(ReadOnlyLog::connect(address)?)
}

/// The latest questions in Redis. It need not be there yet.
#[cfg(feature = "scaled")]
pub(super) async fn history(
    address: &str,
    timeout: Duration,
    rule: &RetryRule,
) -> anyhow::Result<Arc<dyn QueryHistory>> {
    let settings = connectors::redis::RedisSettings {
        address: address.to_owned(),
        timeout,
        window: rule.window,
        most: rule.most,
    };
    Ok(Arc::new(connectors::redis::RedisHistory::open(settings).await?))
}

/// Kafka, to publish to.
#[cfg(feature = "scaled")]
pub(super) fn outlet(section: &KafkaSection) -> anyhow::Result<Arc<dyn EventSink>> {
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

/// A member of a group of Kafka's, to take messages.
#[cfg(feature = "scaled")]
pub(crate) fn inlet(
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

#[cfg(not(feature = "scaled"))]
pub(super) fn outlet(_: &KafkaSection) -> anyhow::Result<Arc<dyn EventSink>> {
    anyhow::bail!(
        "this program was built without Kafka; build with `--features scaled`, or leave kafka.brokers empty"
    )
}

#[cfg(not(feature = "scaled"))]
pub(crate) fn inlet(_: &str, _: &str, _: Vec<String>) -> anyhow::Result<Box<dyn EventSource>> {
    anyhow::bail!("this program was built without Kafka; build with `--features scaled`")
}

/// Documents in a bucket. Credentials come from a file, or from the environment as AWS names them.
#[cfg(feature = "scaled")]
pub(super) fn bucket(section: &TurnLogSection) -> anyhow::Result<Arc<dyn BlobStore>> {
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
pub(super) fn bucket(_: &TurnLogSection) -> anyhow::Result<Arc<dyn BlobStore>> {
    anyhow::bail!(ABSENT)
}

#[cfg(not(feature = "scaled"))]
const ABSENT: &str = "this program was built without it; build with `--features scaled`, or leave \
    this setting empty";

#[cfg(not(feature = "scaled"))]
pub(super) fn store(_: &Path, _: &str, _: Limits, _: [u8; 32]) -> anyhow::Result<Store> {
    anyhow::bail!(ABSENT)
}

#[cfg(not(feature = "scaled"))]
pub(super) fn log(_: &str) -> anyhow::Result<ReadOnlyLog> {
    anyhow::bail!(ABSENT)
}

#[cfg(not(feature = "scaled"))]
#[expect(clippy::unused_async, reason = "the one that is built with the feature waits")]
pub(super) async fn history(
    _: &str,
    _: Duration,
    _: &RetryRule,
) -> anyhow::Result<Arc<dyn QueryHistory>> {
    anyhow::bail!(
        "this program was built without it; build with `--features scaled`, or leave history.redis empty"
    )
}
