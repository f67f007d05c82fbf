//! Kafka: the way out to other systems, and the way in from there. Any broker that speaks its protocol.
//!
//! The client is librdkafka. It is built without TLS, which would be OpenSSL: brokers are reached in
//! plain text, within a network that is trusted or through a tunnel.

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

/// The largest message. An event of a request of the usual size fits.
const MAX_MESSAGE_BYTES: u32 = 4 << 20;

fn away(error: &KafkaError) -> ConnectorError {
    ConnectorError::Unavailable(format!("Kafka: {error}"))
}
