//! Queries the server that holds the data folder, or a temporary one started for the query.

use std::path::Path;

use anyhow::Context;
use outbound::UptakeClient;

use crate::config::Config;
use crate::wiring;

/// Queries the server that holds the folder, or a temporary one. A folder without a store is an
/// error, so that a mistyped --data does not look like an empty store.
pub(super) fn query_server<A>(
    config: &Config,
    question: impl FnOnce(&UptakeClient) -> Result<A, outbound::RemoteError>,
) -> anyhow::Result<A> {
    if store::read_lock_holder(Path::new(&config.store.data)).is_none() {
        wiring::open_log(&config.store)
            .context("nothing to query; --data must name the server's data folder")?;
    }
    query_or_create_store(config, question)
}

/// Like [`query_server`], but creates the store when the folder has none.
pub(super) fn query_or_create_store<A>(
    config: &Config,
    question: impl FnOnce(&UptakeClient) -> Result<A, outbound::RemoteError>,
) -> anyhow::Result<A> {
    let folder = Path::new(&config.store.data);
    if let Some(holder) = store::read_lock_holder(folder) {
        let (url, token) = holder.server.with_context(|| {
            format!("{} holds the data folder but serves no requests; try again", holder.process)
        })?;
        return Ok(question(&UptakeClient::new(&url, &token))?);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let served = runtime.block_on(wiring::serve_for_owner(config))?;
    let answer = question(&UptakeClient::new(&served.url, &served.token));
    runtime.block_on(served.stop())?;
    Ok(answer?)
}

/// Refuses a name that would change the URL it is put into: `#` cuts the path, `..` leaves it.
pub(super) fn check_path_segment<'a>(what: &str, name: &'a str) -> anyhow::Result<&'a str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let fits = name.chars().all(plain) && !matches!(name, "" | "." | "..");
    anyhow::ensure!(fits, "{name:?} is not a {what}: expected letters, digits, `-`, `_` and `.`");
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_would_change_the_url_are_refused() {
        for good in ["4k2p9x0a7dqz", "chat", "my-router_2.1"] {
            assert_eq!(check_path_segment("name", good).unwrap(), good);
        }
        for bad in ["", ".", "..", "x#y", "x?y", "x/y", "x%2Fy", "x y"] {
            assert!(check_path_segment("name", bad).is_err(), "{bad}");
        }
    }
}
