//! Asks the server that has the data folder, or one started for this question alone.

use std::path::Path;

use anyhow::Context;
use remote::RunningServer;
use serde_json::Value;

use crate::config::Config;
use crate::wiring;

/// Asks the server that has the folder, or one started for this question alone.
pub(super) fn ask(
    config: &Config,
    question: impl FnOnce(&RunningServer) -> Result<Value, remote::RemoteError>,
) -> anyhow::Result<Value> {
    let folder = Path::new(&config.store.data);
    if let Some(holder) = store::sqlite::holder_of(folder) {
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
