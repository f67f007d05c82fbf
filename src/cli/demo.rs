//! `uptake demo`

use std::sync::Arc;

use anyhow::{Context, bail};
use clap::Args;
use demo::StoryClock;
use engine::{DEMO_TENANT, DemoState};
use model::Clock;
use serde_json::json;

use super::Common;
use super::ask::ask;
use super::progress::Progress;
use crate::config::Config;
use crate::wiring;

/// Fill a store with a month of made-up conversations, or take them away again.
///
/// They are in a tenant of their own, `demo`, and go through the same doors as real ones: verdicts,
/// figures, patterns and what routers learnt come out of the engine itself. Loading needs the data folder
/// to itself; removing asks the server that has the folder, if there is one.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  uptake demo
  uptake demo --data /tmp/look && uptake serve --data /tmp/look
  uptake demo --remove
  uptake demo --beside --data /var/lib/uptake")]
pub(super) struct Demo {
    #[command(flatten)]
    common: Common,
    /// Take the demo data away. Everything else stays.
    #[arg(long, conflicts_with = "beside")]
    remove: bool,
    /// Load it also where there is other data.
    #[arg(long)]
    beside: bool,
    /// How many conversations.
    #[arg(long, value_name = "COUNT", default_value_t = demo::CONVERSATIONS)]
    conversations: usize,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Demo {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let (config, _) = self.common.load(Vec::new())?;
        if self.remove {
            return remove(&config, self.json);
        }
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let loaded = runtime.block_on(load_if_absent(&config, self.conversations, self.beside))?;
        if self.json {
            println!("{}", json!({"loaded": loaded, "tenant": DEMO_TENANT}));
        } else if loaded {
            println!(
                "demo data is in the tenant {DEMO_TENANT}; `uptake demo --remove` takes it away"
            );
        } else {
            println!("demo data is there already");
        }
        Ok(())
    }
}

fn remove(config: &Config, as_json: bool) -> anyhow::Result<()> {
    let answer = ask(config, |server| server.delete("/api/v1/demo"))?;
    if as_json {
        println!("{answer}");
    } else if answer["removed"] == true {
        println!("the demo data is gone: {} events", answer["events"]);
    } else {
        println!("there is no demo data");
    }
    Ok(())
}

/// Loads demo data unless it is there. What an earlier attempt left is taken away first. Answers whether
/// there was something to do.
pub(super) async fn load_if_absent(
    config: &Config,
    conversations: usize,
    beside: bool,
) -> anyhow::Result<bool> {
    if !config.store.postgres.is_empty() {
        bail!("demo data is for a store in a folder; leave store.postgres empty to look at it");
    }
    let now = wiring::clock().now();
    let clock = Arc::new(StoryClock::at(demo::first_moment(now)));
    let opened = wiring::open_at(config, Arc::clone(&clock) as Arc<dyn Clock>, *SEED).await;
    let opened = opened.context("loading needs the store to itself; stop its server")?;
    let engine = &opened.engine;
    let state = engine.privacy.demo_state().await?;
    let is_ours = matches!(state, DemoState::Loaded | DemoState::Begun);
    if state == DemoState::Foreign {
        bail!("the tenant {DEMO_TENANT} holds data that is no demo data; it is left as it is");
    }
    if !is_ours && !beside && engine.privacy.has_other_data().await? {
        bail!(
            "{} holds data already, and demo data is for looking around in a fresh store; choose another \
             folder with --data, or load it into a tenant of its own with `uptake demo --beside`",
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
    // A crash in between is seen by the mark at the end, which is missing then.
    opened.wait_for_disk(false).await?;
    eprintln!("loading demo data: a month of made-up conversations");
    let progress = Progress::new("days");
    let loaded =
        demo::load(engine, &clock, now, conversations, |done, of| progress.show(done, of)).await?;
    opened.wait_for_disk(true).await?;
    engine.close().await?;
    let demo::Loaded { conversations, turns } = loaded;
    let secs = (wiring::clock().now().as_micros() - now.as_micros()) as f64 / 1e6;
    eprintln!("loaded {conversations} conversations with {turns} turns in {secs:.1} s");
    Ok(true)
}

/// Where the ids of demo data come from.
const SEED: &[u8; 32] = b"uptake demo data: ids of a month";
