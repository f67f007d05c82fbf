//! The sink and the source against a real Kafka.

use std::time::Duration;

use testkit::servers::{Kafka, or_skip};

use super::{KafkaSettings, KafkaSink, KafkaSource, MAX_MESSAGE_BYTES};
use crate::error::ConnectorError;
use crate::event_sink::{EventSink, OutgoingMessage};
use crate::event_source::{EventSource, ReceivedMessage};

fn settings(kafka: &Kafka, prefix: &str) -> KafkaSettings {
    KafkaSettings {
        brokers: kafka.bootstrap().to_owned(),
        prefix: prefix.to_owned(),
        create_topics: true,
        partitions: 2,
        replication: 1,
    }
}

fn message(key: &str, value: &str) -> OutgoingMessage {
    let (key, value) = (key.to_owned(), Some(value.to_owned()));
    OutgoingMessage { topic: "t", key, value, headers: vec![("h", "1".into())] }
}

fn join(kafka: &Kafka, group: &str, prefix: &str) -> KafkaSource {
    KafkaSource::join(kafka.bootstrap(), group, &[&format!("{prefix}t")]).unwrap()
}

fn read(kafka: &Kafka, prefix: &str, count: usize) -> Vec<ReceivedMessage> {
    take(&mut join(kafka, &kafka.prefix(), prefix), 100, count)
}

/// Receives at least `count` messages, at most `most` per call.
fn take(inlet: &mut KafkaSource, most: usize, count: usize) -> Vec<ReceivedMessage> {
    let mut found = Vec::new();
    for _ in 0..300 {
        found.extend(inlet.take(most, Duration::from_millis(200)).unwrap());
        if found.len() >= count {
            return found;
        }
    }
    panic!("{} of {count}", found.len());
}

#[tokio::test]
async fn missing_topic_is_named() {
    let Some(kafka) = or_skip(Kafka::shared()) else { return };
    let prefix = kafka.prefix();
    let settings = KafkaSettings { create_topics: false, ..settings(kafka, &prefix) };
    let outlet = KafkaSink::new(settings.clone(), &["t"]);
    let error = outlet.publish(vec![message("k", "v")]).await.unwrap_err().to_string();
    let expected = format!("Kafka has no topic {prefix}t; create the missing topics");
    assert!(error.contains(&expected), "{error}");
    // The sink finds the topic once it exists.
    let maker = KafkaSink::new(KafkaSettings { create_topics: true, ..settings }, &["t"]);
    assert_eq!(maker.publish(vec![message("k", "1")]).await.unwrap(), []);
    assert_eq!(outlet.publish(vec![message("k", "2")]).await.unwrap(), []);
    let values: Vec<_> = read(kafka, &prefix, 2).into_iter().map(|m| m.value.unwrap()).collect();
    assert_eq!(values, [b"1", b"2"]);
}

/// The log stores the progress under this name. Another name would publish everything again.
#[test]
fn sink_name_contains_the_prefix() {
    let settings = KafkaSettings { prefix: "uptake.".into(), ..KafkaSettings::default() };
    assert_eq!(KafkaSink::new(settings, &["t"]).name(), "kafka:uptake.");
}

#[tokio::test]
async fn committed_messages_are_not_received_again() {
    let Some(kafka) = or_skip(Kafka::shared()) else { return };
    let prefix = kafka.prefix();
    let outlet = KafkaSink::new(settings(kafka, &prefix), &["t"]);
    let forget = OutgoingMessage { value: None, ..message("k", "") };
    let messages = vec![message("k", "1"), message("k", "2"), forget, message("k", "4")];
    assert_eq!(outlet.publish(messages).await.unwrap(), []);
    let group = kafka.prefix();
    let mut first = join(kafka, &group, &prefix);
    let taken = take(&mut first, 1, 1);
    // Keeping the membership loses no queued message.
    first.stay().unwrap();
    let more = take(&mut first, 100, 3);
    let values = |taken: &[ReceivedMessage]| -> Vec<Option<String>> {
        let text = |value: &Vec<u8>| String::from_utf8(value.clone()).unwrap();
        taken.iter().map(|message| message.value.as_ref().map(text)).collect()
    };
    let said = |text: &str| Some(text.to_owned());
    assert_eq!(values(&taken), [said("1")]);
    assert_eq!(values(&more), [said("2"), None, said("4")]);
    first.done(&[]).unwrap();
    first.done(&[taken, more[..2].to_vec()].concat()).unwrap();
    first.leave();
    assert!(matches!(first.take(1, Duration::ZERO), Err(ConnectorError::Closed)));
    let mut next = join(kafka, &group, &prefix);
    assert_eq!(values(&take(&mut next, 100, 1)), [said("4")]);
}

#[tokio::test]
async fn oversized_message_is_rejected_alone() {
    let Some(kafka) = or_skip(Kafka::shared()) else { return };
    let prefix = kafka.prefix();
    let outlet = KafkaSink::new(settings(kafka, &prefix), &["t"]);
    let large = "x".repeat(MAX_MESSAGE_BYTES as usize + 1);
    // Two megabytes exceed a broker's default, but not our limit.
    let long = "y".repeat(2 << 20);
    let messages = [message("k", "1"), message("k", &large), message("k", &long)];
    let refused = outlet.publish(messages.to_vec()).await.unwrap();
    assert_eq!(refused.iter().map(|refused| refused.index).collect::<Vec<_>>(), [1]);
    assert!(!refused[0].reason.is_empty());
    let found = read(kafka, &prefix, 2);
    let sizes: Vec<usize> = found.iter().map(|m| m.value.as_ref().unwrap().len()).collect();
    assert_eq!(sizes, [1, 2 << 20]);
    assert_eq!(found[0].key.as_deref(), Some("k"));
    assert_eq!(found[0].header("h"), Some("1"));
}

#[tokio::test]
async fn dropped_publication_withdraws_unsent_messages() {
    let Some(kafka) = or_skip(Kafka::start()) else { return };
    let prefix = kafka.prefix();
    let outlet = KafkaSink::new(settings(&kafka, &prefix), &["t"]);
    assert_eq!(outlet.publish(vec![message("k", "1")]).await.unwrap(), []);
    kafka.kill();
    let late = outlet.publish(vec![message("k", "2")]);
    let given_up = tokio::time::timeout(Duration::from_secs(2), late).await;
    assert!(given_up.is_err(), "it waits as long as Kafka is away");
    kafka.restart();
    assert_eq!(outlet.publish(vec![message("k", "3")]).await.unwrap(), []);
    let values: Vec<_> = read(&kafka, &prefix, 2).into_iter().map(|m| m.value.unwrap()).collect();
    assert_eq!(values, [b"1", b"3"]);
}

#[tokio::test]
async fn rejected_batch_is_retried_one_by_one() {
    use rdkafka::admin::{AdminClient, AdminOptions, NewTopic, TopicReplication};
    use rdkafka::client::DefaultClientContext;

    let Some(kafka) = or_skip(Kafka::shared()) else { return };
    let prefix = kafka.prefix();
    let admin: AdminClient<DefaultClientContext> =
        rdkafka::ClientConfig::new().set("bootstrap.servers", kafka.bootstrap()).create().unwrap();
    let name = format!("{prefix}t");
    let small =
        NewTopic::new(&name, 1, TopicReplication::Fixed(1)).set("max.message.bytes", "4000");
    admin.create_topics(&[small], &AdminOptions::new()).await.unwrap()[0].as_ref().unwrap();
    let outlet = KafkaSink::new(settings(kafka, &prefix), &["t"]);
    // Random data, which compression cannot shrink.
    let noise = |n: u64, bytes: usize| -> String {
        let mut state = n + 1;
        let next = |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            char::from(b'!' + (state >> 40) as u8 % 90)
        };
        (0..bytes).map(next).collect()
    };
    let sizes = (0..20).map(|n| if n == 7 { 9000 } else { 900 });
    let messages = (0..).zip(sizes).map(|(n, bytes)| message("k", &noise(n, bytes)));
    let messages: Vec<OutgoingMessage> = messages.collect();
    let refused = outlet.publish(messages.clone()).await.unwrap();
    assert_eq!(refused.iter().map(|refused| refused.index).collect::<Vec<_>>(), [7]);
    let mut found: Vec<Vec<u8>> =
        read(kafka, &prefix, 19).into_iter().map(|message| message.value.unwrap()).collect();
    let mut expected: Vec<Vec<u8>> =
        messages.into_iter().map(|message| message.value.unwrap().into_bytes()).collect();
    expected.remove(7);
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
}
