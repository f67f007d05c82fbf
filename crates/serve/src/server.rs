//! Serves until told to stop, then finishes what was accepted.

use std::sync::Arc;

use axum::Router;
use flow::Engine;
use tokio::net::TcpListener;

/// Runs until `stop` is ready; requests under way are answered and committed before it returns.
pub async fn run(
    listener: TcpListener,
    router: Router,
    engine: Arc<Engine>,
    stop: impl Future<Output = ()> + Send + 'static,
) -> std::io::Result<()> {
    axum::serve(listener, router).with_graceful_shutdown(stop).await?;
    engine.close().await.map_err(std::io::Error::other)?;
    tracing::info!(position = engine.head().0, "stopped");
    Ok(())
}
