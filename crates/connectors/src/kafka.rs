//! Kafka: the way out to other systems, and the way in from there. Any broker that speaks its protocol.
//!
//! The client is librdkafka. It is built without TLS, which would be OpenSSL: brokers are reached in
//! plain text, within a network that is trusted or through a tunnel.

mod context;
mod topics;
mod producer;
mod consumer;
#[cfg(test)]
mod tests;

pub use consumer::{Group, KafkaInlet};
pub use producer::{KafkaOutlet, KafkaSettings};

use rdkafka::error::KafkaError;

use crate::error::StoreError;

/// The largest message. An event of a request of the usual size fits.
const LARGEST: u32 = 4 << 20;

fn away(error: &KafkaError) -> StoreError {
    StoreError::Unavailable(format!("Kafka: {error}"))
}
