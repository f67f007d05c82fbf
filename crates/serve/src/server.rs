//! Serves until told to stop, then finishes what was accepted.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use flow::Engine;
use tokio::net::TcpListener;
use tokio::sync::watch;

/// How long requests under way may take after the server was told to stop. One that is still being
/// sent by then was never accepted.
const DRAIN: Duration = Duration::from_secs(5);

/// Runs until `stop` is ready; requests under way are answered and committed before it returns.
pub async fn run(
    listener: TcpListener,
    router: Router,
    engine: Arc<Engine>,
    stop: impl Future<Output = ()> + Send + 'static,
) -> std::io::Result<()> {
    let (stopping, mut stopped) = watch::channel(false);
    let told = Arc::clone(&engine);
    let stop = async move {
        stop.await;
        told.begin_to_stop();
        stopping.send_replace(true);
    };
    let service = router.into_make_service_with_connect_info::<SocketAddr>();
    let serving = axum::serve(listener, service).with_graceful_shutdown(stop);
    let too_late = async {
        // An error means that the server is gone already.
        let _ = stopped.wait_for(|stopped| *stopped).await;
        tokio::time::sleep(DRAIN).await;
    };
    tokio::select! {
        served = serving => served?,
        () = too_late => tracing::warn!("closing connections that did not finish in time"),
    }
    engine.close().await.map_err(std::io::Error::other)?;
    tracing::info!(position = engine.head().0, "stopped");
    Ok(())
}
