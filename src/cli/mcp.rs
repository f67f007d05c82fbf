//! The command `uptake mcp`.

mod server_link;

use std::sync::Arc;

use clap::Args;

use super::Common;
use super::serve::stop_signal;
use server_link::{CallerScope, ServerLink};

/// Serve tools to agents over standard input and output (Model Context Protocol).
///
/// With the tools an agent reranks retrieved items, reports which it used, marks which helped, finds
/// strategies that worked and submits feedback. A running server offers the same tools at /mcp.
///
/// The command uses the server that holds the data folder. When there is none, it serves the folder
/// itself while it runs, also for other `uptake mcp` processes on the same folder.
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
    /// URL of a remote server, instead of a data folder.
    #[arg(long, conflicts_with = "data")]
    url: Option<String>,
    /// API key; without it, calls have the rights of the data folder's owner.
    #[arg(long)]
    key: Option<String>,
    /// Tenant [default: the key's tenant, or `default`].
    #[arg(long)]
    tenant: Option<String>,
    /// Project [default: the key's project, or `default`].
    #[arg(long)]
    project: Option<String>,
}

impl Mcp {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let (config, _) = self.common.load(Vec::new())?;
        super::logging::init_logging(&config)?;
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let scope = CallerScope { key: self.key, tenant: self.tenant, project: self.project };
        let link = match self.url {
            Some(url) => ServerLink::to_remote(&url, scope),
            None => ServerLink::to_folder(config, scope),
        };
        let served = runtime.block_on(serve_stdio(link));
        // A pending read of standard input cannot be cancelled; shutdown must not wait for it.
        runtime.shutdown_background();
        served
    }
}

async fn serve_stdio(link: ServerLink) -> anyhow::Result<()> {
    // Before the folder is opened: its lock names this process, which may then be signalled.
    let mut stop = std::pin::pin!(stop_signal()?);
    // Fail at once when the folder cannot be served, not at the first call.
    tokio::select! {
        found = link.find_server() => found.map(drop)?,
        () = &mut stop => return Ok(()),
    }
    let link = Arc::new(link);
    let served = tokio::select! {
        served = mcp::serve_stdio(Arc::clone(&link)) => served,
        () = &mut stop => Ok(()),
        ended = link.release_on_request() => ended?,
    };
    link.stop_serving().await?;
    Ok(served?)
}
