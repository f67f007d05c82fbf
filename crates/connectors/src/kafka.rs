//! Kafka as a sink and a source of events.
//!
//! The client is librdkafka, built without TLS (which would need OpenSSL). Brokers must be
//! reachable in plain text, on a trusted network or through a tunnel.

mod context;
mod topics;
mod sink;
mod source;
#[cfg(test)]
mod tests;

pub use sink::KafkaSink;
pub use source::KafkaSource;

use rdkafka::error::KafkaError;

use crate::error::ConnectorError;

/// Large enough for an event of the default request size.
const MAX_MESSAGE_BYTES: u32 = 4 << 20;

#[derive(Clone, Debug, Default)]
pub struct KafkaSettings {
    /// Bootstrap servers as `HOST:PORT`, separated by commas.
    pub brokers: String,
    /// The prefix of topic names.
    pub prefix: String,
    /// Creates missing topics.
    pub create_topics: bool,
    /// Partitions of created topics; 0: the broker's default.
    pub partitions: u32,
    /// Replicas of created topics; 0: the broker's default.
    pub replication: u32,
}

fn unavailable_error(error: &KafkaError) -> ConnectorError {
    ConnectorError::Unavailable(format!("Kafka: {error}"))
}
