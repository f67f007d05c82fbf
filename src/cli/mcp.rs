//! The command `uptake mcp`.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;
use http::HeaderMap;
use mcp::{ApiCall, ApiClient, ApiError};
use outbound::{RemoteError, UptakeClient};
use serde_json::Value;
use tokio::sync::Mutex;

use super::Common;
use super::serve::stop_signal;
use crate::config::Config;
use crate::wiring::{self, OwnerServer};

/// Attempts while another process is opening or closing the folder.
const MAX_LOCK_TRIES: u32 = 20;
const POLL_INTERVAL: Duration = Duration::from_millis(100);

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

/// Connects the stdio MCP server with the server that currently holds the data folder.
struct ServerLink {
    location: ServerLocation,
    scope: CallerScope,
}

enum ServerLocation {
    Remote(UptakeClient),
    Folder { config: Box<Config>, serving: Mutex<Option<OwnerServer>> },
}

/// Key, tenant and project that calls are made with.
struct CallerScope {
    /// `None`: calls use the token of the folder's owner.
    key: Option<String>,
    /// For keys that are not bound to one tenant.
    tenant: Option<String>,
    /// For keys that are not bound to one project.
    project: Option<String>,
}

impl CallerScope {
    fn connect_to(&self, url: &str, token: &str) -> UptakeClient {
        UptakeClient::new(url, self.key.as_deref().unwrap_or(token))
            .with_scope(self.tenant.as_deref(), self.project.as_deref())
    }
}

impl ServerLink {
    fn to_remote(url: &str, scope: CallerScope) -> Self {
        Self { location: ServerLocation::Remote(scope.connect_to(url, "")), scope }
    }

    fn to_folder(config: Config, scope: CallerScope) -> Self {
        let location =
            ServerLocation::Folder { config: Box::new(config), serving: Mutex::default() };
        Self { location, scope }
    }

    /// The server that holds the folder. When no process does, this process starts serving it.
    async fn find_server(&self) -> anyhow::Result<UptakeClient> {
        let (config, serving) = match &self.location {
            ServerLocation::Remote(server) => return Ok(server.clone()),
            ServerLocation::Folder { config, serving } => (config, serving),
        };
        let mut serving = serving.lock().await;
        if let Some(served) = &*serving {
            return Ok(self.scope.connect_to(&served.url, &served.token));
        }
        let folder = Path::new(&config.store.data);
        let mut tries = 0;
        loop {
            tries += 1;
            match store::read_lock_holder(folder) {
                Some(holder) => match holder.server {
                    Some((url, token)) => return Ok(self.scope.connect_to(&url, &token)),
                    None if tries == MAX_LOCK_TRIES => {
                        bail!("{} holds the data folder but serves no requests", holder.process)
                    }
                    None => {}
                },
                // The process that requested the folder takes it first.
                None if tries < MAX_LOCK_TRIES && store::is_folder_requested(folder) => {}
                None => match wiring::serve_until_requested(config).await {
                    Ok(served) => {
                        let served = serving.insert(served);
                        return Ok(self.scope.connect_to(&served.url, &served.token));
                    }
                    // Another process took the folder and is about to announce its URL.
                    Err(error) if tries < MAX_LOCK_TRIES && is_locked(&error) => {}
                    Err(error) => return Err(error),
                },
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Releases the folder whenever another process requests it. Returns only on an error.
    async fn release_on_request(&self) -> anyhow::Result<std::io::Result<()>> {
        let ServerLocation::Folder { config, .. } = &self.location else {
            return std::future::pending().await;
        };
        loop {
            tokio::time::sleep(POLL_INTERVAL).await;
            if store::is_folder_requested(Path::new(&config.store.data)) {
                self.stop_serving().await?;
            }
        }
    }

    /// Stops this process's own server, if it runs.
    async fn stop_serving(&self) -> anyhow::Result<()> {
        let ServerLocation::Folder { serving, .. } = &self.location else { return Ok(()) };
        match serving.lock().await.take() {
            Some(served) => served.stop().await.context("the store could not be closed"),
            None => Ok(()),
        }
    }
}

fn is_locked(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(store::StoreError::Locked { .. }))
}

impl ApiClient for ServerLink {
    async fn post(&self, _headers: Option<&HeaderMap>, call: ApiCall) -> Result<Value, ApiError> {
        let failed = |detail: String| ApiError { status: None, detail };
        let server = self.find_server().await.map_err(|error| failed(format!("{error:#}")))?;
        let asked = tokio::task::spawn_blocking(move || server.post(call.path, &call.body));
        match asked.await.map_err(|error| failed(error.to_string()))? {
            Ok(value) => Ok(value),
            Err(RemoteError::Refused { status, detail }) => {
                Err(ApiError { status: Some(status), detail })
            }
            // The call may have been stored, so the agent decides whether to repeat it.
            Err(error @ RemoteError::Unreachable { .. }) => Err(failed(match &self.location {
                ServerLocation::Remote(_) => format!("{error}; the call may have been stored"),
                ServerLocation::Folder { .. } => {
                    format!(
                        "{error}; if the server was stopped, repeat the call to reach the next server"
                    )
                }
            })),
            Err(error @ (RemoteError::PrivateAddress { .. } | RemoteError::InvalidResponse(_))) => {
                Err(failed(error.to_string()))
            }
        }
    }
}
