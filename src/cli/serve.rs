//! The command `uptake serve`.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use api::ConnectionLimits;
use clap::Args;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use super::Common;
use crate::config::{Config, ServerSection};
use crate::wiring;

/// File descriptors reserved for the store, the standard streams and outgoing connections.
const RESERVED_FILES: usize = 200;

/// Serve the API until SIGTERM or Ctrl-C.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  uptake serve
  uptake serve --demo
  uptake serve --listen 127.0.0.1:9000 --data /var/lib/uptake
  uptake serve --config uptake.toml")]
pub(super) struct Serve {
    #[command(flatten)]
    common: Common,
    /// Address and port; port 0 picks a free port.
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
    /// Load demo data into an empty store before serving; `uptake demo --remove` removes it.
    #[arg(long)]
    demo: bool,
}

impl Serve {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let flags = self.listen.map(|listen| ("server.listen", listen, "--listen"));
        let (config, _) = self.common.load(flags.into_iter().collect())?;
        super::logging::init_logging(&config)?;
        let address = parse_address(&config.server.listen)?;
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        runtime.block_on(async {
            if self.demo {
                wiring::request_folder(&config).await?;
                super::demo::load_if_absent(&config, demo::DEFAULT_CONVERSATIONS, false).await?;
            }
            serve(config, address).await
        })
    }
}

async fn serve(config: Config, address: SocketAddr) -> anyhow::Result<()> {
    wiring::request_folder(&config).await?;
    // Bind before opening the store: a server that cannot listen must not migrate it. When another
    // process holds the folder, it may hold the address too; opening then reports the lock.
    let bound =
        TcpListener::bind(address).await.with_context(|| format!("cannot listen on {address}"));
    let is_free = || store::read_lock_holder(Path::new(&config.store.data)).is_none();
    let bound = match bound {
        Err(error) if is_free() => return Err(error),
        bound => bound,
    };
    let opened = wiring::open(&config).await?;
    let engine = &opened.engine;
    require_keys_or_loopback(address, engine.access.is_open())?;
    let listener = bound?;
    opened.spawn_background_jobs(&config).await?;
    let run = format!("{:x}", wiring::system_clock().now().as_micros());
    let router = opened.build_router(&config, &run)?;
    let (signalled, outdated) = (stop_signal()?, engine.cluster.until_outdated());
    let stop = async {
        tokio::select! {
            () = signalled => {}
            () = outdated => {}
        }
    };
    let url = format!("http://{}", listener.local_addr()?);
    opened.announce(&url, false)?;
    println!("listening on {url}");
    let open = engine.access.is_open();
    tracing::info!(position = engine.head().0, data = config.store.data, open, "ready");
    let linger = Duration::from_secs(config.server.linger_secs);
    let limits = compute_connection_limits(&config.server);
    api::run(listener, router, Arc::clone(engine), stop, linger, limits).await?;
    if engine.cluster.is_outdated() {
        bail!(
            "the log in Postgres is shorter than the position this node has read: the database was restored to \
             an earlier state and later writes are lost; restart the node to reload the log"
        );
    }
    Ok(())
}

fn parse_address(text: &str) -> anyhow::Result<SocketAddr> {
    text.parse().with_context(|| {
        format!("server.listen is {text:?}, expected an address like 127.0.0.1:8787")
    })
}

/// Without keys every client has full access, so only a loopback address is accepted.
fn require_keys_or_loopback(address: SocketAddr, is_open: bool) -> anyhow::Result<()> {
    if is_open && !address.ip().is_loopback() {
        bail!(
            "cannot listen on {address}, which other machines can reach: no keys exist, so every client would \
             have full access. Create a key with `uptake keys create --tenant NAME --role admin`, or listen on \
             127.0.0.1"
        );
    }
    Ok(())
}

pub(super) fn stop_signal() -> anyhow::Result<impl Future<Output = ()> + Send + 'static> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tracing::info!("stop signal received; shutting down");
    })
}

/// The configured limit, lowered to the number of files the process may open.
fn compute_connection_limits(section: &ServerSection) -> ConnectionLimits {
    let files = std::fs::read_to_string("/proc/self/limits").ok();
    let most =
        cap_connections(section.max_connections, files.as_deref().and_then(parse_open_files));
    if most < section.max_connections {
        tracing::info!(
            connections = most,
            "server.max_connections lowered to fit the open file limit; raise `ulimit -n`"
        );
    }
    ConnectionLimits {
        max_connections: most,
        idle_timeout: Duration::from_secs(section.idle_secs.max(1)),
    }
}

/// Leaves [`RESERVED_FILES`] for other uses, but at most half of a small limit.
fn cap_connections(wanted: usize, files: Option<usize>) -> usize {
    files
        .map_or(wanted, |files| wanted.min(files.saturating_sub(RESERVED_FILES).max(files / 2)))
        .max(1)
}

/// Parses the soft limit of open files from `/proc/self/limits`.
fn parse_open_files(limits: &str) -> Option<usize> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_addresses_are_refused_while_no_keys_exist() {
        let reach = |text: &str, is_open| require_keys_or_loopback(text.parse().unwrap(), is_open);
        assert!(reach("127.0.0.1:1", true).is_ok());
        assert!(reach("[::1]:1", true).is_ok());
        assert!(reach("0.0.0.0:1", false).is_ok());
        let refused = reach("0.0.0.0:1", true).unwrap_err().to_string();
        assert!(refused.contains("uptake keys create --tenant NAME"), "{refused}");
    }

    #[test]
    fn connection_limit_reserves_files_for_other_uses() {
        let text =
            "Max processes  1 1 processes\nMax open files            1024      4096     files\n";
        assert_eq!(parse_open_files(text), Some(1024));
        assert_eq!(parse_open_files("Max open files  unlimited unlimited files"), None);
        assert_eq!(cap_connections(10_000, Some(1024)), 824);
        assert_eq!(cap_connections(10_000, Some(65_536)), 10_000);
        assert_eq!(cap_connections(10_000, Some(256)), 128);
        assert_eq!((cap_connections(10_000, None), cap_connections(0, None)), (10_000, 1));
    }
}
