//! A member of a Kafka consumer group. Offsets are committed after processing.

use std::time::Duration;

use rdkafka::config::ClientConfig;
use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer, ConsumerContext, Rebalance};
use rdkafka::message::{BorrowedMessage, Headers, Message};
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};
use rdkafka::types::RDKafkaErrorCode;

use super::context::LogContext;
use super::unavailable_error;
use crate::error::ConnectorError;
use crate::event_source::{EventSource, ReceivedMessage};

impl ConsumerContext for LogContext {
    fn post_rebalance(&self, consumer: &BaseConsumer<Self>, _: &Rebalance<'_>) {
        let partitions = consumer.assignment().map_or(0, |mine| mine.count());
        tracing::info!(partitions, "partitions were reassigned");
    }
}

/// A batch ends when it reaches this size.
const MAX_BATCH_BYTES: usize = 4 << 20;

pub struct KafkaSource {
    consumer: Option<BaseConsumer<LogContext>>,
    // The last logged error, to log each error once.
    trouble: Option<String>,
}

impl KafkaSource {
    /// Joins a group, whose members share the partitions. A new group starts at the oldest message.
    /// `brokers` are bootstrap servers as `HOST:PORT`, separated by commas.
    pub fn join(brokers: &str, group: &str, topics: &[&str]) -> Result<Self, ConnectorError> {
        let mut config = ClientConfig::new();
        config
            .set("bootstrap.servers", brokers)
            .set("group.id", group)
            .set("client.id", "uptake")
            .set("enable.auto.commit", "false")
            .set("enable.auto.offset.store", "false")
            .set("auto.offset.reset", "earliest")
            // Members keep their partitions while others are reassigned.
            .set("partition.assignment.strategy", "cooperative-sticky")
            .set("session.timeout.ms", "10000")
            .set("heartbeat.interval.ms", "2000")
            .set("reconnect.backoff.max.ms", "1000")
            .set("topic.metadata.refresh.interval.ms", "5000")
            // Bounds the local queue of a slow member.
            .set("queued.max.messages.kbytes", "16384")
            .set("isolation.level", "read_committed");
        let consumer: BaseConsumer<LogContext> =
            config.create_with_context(LogContext).map_err(|error| unavailable_error(&error))?;
        consumer.subscribe(topics).map_err(|error| unavailable_error(&error))?;
        Ok(Self { consumer: Some(consumer), trouble: None })
    }

    fn consumer(&self) -> Result<&BaseConsumer<LogContext>, ConnectorError> {
        self.consumer.as_ref().ok_or(ConnectorError::Closed)
    }
}

impl EventSource for KafkaSource {
    fn take(
        &mut self,
        most: usize,
        wait: Duration,
    ) -> Result<Vec<ReceivedMessage>, ConnectorError> {
        let consumer = self.consumer()?;
        let (mut taken, mut wait, mut trouble) = (Vec::new(), wait, None);
        let mut bytes = 0;
        while taken.len() < most
            && bytes < MAX_BATCH_BYTES
            && let Some(found) = consumer.poll(wait)
        {
            match found {
                Ok(message) => {
                    bytes += message.payload_len() + message.key_len();
                    taken.push(arrived(&message));
                }
                // Transient: the topic may appear or the broker may return.
                Err(error) if is_passing(error.rdkafka_error_code()) => {
                    trouble = Some(error.to_string());
                    break;
                }
                Err(error) => return Err(unavailable_error(&error)),
            }
            // Takes only what has already arrived.
            wait = Duration::ZERO;
        }
        if !taken.is_empty() {
            self.trouble = None;
        }
        if let Some(error) = trouble.filter(|error| self.trouble.as_ref() != Some(error)) {
            tracing::warn!(error, "receiving from Kafka failed; retrying");
            self.trouble = Some(error);
        }
        Ok(taken)
    }

    fn done(&mut self, messages: &[ReceivedMessage]) -> Result<(), ConnectorError> {
        let consumer = self.consumer()?;
        let mut upto = TopicPartitionList::new();
        for message in messages {
            let ReceivedMessage { topic, partition, offset, .. } = message;
            let next = Offset::Offset(offset + 1);
            let known = upto.find_partition(topic, *partition).is_some();
            let noted = if known {
                upto.set_partition_offset(topic, *partition, next)
            } else {
                upto.add_partition_offset(topic, *partition, next)
            };
            noted.map_err(|error| unavailable_error(&error))?;
        }
        if upto.count() == 0 {
            return Ok(());
        }
        match consumer.commit(&upto, CommitMode::Sync) {
            Ok(()) => Ok(()),
            // The partition moved to another member, which receives the messages again. Their ids
            // make them repeats.
            Err(error) if has_moved(error.rdkafka_error_code()) => {
                tracing::info!(%error, "the offsets were not committed: the partitions moved to another member");
                Ok(())
            }
            Err(error) => Err(unavailable_error(&error)),
        }
    }

    fn stay(&mut self) -> Result<(), ConnectorError> {
        let consumer = self.consumer()?;
        let mine = consumer.assignment().map_err(|error| unavailable_error(&error))?;
        consumer.pause(&mine).map_err(|error| unavailable_error(&error))?;
        // A message may arrive between pause and poll. Its offset is not committed, so seeking back
        // restores it.
        let stray = match consumer.poll(Duration::ZERO) {
            Some(Ok(message)) => Some(arrived(&message)),
            Some(Err(_)) | None => None,
        };
        if let Some(ReceivedMessage { topic, partition, offset, .. }) = stray {
            let wait = Duration::from_secs(5);
            consumer
                .seek(&topic, partition, Offset::Offset(offset), wait)
                .map_err(|error| unavailable_error(&error))?;
        }
        let mine = consumer.assignment().map_err(|error| unavailable_error(&error))?;
        consumer.resume(&mine).map_err(|error| unavailable_error(&error))
    }

    fn leave(&mut self) {
        self.consumer = None;
    }
}

fn arrived(message: &BorrowedMessage<'_>) -> ReceivedMessage {
    let text =
        |bytes: Option<&[u8]>| bytes.and_then(|b| std::str::from_utf8(b).ok()).map(str::to_owned);
    let headers = message.headers().map_or_else(Vec::new, |headers| {
        let named = |header: rdkafka::message::Header<'_, &[u8]>| {
            Some((header.key.to_owned(), text(header.value)?))
        };
        headers.iter().filter_map(named).collect()
    });
    ReceivedMessage {
        topic: message.topic().to_owned(),
        partition: message.partition(),
        offset: message.offset(),
        key: text(message.key()),
        value: message.payload().map(<[u8]>::to_vec),
        headers,
    }
}

/// Transient errors, which librdkafka retries.
fn is_passing(code: Option<RDKafkaErrorCode>) -> bool {
    matches!(
        code,
        Some(
            RDKafkaErrorCode::BrokerTransportFailure
                | RDKafkaErrorCode::AllBrokersDown
                | RDKafkaErrorCode::OperationTimedOut
                | RDKafkaErrorCode::MessageTimedOut
                | RDKafkaErrorCode::Resolve
                | RDKafkaErrorCode::UnknownTopicOrPartition
                | RDKafkaErrorCode::NotCoordinator
                | RDKafkaErrorCode::CoordinatorNotAvailable
                | RDKafkaErrorCode::CoordinatorLoadInProgress
                | RDKafkaErrorCode::PollExceeded
                | RDKafkaErrorCode::RebalanceInProgress
        )
    )
}

fn has_moved(code: Option<RDKafkaErrorCode>) -> bool {
    matches!(
        code,
        Some(
            RDKafkaErrorCode::IllegalGeneration
                | RDKafkaErrorCode::UnknownMemberId
                | RDKafkaErrorCode::RebalanceInProgress
                | RDKafkaErrorCode::StaleMemberEpoch
                | RDKafkaErrorCode::FencedMemberEpoch
                | RDKafkaErrorCode::AssignmentLost
                | RDKafkaErrorCode::NoOffset
        )
    )
}
