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

pub use sink::{KafkaSettings, KafkaSink};
pub use source::{ConsumerGroup, KafkaSource};

use rdkafka::error::KafkaError;

use crate::error::ConnectorError;

/// Large enough for an event of the default request size.
const MAX_MESSAGE_BYTES: u32 = 4 << 20;

fn away(error: &KafkaError) -> ConnectorError {
    ConnectorError::Unavailable(format!("Kafka: {error}"))
}
