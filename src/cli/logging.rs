//! Logging to standard error.

use tracing::level_filters::LevelFilter;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::config::{Config, LogFormat};

pub(super) fn init_logging(config: &Config) -> anyhow::Result<()> {
    let level = &config.log.level;
    let level: tracing::Level = level.parse().map_err(|_| {
        anyhow::anyhow!("log.level is {level:?}, expected error, warn, info, debug or trace")
    })?;
    // rmcp logs whole messages, which contain user text.
    let wanted = Targets::new().with_default(level).with_target("rmcp", LevelFilter::OFF);
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let lines = match config.log.format {
        LogFormat::Text => lines.with_ansi(false).boxed(),
        LogFormat::Json => lines.json().boxed(),
    };
    tracing_subscriber::registry().with(lines.with_filter(wanted)).init();
    Ok(())
}
