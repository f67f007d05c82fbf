//! Publishes to Kafka: idempotent, in order, acknowledged by all replicas.

use std::sync::Arc;

use futures_util::future::join_all;
use parking_lot::Mutex;
use rdkafka::config::ClientConfig;
use rdkafka::error::KafkaError;
use rdkafka::message::{Header, OwnedHeaders};
use rdkafka::producer::future_producer::OwnedDeliveryResult;
use rdkafka::producer::{DeliveryFuture, FutureProducer, FutureRecord};
use rdkafka::types::RDKafkaErrorCode;

use super::context::LogContext;
use super::{KafkaSettings, MAX_MESSAGE_BYTES, topics, unavailable_error};
use crate::error::ConnectorError;
use crate::error::ConnectorFuture;
use crate::event_sink::{EventSink, OutgoingMessage, RejectedMessage};

pub struct KafkaSink {
    settings: KafkaSettings,
    topics: Vec<String>,
    slot: Slot,
}

type Producer = FutureProducer<LogContext>;
type Slot = Arc<Mutex<Option<Producer>>>;

impl KafkaSink {
    /// Connects with the first publication.
    pub fn new(settings: KafkaSettings, topics: &[&str]) -> Self {
        let topics = topics.iter().map(|topic| format!("{}{topic}", settings.prefix)).collect();
        Self { settings, topics, slot: Slot::default() }
    }

    fn config(&self) -> ClientConfig {
        let mut config = ClientConfig::new();
        config
            .set("bootstrap.servers", &self.settings.brokers)
            .set("client.id", "uptake")
            .set("enable.idempotence", "true")
            .set("acks", "all")
            // No message times out, because a later one could overtake it.
            .set("message.timeout.ms", "0")
            .set("message.max.bytes", MAX_MESSAGE_BYTES.to_string())
            .set("compression.type", "lz4")
            // The partitioner of Java clients, so that they find keys in the same partition.
            .set("partitioner", "murmur2_random")
            .set("reconnect.backoff.max.ms", "1000")
            .set("linger.ms", "1");
        config
    }

    /// The idle producer, or a new one after checking the topics.
    async fn producer(&self) -> Result<Held, ConnectorError> {
        let there = self.slot.lock().take();
        let producer = match there {
            Some(producer) => producer,
            None => {
                let (config, settings) = (self.config(), self.settings.clone());
                let names = self.topics.clone();
                let open = move || {
                    topics::ensure(&settings, &names)?;
                    config
                        .create_with_context(LogContext)
                        .map_err(|error| unavailable_error(&error))
                };
                let opened = tokio::task::spawn_blocking(open).await;
                let panicked =
                    |_| Err(ConnectorError::Unavailable("opening Kafka panicked".into()));
                opened.unwrap_or_else(panicked)?
            }
        };
        Ok(Held { producer: Some(producer), slot: Arc::clone(&self.slot) })
    }
}

impl EventSink for KafkaSink {
    fn name(&self) -> String {
        format!("kafka:{}", self.settings.prefix)
    }

    fn publish(&self, messages: Vec<OutgoingMessage>) -> ConnectorFuture<'_, Vec<RejectedMessage>> {
        Box::pin(async move {
            let held = self.producer().await?;
            let Some(producer) = &held.producer else { return Err(ConnectorError::Busy) };
            let (mut under_way, mut refused) = (Vec::with_capacity(messages.len()), Vec::new());
            for (index, message) in messages.iter().enumerate() {
                let topic = format!("{}{}", self.settings.prefix, message.topic);
                match send(producer, &topic, message) {
                    Ok(delivery) => under_way.push(async move { (index, delivery.await) }),
                    Err(error) => refused.push(refuse(index, &error)?),
                }
            }
            let mut suspects = Vec::new();
            for (index, delivery) in join_all(under_way).await {
                suspects.extend(outcome(index, delivery)?);
            }
            // A broker rejects a whole batch; sending its messages one by one shows which is at
            // fault.
            for RejectedMessage { index, .. } in suspects {
                let Some(message) = messages.get(index) else { continue };
                let topic = format!("{}{}", self.settings.prefix, message.topic);
                let alone =
                    send(producer, &topic, message).map_err(|error| unavailable_error(&error))?;
                refused.extend(outcome(index, alone.await)?);
            }
            held.give_back();
            Ok(refused)
        })
    }
}

fn send(
    producer: &Producer,
    topic: &str,
    message: &OutgoingMessage,
) -> Result<DeliveryFuture, KafkaError> {
    let mut headers = OwnedHeaders::new_with_capacity(message.headers.len());
    for (key, value) in &message.headers {
        headers = headers.insert(Header { key, value: Some(value) });
    }
    let mut record = FutureRecord::to(topic).key(&message.key).headers(headers);
    if let Some(value) = &message.value {
        record = record.payload(value);
    }
    producer.send_result(record).map_err(|(error, _)| error)
}

/// A rejected message; errors that a retry may fix are returned as errors.
fn outcome<E>(
    index: usize,
    delivery: Result<OwnedDeliveryResult, E>,
) -> Result<Option<RejectedMessage>, ConnectorError> {
    match delivery {
        Ok(Ok(_)) => Ok(None),
        Ok(Err((error, _))) => refuse(index, &error).map(Some),
        Err(_) => Err(ConnectorError::Unavailable("Kafka: cancelled".into())),
    }
}

/// Only errors of the message itself are final.
fn refuse(index: usize, error: &KafkaError) -> Result<RejectedMessage, ConnectorError> {
    let of_itself = matches!(
        error.rdkafka_error_code(),
        Some(
            RDKafkaErrorCode::MessageSizeTooLarge
                | RDKafkaErrorCode::InvalidMessageSize
                | RDKafkaErrorCode::InvalidRecord
        )
    );
    if of_itself {
        Ok(RejectedMessage { index, reason: error.to_string() })
    } else {
        Err(unavailable_error(error))
    }
}

/// A borrowed producer. It is reused only after success; dropping it withdraws unsent messages.
struct Held {
    producer: Option<Producer>,
    slot: Slot,
}

impl Held {
    fn give_back(mut self) {
        *self.slot.lock() = self.producer.take();
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(producer) = self.producer.take() {
            // On a thread, because the drop waits for librdkafka's threads.
            std::thread::spawn(move || drop(producer));
        }
    }
}
