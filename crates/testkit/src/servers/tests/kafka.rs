//! Writes and reads a record with Kafka's protocol, without a client library.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use super::{crash_and_restart, drop_and_check, pause_and_resume};
use crate::servers::{Kafka, or_skip};

#[test]
fn kafka_keeps_acknowledged_records_over_a_crash() {
    let Some(kafka) = or_skip(Kafka::start()) else { return };
    until("a topic", || create_topic(&kafka, "kept") == 0);
    produce(&kafka, "kept", b"still here");
    crash_and_restart(&kafka);
    find(&kafka, "kept", b"still here");
    pause_and_resume(&kafka);
    find(&kafka, "kept", b"still here");
    drop_and_check(kafka);
}

#[test]
fn tests_that_share_kafka_have_topics_of_their_own_and_make_them() {
    let Some(kafka) = or_skip(Kafka::shared()) else { return };
    let topic = format!("{}topic", kafka.prefix());
    assert_ne!(try_produce(kafka, &topic, b"x"), 0, "a topic made itself");
    let already_there = 36;
    until("a topic", || [0, already_there].contains(&create_topic(kafka, &topic)));
    assert_eq!(create_topic(kafka, &topic), already_there);
    assert_ne!(kafka.prefix(), kafka.prefix());
}

/// Returns the error code, 0 for none.
fn create_topic(kafka: &Kafka, topic: &str) -> i16 {
    let mut body = Body::default().number(1_i32.to_be_bytes()).text(topic);
    // One partition, one replica, no assignment, no settings, 10 s timeout, not validate-only.
    body = body.number(1_i32.to_be_bytes()).number(1_i16.to_be_bytes()).number([0; 8]);
    let answer = call(kafka, 19, 2, &body.number(10_000_i32.to_be_bytes()).number([0]));
    error_after(&answer, 8 + 2 + topic.len())
}

/// Retries, since the leader of a new topic may not know it yet.
fn produce(kafka: &Kafka, topic: &str, value: &[u8]) {
    until("a place for the record", || try_produce(kafka, topic, value) == 0);
}

/// Retries, since a restarted broker rejoins before it leads its partitions.
fn find(kafka: &Kafka, topic: &str, value: &[u8]) {
    until("the record", || fetch(kafka, topic, value));
}

/// Retries, since a broker on a busy machine may leave its cluster for a moment.
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..3000 {
        if is_so() {
            return;
        }
        thread::sleep(Duration::from_millis(20));
    }
    panic!("there is not {what}");
}

/// Writes to partition 0 with acks=all and returns the error code, 0 for none.
fn try_produce(kafka: &Kafka, topic: &str, value: &[u8]) -> i16 {
    let batch = batch(value);
    let mut body = Body::default().number((-1_i16).to_be_bytes()).number((-1_i16).to_be_bytes());
    body = body.number(10_000_i32.to_be_bytes()).number(1_i32.to_be_bytes()).text(topic);
    body = body.number(1_i32.to_be_bytes()).number(0_i32.to_be_bytes()).sized(&batch);
    let answer = call(kafka, 0, 3, &body);
    error_after(&answer, 4 + 2 + topic.len() + 4 + 4)
}

/// True when partition 0 contains this value.
fn fetch(kafka: &Kafka, topic: &str, value: &[u8]) -> bool {
    // No replica; wait up to 5 s for one byte; at most 1 MiB.
    let mut body = Body::default();
    for number in [-1_i32, 5_000, 1, 1 << 20] {
        body = body.number(number.to_be_bytes());
    }
    body = body.number([0]).number(1_i32.to_be_bytes()).text(topic).number(1_i32.to_be_bytes());
    body = body.number(0_i32.to_be_bytes()).number(0_i64.to_be_bytes());
    let body = body.number((1_i32 << 20).to_be_bytes());
    call(kafka, 1, 4, &body).windows(value.len()).any(|window| window == value)
}

/// A request body, built field by field.
#[derive(Default)]
struct Body(Vec<u8>);

impl Body {
    fn number<const N: usize>(mut self, bytes: [u8; N]) -> Self {
        self.0.extend(bytes);
        self
    }

    fn text(mut self, text: &str) -> Self {
        self.0.extend(i16::try_from(text.len()).unwrap().to_be_bytes());
        self.0.extend(text.as_bytes());
        self
    }

    fn sized(mut self, bytes: &[u8]) -> Self {
        self.0.extend(i32::try_from(bytes.len()).unwrap().to_be_bytes());
        self.0.extend(bytes);
        self
    }
}

/// Sends a request and returns the response after its correlation id.
fn call(kafka: &Kafka, api: i16, version: i16, body: &Body) -> Vec<u8> {
    let header = Body::default().number(api.to_be_bytes()).number(version.to_be_bytes());
    let mut request = header.number(7_i32.to_be_bytes()).number((-1_i16).to_be_bytes());
    request.0.extend(&body.0);
    let mut stream = TcpStream::connect(kafka.bootstrap()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream.write_all(&Body::default().sized(&request.0).0).unwrap();
    let mut length = [0; 4];
    stream.read_exact(&mut length).unwrap();
    let mut answer = vec![0; u32::from_be_bytes(length) as usize];
    stream.read_exact(&mut answer).unwrap();
    answer.split_off(4)
}

fn error_after(answer: &[u8], at: usize) -> i16 {
    i16::from_be_bytes([answer[at], answer[at + 1]])
}

/// A batch of one record without a key.
fn batch(value: &[u8]) -> Vec<u8> {
    let zigzag = |n: usize| u8::try_from(2 * n).unwrap();
    let mut record = vec![zigzag(value.len() + 6), 0, 0, 0, 1, zigzag(value.len())];
    record.extend(value);
    record.push(0);
    // Attributes, last offset, two timestamps; no producer id, epoch or sequence; one record.
    let mut checked = Body::default().number([0; 22]).number([0xff; 14]);
    checked = checked.number(1_i32.to_be_bytes());
    checked.0.extend(record);
    let mut batch = Body::default().number([0; 4]).number(2_u8.to_be_bytes());
    batch = batch.number(crc32c(&checked.0).to_be_bytes());
    batch.0.extend(&checked.0);
    Body::default().number([0; 8]).sized(&batch.0).0
}

fn crc32c(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| if crc & 1 == 1 { (crc >> 1) ^ 0x82f6_3b78 } else { crc >> 1 };
    !bytes.iter().fold(!0, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), step))
}
