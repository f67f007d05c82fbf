//! The command `uptake demo`.

use std::sync::Arc;

use anyhow::{Context, bail};
use clap::Args;
use demo::DemoClock;
use engine::{DEMO_TENANT, DemoState};
use model::Clock;
use serde_json::json;

use super::JsonCommon;
use super::progress::Progress;
use super::server_query::query_server;
use crate::config::Config;
use crate::wiring;

/// Load a month of generated demo conversations, or remove them.
///
/// The conversations belong to the tenant `demo` and pass through the same pipeline as real ones: verdicts,
/// figures, failure patterns and router state are computed by the engine. Loading needs the data folder to
/// itself. Removing also works while a server runs.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  uptake demo
  uptake demo --data /tmp/look && uptake serve --data /tmp/look
  uptake demo --remove
  uptake demo --beside --data /var/lib/uptake")]
pub(super) struct Demo {
    #[command(flatten)]
    common: JsonCommon,
    /// Remove the demo data; other data is kept.
    #[arg(long, conflicts_with = "beside")]
    remove: bool,
    /// Load the demo data into a store that holds other data.
    #[arg(long)]
    beside: bool,
    /// Number of conversations.
    #[arg(long, value_name = "COUNT", default_value_t = demo::DEFAULT_CONVERSATIONS)]
    conversations: usize,
}

impl Demo {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let config = self.common.load()?;
        if self.remove {
            return remove_demo(&config, self.common.json);
        }
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let loaded = runtime.block_on(load_if_absent(&config, self.conversations, self.beside))?;
        if self.common.json {
            println!("{}", json!({"loaded": loaded, "tenant": DEMO_TENANT}));
        } else if loaded {
            println!(
                "demo data loaded into the tenant {DEMO_TENANT}; `uptake demo --remove` removes it"
            );
        } else {
            println!("demo data is already loaded");
        }
        Ok(())
    }
}

fn remove_demo(config: &Config, as_json: bool) -> anyhow::Result<()> {
    let answer = query_server(config, |server| server.delete("/api/v1/demo"))?;
    if as_json {
        println!("{answer}");
    } else if answer["removed"] == true {
        println!("removed the demo data: {} events", answer["events"]);
    } else {
        println!("there is no demo data");
    }
    Ok(())
}

/// Loads the demo data and returns true, or returns false when it is already loaded. Removes the
/// remains of an interrupted load first.
pub(super) async fn load_if_absent(
    config: &Config,
    conversations: usize,
    beside: bool,
) -> anyhow::Result<bool> {
    if !config.store.postgres.is_empty() {
        bail!("demo data can only be loaded into a data folder; leave store.postgres empty");
    }
    let now = wiring::system_clock().now();
    let clock = Arc::new(DemoClock::new(demo::demo_start(now)));
    let opened =
        wiring::open_with_clock(config, Arc::clone(&clock) as Arc<dyn Clock>, *ID_SEED).await;
    let opened =
        opened.context("loading demo data needs the store to itself; stop its server first")?;
    let engine = &opened.engine;
    let state = engine.privacy.demo_state().await?;
    let is_demo = matches!(state, DemoState::Loaded | DemoState::Begun);
    if state == DemoState::Foreign {
        bail!(
            "the tenant {DEMO_TENANT} holds data that was not loaded by `uptake demo`; not changed"
        );
    }
    if !is_demo && !beside && engine.privacy.has_other_data().await? {
        bail!(
            "{} already holds other data; choose an empty folder with --data, or load the demo into its own \
             tenant with `uptake demo --beside`",
            config.store.data
        );
    }
    if state == DemoState::Loaded {
        engine.close().await?;
        return Ok(false);
    }
    if state == DemoState::Begun {
        engine.privacy.remove_demo().await?;
    }
    // Without fsync: after a crash the end marker is missing and the next start loads again.
    opened.wait_for_disk(false).await?;
    eprintln!("loading demo data: a month of generated conversations");
    let progress = Progress::new("days");
    let loaded =
        demo::load_demo(engine, &clock, now, conversations, |done, of| progress.show(done, of))
            .await?;
    opened.wait_for_disk(true).await?;
    engine.close().await?;
    let demo::DemoSummary { conversations, turns } = loaded;
    let secs = (wiring::system_clock().now().as_micros() - now.as_micros()) as f64 / 1e6;
    eprintln!("loaded {conversations} conversations with {turns} turns in {secs:.1} s");
    Ok(true)
}

/// Seed of the demo data's ids, so that every load generates the same ids.
const ID_SEED: &[u8; 32] = b"uptake demo data: ids of a month";
