//! Asks the server that has the data folder, or one started for this question alone.

use std::path::Path;

use anyhow::Context;
use outbound::RunningServer;

use crate::config::Config;
use crate::wiring;

/// Asks the server that has the folder, or one started for this question alone. A folder without a store is
/// an error: who mistyped its name should not be told that nothing happened yet.
pub(super) fn ask<A>(
    config: &Config,
    question: impl FnOnce(&RunningServer) -> Result<A, outbound::RemoteError>,
) -> anyhow::Result<A> {
    if store::read_lock_holder(Path::new(&config.store.data)).is_none() {
        wiring::log(&config.store).context("nothing to ask; --data names the server's folder")?;
    }
    ask_or_make(config, question)
}

/// The same; where there is no store yet, one is made.
pub(super) fn ask_or_make<A>(
    config: &Config,
    question: impl FnOnce(&RunningServer) -> Result<A, outbound::RemoteError>,
) -> anyhow::Result<A> {
    let folder = Path::new(&config.store.data);
    if let Some(holder) = store::read_lock_holder(folder) {
        let (url, token) = holder.server.with_context(|| {
            format!("{} has the data folder and cannot be asked; try again", holder.process)
        })?;
        return Ok(question(&RunningServer::new(&url, &token))?);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let served = runtime.block_on(wiring::serve_for_owner(config))?;
    let answer = question(&RunningServer::new(&served.url, &served.token));
    runtime.block_on(served.stop())?;
    Ok(answer?)
}

/// A name that may stand in an address as it is. Another one would be asked about than was given: what comes
/// after a `#` is left out, and `..` leads elsewhere.
pub(super) fn in_path<'a>(what: &str, name: &'a str) -> anyhow::Result<&'a str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let fits = name.chars().all(plain) && !matches!(name, "" | "." | "..");
    anyhow::ensure!(fits, "{name:?} is no {what}");
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_mean_themselves_stand_in_an_address() {
        for good in ["4k2p9x0a7dqz", "chat", "my-router_2.1"] {
            assert_eq!(in_path("name", good).unwrap(), good);
        }
        for bad in ["", ".", "..", "x#y", "x?y", "x/y", "x%2Fy", "x y"] {
            assert!(in_path("name", bad).is_err(), "{bad}");
        }
    }
}
