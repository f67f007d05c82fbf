//! Log lines on standard error, as the configuration wants them.

use crate::config::{Config, LogFormat};

/// From here on.
pub(super) fn start(config: &Config) -> anyhow::Result<()> {
    let level = &config.log.level;
    let level: tracing::Level = level.parse().map_err(|_| {
        anyhow::anyhow!("log.level is {level:?}, expected error, warn, info, debug or trace")
    })?;
    let lines = tracing_subscriber::fmt().with_max_level(level).with_writer(std::io::stderr);
    match config.log.format {
        LogFormat::Text => lines.with_ansi(false).init(),
        LogFormat::Json => lines.json().init(),
    }
    Ok(())
}
