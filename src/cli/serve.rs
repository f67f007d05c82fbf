//! `uptake serve`

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context, bail};
use clap::Args;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use super::Common;
use crate::config::{Config, LogFormat};
use crate::wiring;

/// Serve the API until SIGTERM or Ctrl-C.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  uptake serve
  uptake serve --listen 127.0.0.1:9000 --data /var/lib/uptake
  uptake serve --config uptake.toml")]
pub(super) struct Serve {
    #[command(flatten)]
    common: Common,
    /// Address and port; port 0 picks a free one.
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
}

impl Serve {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let flags = self.listen.map(|listen| ("server.listen", listen, "--listen"));
        let (config, _) = self.common.load(flags.into_iter().collect())?;
        start_logging(&config)?;
        let address = open_address(&config.server.listen)?;
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        runtime.block_on(serve(config, address))
    }
}

async fn serve(config: Config, address: SocketAddr) -> anyhow::Result<()> {
    let listener =
        TcpListener::bind(address).await.with_context(|| format!("cannot listen on {address}"))?;
    let engine = Arc::new(wiring::engine(&config)?);
    let copies = wiring::copies(&config)?;
    match &copies {
        Some(place) => engine.mirror_turn_logs(place.clone()),
        None => engine.forget_turn_log_copies().await?,
    }
    let settings = serve::Settings {
        body_bytes: config.server.max_body_kib << 10,
        batch_bytes: config.server.max_batch_mib << 20,
        copies,
    };
    let run = format!("{:x}", wiring::clock().now().as_micros());
    let router = serve::router(Arc::clone(&engine), settings, &run);
    let stop = stop_signal()?;
    println!("listening on http://{}", listener.local_addr()?);
    tracing::info!(position = engine.head().0, data = config.store.data, "ready");
    Ok(serve::run(listener, router, engine, stop).await?)
}

/// Without keys the server is open to everybody who can reach it, so only this machine may.
fn open_address(text: &str) -> anyhow::Result<SocketAddr> {
    let address: SocketAddr = text
        .parse()
        .with_context(|| format!("server.listen is {text:?}, expected one like 127.0.0.1:8787"))?;
    if !address.ip().is_loopback() {
        bail!(
            "{address} can be reached from other machines, and no keys exist; \
             listen on 127.0.0.1 or [::1] instead"
        );
    }
    Ok(address)
}

fn stop_signal() -> anyhow::Result<impl Future<Output = ()> + Send + 'static> {
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

fn start_logging(config: &Config) -> anyhow::Result<()> {
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
