//! Every background job of a serving engine, with its period.
//!
//! | job | period | runs on |
//! |---|---|---|
//! | follow other nodes | as entries arrive; keys when they change | every node of a cluster |
//! | leader election | 1.5 s | every node of a cluster |
//! | copy turn logs | as entries arrive | the leader |
//! | publish to Kafka | as entries arrive | the node with the publishing lease |
//! | scrub erased words from the store's files | on demand | every node |
//! | retention | 1 h, and when a tenant changes its settings | the leader |
//! | assemble traces into turns | as spans arrive; deadlines every second | the leader |
//! | store router choices | 50 ms; checkpoints every 10 s | every node |
//! | compare figures with targets, send alerts | 2 s; all projects every 10 min | the leader |
//! | move the shares of experiments | 1 s | the leader |
//! | read messages that the instant models are unsure about | as messages arrive | the node that got the message |
//! | ask a chat model about messages that the reader is uncertain about | as messages arrive, within a rate | the node that got the message |
//! | end silent sessions, calibrate | `sweep_interval` | the leader |

use std::sync::Arc;
use std::time::Duration;

use connectors::EventSink;

use crate::cluster::publish::EventFormatter;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::turns::log_copier::CopySettings;

pub struct JobSettings {
    pub copies: CopySettings,
    /// The sink of published events, and the function that formats an event.
    pub outlet: Option<(Arc<dyn EventSink>, EventFormatter)>,
    /// The period of the sweep that ends silent sessions.
    pub sweep_interval: Duration,
}

/// Starts every background job. Call it once, before serving.
pub async fn spawn_jobs(engine: &Engine, settings: JobSettings) -> Result<(), EngineError> {
    engine.cluster.spawn_following();
    if engine.core.store.is_shared() {
        engine.routing.spawn_peer_learning();
    }
    engine.cluster.spawn_leader_election();
    engine.turns.spawn_log_copier(settings.copies).await?;
    if let Some((outlet, line)) = settings.outlet {
        engine.cluster.spawn_publisher(outlet, line);
    }
    engine.privacy.spawn_scrubbing();
    engine.privacy.spawn_retention();
    engine.routing.spawn_choice_writer();
    engine.insights.spawn_alert_jobs();
    engine.experiments.spawn_share_updates();
    engine.traces.spawn_assembler();
    engine.turns.spawn_reader();
    engine.turns.spawn_llm_reader();
    engine.turns.spawn_sweep(settings.sweep_interval);
    Ok(())
}
