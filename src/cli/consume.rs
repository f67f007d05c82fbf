//! The command `uptake consume`.

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use connectors::{EventSource, ReceivedMessage};
use engine::{ConsumeSummary, Engine};
use serde_json::Value;
use tokio::sync::{Mutex, watch};

use super::Common;
use super::serve::stop_signal;
use crate::config::Config;
use crate::wiring;

const BATCH_MESSAGES: usize = 500;
/// Longest wait for messages between two checks of the stop signal.
const POLL_TIMEOUT: Duration = Duration::from_millis(200);
const MIN_RETRY_DELAY: Duration = Duration::from_millis(200);
const MAX_RETRY_DELAY: Duration = Duration::from_secs(5);

/// Consume events from Kafka topics into the store, or print them.
///
/// The command joins a consumer group; several processes with the same --group share the partitions.
/// Offsets are committed after the events are stored, so no event is lost when the process is killed, and
/// an event that is delivered twice is recognised by its id. A message that is not a valid event becomes a
/// dead letter. A message without a value (a tombstone) erases the user of that event.
///
/// The command needs the data folder to itself (with Postgres, only the folder named by --data) and runs
/// until SIGTERM or Ctrl-C. Anyone who can write to the topics can write to the store.
///
/// Needs a build with the feature `scaled`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  uptake consume --brokers kafka-1:9092 --topic feedback-events --group copy --data /var/lib/copy
  uptake consume --brokers kafka-1:9092 --topic feedback-ratings --topic feedback-corrections --group dwh --print")]
pub(super) struct Consume {
    #[command(flatten)]
    common: Common,
    /// Kafka brokers as HOST:PORT, separated by commas [default: the setting kafka.brokers].
    #[arg(long)]
    brokers: Option<String>,
    /// Topic to read; repeat the flag for several topics.
    #[arg(long = "topic", required = cfg!(feature = "scaled"), value_name = "TOPIC")]
    topics: Vec<String>,
    /// The Kafka consumer group.
    // Optional in a build without Kafka, so that `run` can report the missing support.
    #[arg(long, required = cfg!(feature = "scaled"))]
    group: Option<String>,
    /// Print the messages as JSON Lines and store nothing.
    #[arg(long)]
    print: bool,
}

impl Consume {
    pub(super) fn run(self) -> anyhow::Result<()> {
        wiring::require_support("Kafka")?;
        let flags = self.brokers.map(|brokers| ("kafka.brokers", brokers, "--brokers"));
        let (config, _) = self.common.load(flags.into_iter().collect())?;
        super::logging::init_logging(&config)?;
        let brokers = &config.kafka.brokers;
        anyhow::ensure!(
            !brokers.is_empty(),
            "no Kafka brokers: pass --brokers or set kafka.brokers"
        );
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let stop = watch_stop_signal(&runtime)?;
        let group = self.group.context("--group is required")?;
        let topics: Vec<&str> = self.topics.iter().map(String::as_str).collect();
        let inlet = wiring::join_consumer_group(brokers, &group, &topics)?;
        match self.print {
            true => print_messages(inlet, &stop),
            false => runtime.block_on(store_messages(inlet, &config, stop)),
        }
    }
}

/// Becomes true on SIGTERM or Ctrl-C.
type Stop = watch::Receiver<bool>;

fn watch_stop_signal(runtime: &tokio::runtime::Runtime) -> anyhow::Result<Stop> {
    let (tell, stop) = watch::channel(false);
    let _inside = runtime.enter();
    let signal = stop_signal()?;
    // The task ends with the process.
    runtime.spawn(async move {
        signal.await;
        tell.send_replace(true);
    });
    Ok(stop)
}

fn print_messages(mut inlet: Box<dyn EventSource>, stop: &Stop) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    while !*stop.borrow() {
        let messages = inlet.take(BATCH_MESSAGES, POLL_TIMEOUT)?;
        for message in &messages {
            let ReceivedMessage { topic, partition, offset, value, .. } = message;
            let value = match value.as_deref() {
                Some(value) => serde_json::from_slice::<Value>(value),
                None => Ok(format_tombstone(message)),
            };
            match value {
                Ok(value) => writeln!(out, "{value}")?,
                Err(error) => {
                    eprintln!(
                        "topic {topic}, partition {partition}, offset {offset}: not JSON: {error}"
                    );
                }
            }
        }
        out.flush()?;
        inlet.done(&messages)?;
    }
    inlet.leave();
    Ok(())
}

/// The headers of a tombstone below the key `erased`, which no event has.
fn format_tombstone(message: &ReceivedMessage) -> Value {
    let headers = message.headers.iter().cloned().map(|(name, value)| (name, Value::String(value)));
    serde_json::json!({"erased": headers.collect::<serde_json::Map<_, _>>()})
}

async fn store_messages(
    inlet: Box<dyn EventSource>,
    config: &Config,
    mut stop: Stop,
) -> anyhow::Result<()> {
    let opened = wiring::open(config).await;
    let opened =
        opened.context("this command needs the data folder to itself; stop its server first")?;
    let engine = &opened.engine;
    let copies = wiring::build_copies(config)?;
    let member = GroupMember(Arc::new(Mutex::new(inlet)));
    let mut total = ConsumeSummary::default();
    while !*stop.borrow() {
        let messages =
            member.run_blocking(|inlet| inlet.take(BATCH_MESSAGES, POLL_TIMEOUT)).await??;
        if messages.is_empty() {
            continue;
        }
        let Some(consumed) =
            store_with_retries(engine, &messages, &copies, &member, &mut stop).await?
        else {
            break;
        };
        if let Err(error) = member.run_blocking(move |inlet| inlet.done(&messages)).await? {
            // The next group member receives the messages again and recognises their ids.
            tracing::warn!(%error, "cannot commit Kafka offsets; messages will be delivered again");
        }
        add_counts(&mut total, consumed);
    }
    member.run_blocking(|inlet| inlet.leave()).await?;
    engine.close().await?;
    let ConsumeSummary { stored, replayed, set_aside, erased } = total;
    println!(
        "stored {stored} events, {replayed} already stored, {set_aside} dead letters, {erased} users erased"
    );
    Ok(())
}

/// Retries until the messages are stored. `None` when the stop signal comes first.
async fn store_with_retries(
    engine: &Engine,
    messages: &[ReceivedMessage],
    copies: &engine::CopySettings,
    member: &GroupMember,
    stop: &mut Stop,
) -> anyhow::Result<Option<ConsumeSummary>> {
    let mut delay = MIN_RETRY_DELAY;
    loop {
        let error = match engine.feedback.consume(messages, copies).await {
            Ok(consumed) => return Ok(Some(consumed)),
            Err(error) => error,
        };
        engine::log_retriable(error, "cannot store Kafka messages; retrying");
        tokio::select! {
            _ = stop.changed() => return Ok(None),
            () = tokio::time::sleep(delay) => {}
        }
        delay = (delay * 2).min(MAX_RETRY_DELAY);
        if let Err(error) = member.run_blocking(|inlet| inlet.stay()).await? {
            tracing::warn!(%error, "cannot keep the Kafka group membership; partitions may be lost");
        }
    }
}

fn add_counts(total: &mut ConsumeSummary, more: ConsumeSummary) {
    total.stored += more.stored;
    total.replayed += more.replayed;
    total.set_aside += more.set_aside;
    total.erased += more.erased;
}

/// The consumer group member. Its calls block, so they run on blocking threads.
struct GroupMember(Arc<Mutex<Box<dyn EventSource>>>);

impl GroupMember {
    async fn run_blocking<T: Send + 'static>(
        &self,
        call: impl FnOnce(&mut dyn EventSource) -> T + Send + 'static,
    ) -> anyhow::Result<T> {
        let inlet = Arc::clone(&self.0);
        Ok(tokio::task::spawn_blocking(move || call(&mut **inlet.blocking_lock())).await?)
    }
}
