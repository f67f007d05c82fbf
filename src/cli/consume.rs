//! `uptake consume`

use std::io::Write;
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use engine::{Consumed, Engine};
use serde_json::Value;
use store::{Arrived, Inlet};
use tokio::sync::watch;

use super::Common;
use super::serve::stop_signal;
use crate::config::Config;
use crate::wiring;

/// Messages dealt with together.
const STRETCH: usize = 500;
/// How long it is waited for messages before it is looked whether to stop.
const WAIT: Duration = Duration::from_millis(200);
const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Take events from Kafka's topics into the store, or print them.
///
/// A member of a consumer group: several with the same group share the partitions. What was taken is
/// committed when it is stored, so nothing is lost when this ends at any moment; an event that comes
/// again is known by its id. A message that is no event goes to the list of dead letters and the rest
/// goes on. One without a value says that its event was erased: whoever that event is of is erased here
/// too. It needs the data folder to itself (on Postgres only the folder that --data names), and runs until
/// SIGTERM or Ctrl-C. Whoever can write to the topics can write to the store.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  uptake consume --brokers kafka-1:9092 --topic feedback-events --group copy --data /var/lib/copy
  uptake consume --brokers kafka-1:9092 --topic feedback-ratings --topic feedback-corrections --group dwh --print")]
pub(super) struct Consume {
    #[command(flatten)]
    common: Common,
    /// Where Kafka is, as HOST:PORT, several divided by commas; kafka.brokers of the configuration if it
    /// is not given.
    #[arg(long)]
    brokers: Option<String>,
    /// A topic to read; can be given several times.
    #[arg(long = "topic", required = true, value_name = "TOPIC")]
    topics: Vec<String>,
    /// The consumer group.
    #[arg(long)]
    group: String,
    /// Write the messages as JSON lines and store nothing.
    #[arg(long)]
    print: bool,
}

impl Consume {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let flags = self.brokers.map(|brokers| ("kafka.brokers", brokers, "--brokers"));
        let (config, _) = self.common.load(flags.into_iter().collect())?;
        super::logging::start(&config)?;
        let brokers = &config.kafka.brokers;
        anyhow::ensure!(!brokers.is_empty(), "no brokers: give --brokers, or set kafka.brokers");
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let stop = told_to_stop(&runtime)?;
        let inlet = wiring::inlet(brokers, &self.group, self.topics)?;
        if self.print { print(inlet, &stop) } else { runtime.block_on(store(inlet, &config, stop)) }
    }
}

/// Turns true when it is time to stop.
type Stop = watch::Receiver<bool>;

fn told_to_stop(runtime: &tokio::runtime::Runtime) -> anyhow::Result<Stop> {
    let (tell, stop) = watch::channel(false);
    let _inside = runtime.enter();
    let signal = stop_signal()?;
    // It ends with the process.
    runtime.spawn(async move {
        signal.await;
        tell.send_replace(true);
    });
    Ok(stop)
}

fn print(mut inlet: Box<dyn Inlet>, stop: &Stop) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    while !*stop.borrow() {
        let messages = inlet.take(STRETCH, WAIT)?;
        for message in &messages {
            let Arrived { topic, partition, offset, value, .. } = message;
            let value = match value.as_deref() {
                Some(value) => serde_json::from_slice::<Value>(value),
                None => Ok(tombstone(message)),
            };
            match value {
                Ok(value) => writeln!(out, "{value}")?,
                Err(error) => eprintln!("{topic}/{partition}@{offset}: not JSON: {error}"),
            }
        }
        out.flush()?;
        inlet.done(&messages)?;
    }
    inlet.leave();
    Ok(())
}

/// What was erased, in a form that no event has.
fn tombstone(message: &Arrived) -> Value {
    let headers = message.headers.iter().cloned().map(|(name, value)| (name, Value::String(value)));
    serde_json::json!({"erased": headers.collect::<serde_json::Map<_, _>>()})
}

async fn store(inlet: Box<dyn Inlet>, config: &Config, mut stop: Stop) -> anyhow::Result<()> {
    let opened = wiring::open(config).await;
    let opened = opened.context("this command needs the data folder to itself; stop its server")?;
    let engine = &opened.engine;
    let copies = wiring::copies(config)?;
    let (mut member, mut total) = (Member(Some(inlet)), Consumed::default());
    while !*stop.borrow() {
        let (messages, taken) = member.with(|inlet| inlet.take(STRETCH, WAIT)).await?;
        member = taken;
        let messages = messages?;
        if messages.is_empty() {
            continue;
        }
        let Some(consumed) =
            store_until(engine, &messages, &copies, &mut member, &mut stop).await?
        else {
            break;
        };
        let (committed, back) = member.with(move |inlet| inlet.done(&messages)).await?;
        member = back;
        if let Err(error) = committed {
            // Taken again by whoever comes next, and known by their ids.
            tracing::warn!(%error, "what was stored could not be committed");
        }
        add(&mut total, consumed);
    }
    member.with(|inlet| inlet.leave()).await?;
    engine.close().await?;
    let Consumed { stored, replayed, set_aside, erased } = total;
    println!(
        "stored {stored} events, {replayed} were there already, {set_aside} set aside, {erased} users erased"
    );
    Ok(())
}

/// Tries until the store takes them; `None` when it is time to stop before that.
async fn store_until(
    engine: &Engine,
    messages: &[Arrived],
    copies: &engine::CopySettings,
    member: &mut Member,
    stop: &mut Stop,
) -> anyhow::Result<Option<Consumed>> {
    let mut pause = FIRST_PAUSE;
    loop {
        let error = match engine.feedback.consume(messages, copies).await {
            Ok(consumed) => return Ok(Some(consumed)),
            Err(error) => error,
        };
        engine::log_retriable(error, "messages could not be stored; trying again");
        tokio::select! {
            _ = stop.changed() => return Ok(None),
            () = tokio::time::sleep(pause) => {}
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
        let (stayed, back) = std::mem::take(member).with(|inlet| inlet.stay()).await?;
        *member = back;
        if let Err(error) = stayed {
            tracing::warn!(%error, "this member may lose its partitions meanwhile");
        }
    }
}

fn add(total: &mut Consumed, more: Consumed) {
    total.stored += more.stored;
    total.replayed += more.replayed;
    total.set_aside += more.set_aside;
    total.erased += more.erased;
}

/// The member of the group. Its calls wait, so they are made where one may.
#[derive(Default)]
struct Member(Option<Box<dyn Inlet>>);

impl Member {
    async fn with<T: Send + 'static>(
        self,
        call: impl FnOnce(&mut dyn Inlet) -> T + Send + 'static,
    ) -> anyhow::Result<(T, Self)> {
        let Self(Some(mut inlet)) = self else { anyhow::bail!("the group was left") };
        let called = tokio::task::spawn_blocking(move || {
            let answer = call(&mut *inlet);
            (answer, Self(Some(inlet)))
        });
        Ok(called.await?)
    }
}
