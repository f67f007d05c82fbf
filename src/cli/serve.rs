//! `uptake serve`

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use super::Common;
use crate::config::Config;
use crate::wiring;

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
    /// Address and port; port 0 picks a free one.
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
    /// First fill a fresh store with a month of made-up conversations; `uptake demo --remove` takes them
    /// away again.
    #[arg(long)]
    demo: bool,
}

impl Serve {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let flags = self.listen.map(|listen| ("server.listen", listen, "--listen"));
        let (config, _) = self.common.load(flags.into_iter().collect())?;
        super::logging::start(&config)?;
        let address = parse_address(&config.server.listen)?;
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        runtime.block_on(async {
            if self.demo {
                wiring::ask_for_folder(&config).await?;
                super::demo::load_if_absent(&config, demo::CONVERSATIONS, false).await?;
            }
            serve(config, address).await
        })
    }
}

async fn serve(config: Config, address: SocketAddr) -> anyhow::Result<()> {
    wiring::ask_for_folder(&config).await?;
    // First: whoever cannot serve should not have brought the store to a newer form. Unless somebody has the folder,
    // who may well have the address too: that is then what is wrong.
    let bound =
        TcpListener::bind(address).await.with_context(|| format!("cannot listen on {address}"));
    let is_free = || store::read_lock_holder(Path::new(&config.store.data)).is_none();
    let bound = match bound {
        Err(error) if is_free() => return Err(error),
        bound => bound,
    };
    let opened = wiring::open(&config).await?;
    let engine = &opened.engine;
    refuse_strangers(address, engine.is_open())?;
    let listener = bound?;
    opened.keep_going(&config).await?;
    let run = format!("{:x}", wiring::clock().now().as_micros());
    let router = opened.router(&config, &run)?;
    let (told, outdated) = (stop_signal()?, engine.until_outdated());
    let stop = async {
        tokio::select! {
            () = told => {}
            () = outdated => {}
        }
    };
    let url = format!("http://{}", listener.local_addr()?);
    opened.announce(&url, false)?;
    println!("listening on {url}");
    let open = engine.is_open();
    tracing::info!(position = engine.head().0, data = config.store.data, open, "ready");
    let linger = Duration::from_secs(config.server.linger_secs);
    let limits = wiring::connection_limits(&config.server);
    api::run(listener, router, Arc::clone(engine), stop, linger, limits).await?;
    if engine.is_outdated() {
        bail!(
            "the log in Postgres is shorter than what this node has read: the database was set back, and what \
             was acknowledged since is lost with it; start again to read it anew"
        );
    }
    Ok(())
}

fn parse_address(text: &str) -> anyhow::Result<SocketAddr> {
    text.parse()
        .with_context(|| format!("server.listen is {text:?}, expected one like 127.0.0.1:8787"))
}

/// Without keys the server is open to everybody who can reach it, so only this machine may.
fn refuse_strangers(address: SocketAddr, is_open: bool) -> anyhow::Result<()> {
    if is_open && !address.ip().is_loopback() {
        bail!(
            "{address} can be reached from other machines, and no keys exist; create one with \
             `uptake keys create --tenant NAME --role admin`, or listen on 127.0.0.1"
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
        tracing::info!("stopping");
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_machines_may_reach_it_once_keys_exist() {
        let reach = |text: &str, is_open| refuse_strangers(text.parse().unwrap(), is_open);
        assert!(reach("127.0.0.1:1", true).is_ok());
        assert!(reach("[::1]:1", true).is_ok());
        assert!(reach("0.0.0.0:1", false).is_ok());
        let refused = reach("0.0.0.0:1", true).unwrap_err().to_string();
        assert!(refused.contains("uptake keys create --tenant NAME"), "{refused}");
    }
}
