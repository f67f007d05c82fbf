//! Creates missing topics.

use std::collections::BTreeSet;
use std::time::Duration;

use rdkafka::admin::{AdminClient, AdminOptions, NewTopic, TopicReplication};
use rdkafka::config::ClientConfig;
use rdkafka::types::RDKafkaErrorCode;

use super::context::LogContext;
use super::{KafkaSettings, MAX_MESSAGE_BYTES, unavailable_error};
use crate::error::ConnectorError;

const ADMIN_TIMEOUT: Duration = Duration::from_secs(10);

/// Checks and creates the topics. Blocks.
pub(super) fn ensure(settings: &KafkaSettings, names: &[String]) -> Result<(), ConnectorError> {
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", &settings.brokers).set("client.id", "uptake");
    let admin: AdminClient<LogContext> =
        config.create_with_context(LogContext).map_err(|error| unavailable_error(&error))?;
    let known = admin
        .inner()
        .fetch_metadata(None, ADMIN_TIMEOUT)
        .map_err(|error| unavailable_error(&error))?;
    let known: BTreeSet<&str> = known.topics().iter().map(|topic| topic.name()).collect();
    let missing: Vec<&String> =
        names.iter().filter(|name| !known.contains(name.as_str())).collect();
    if missing.is_empty() {
        return Ok(());
    }
    if !settings.create_topics {
        let missing: Vec<&str> = missing.iter().map(|name| name.as_str()).collect();
        return Err(ConnectorError::Unavailable(format!(
            "Kafka has no topic {}; create the missing topics, or set kafka.create_topics",
            missing.join(", ")
        )));
    }
    let size = MAX_MESSAGE_BYTES.to_string();
    // Without a setting the broker's default applies.
    let number = |wanted: u32| i32::try_from(wanted).ok().filter(|n| *n > 0).unwrap_or(-1);
    let copies = || TopicReplication::Fixed(number(settings.replication));
    let wanted: Vec<NewTopic<'_>> = missing
        .iter()
        .map(|name| NewTopic::new(name, number(settings.partitions), copies()))
        .map(|topic| topic.set("max.message.bytes", &size))
        .collect();
    let options = AdminOptions::new().operation_timeout(Some(ADMIN_TIMEOUT));
    let making = admin.create_topics(&wanted, &options);
    let made = tokio::runtime::Handle::current().block_on(making);
    for outcome in made.map_err(|error| unavailable_error(&error))? {
        match outcome {
            Ok(name) => tracing::info!(topic = name, "created a Kafka topic"),
            // Another node created it first.
            Err((_, RDKafkaErrorCode::TopicAlreadyExists)) => {}
            Err((name, code)) => {
                return Err(ConnectorError::Unavailable(format!(
                    "Kafka did not create the topic {name}: {code}"
                )));
            }
        }
    }
    Ok(())
}
