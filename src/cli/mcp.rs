//! `uptake mcp`

mod way;

use std::sync::Arc;

use clap::Args;

use super::Common;
use super::serve::stop_signal;
use way::Way;

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
    #[arg(long, requires = "key", conflicts_with = "data")]
    url: Option<String>,
    /// The key to use, instead of the rights of the folder's owner.
    #[arg(long)]
    key: Option<String>,
    /// Whose feedback.
    #[arg(long, default_value = "default")]
    tenant: String,
    /// Which project's.
    #[arg(long, default_value = "default")]
    project: String,
}

impl Mcp {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let (config, _) = self.common.load(Vec::new())?;
        super::logging::start(&config)?;
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        // What a key is good for is in the key; the owner's token is good for everything.
        let way = match (self.url, self.key) {
            (Some(url), Some(key)) => Way::elsewhere(&url, &key),
            (_, Some(key)) => Way::by_key(config, key),
            (_, None) => Way::as_owner(config, (self.tenant, self.project)),
        };
        runtime.block_on(serve(way))
    }
}

async fn serve(way: Way) -> anyhow::Result<()> {
    // A folder that cannot be served is said at once, not with the first call.
    way.server().await?;
    let way = Arc::new(way);
    let stop = stop_signal()?;
    let served = tokio::select! {
        served = mcp::over_stdio(Arc::clone(&way)) => served,
        () = stop => Ok(()),
    };
    way.close().await?;
    Ok(served?)
}
