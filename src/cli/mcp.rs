//! `uptake mcp`

mod way;

use std::sync::Arc;

use clap::Args;

use super::Common;
use super::serve::stop_signal;
use way::{Asking, Way};

/// Offer tools to agents over standard input and output (Model Context Protocol).
///
/// With them an agent reranks what it retrieved, reports what it used, marks what helped, finds
/// strategies that worked and submits feedback. A running server has the same tools at /mcp.
///
/// If a server has the data folder, it is asked; else this process serves the folder while it
/// runs, and others started on the same folder ask it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  uptake mcp --data ./uptake-data
  uptake mcp --data ./uptake-data --project my-agent
  uptake mcp --url https://uptake.example --key uk_…

For a client that starts servers by itself:
  {\"mcpServers\": {\"uptake\": {\"command\": \"uptake\", \"args\": [\"mcp\", \"--data\", \"/home/me/uptake\"]}}}")]
pub(super) struct Mcp {
    #[command(flatten)]
    common: Common,
    /// A server elsewhere, instead of a data folder.
    #[arg(long, conflicts_with = "data")]
    url: Option<String>,
    /// The key to use, instead of the rights of the folder's owner.
    #[arg(long)]
    key: Option<String>,
    /// Whose feedback; by default the key's, or `default`.
    #[arg(long)]
    tenant: Option<String>,
    /// Which project's; by default the key's, or `default`.
    #[arg(long)]
    project: Option<String>,
}

impl Mcp {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let (config, _) = self.common.load(Vec::new())?;
        super::logging::start(&config)?;
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let asking = Asking { key: self.key, tenant: self.tenant, project: self.project };
        let way = match self.url {
            Some(url) => Way::elsewhere(&url, asking),
            None => Way::to_folder(config, asking),
        };
        let served = runtime.block_on(serve(way));
        // A read of standard input cannot be called off; whoever told us to stop does not wait for it.
        runtime.shutdown_background();
        served
    }
}

async fn serve(way: Way) -> anyhow::Result<()> {
    // First of all: once the folder says who serves it, whoever reads that may tell us to stop.
    let mut stop = std::pin::pin!(stop_signal()?);
    // A folder that cannot be served is said at once, not with the first call.
    tokio::select! {
        served = way.server() => served.map(drop)?,
        () = &mut stop => return Ok(()),
    }
    let way = Arc::new(way);
    let served = tokio::select! {
        served = mcp::serve_stdio(Arc::clone(&way)) => served,
        () = &mut stop => Ok(()),
        ended = way.yield_when_asked() => ended?,
    };
    way.close().await?;
    Ok(served?)
}
