//! Serves until told to stop, then finishes what was accepted.

use std::sync::Arc;
use std::time::Duration;

use axum::{Router, middleware};
use engine::Engine;
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::connections::{self, ConnectionLimits};
use crate::leaving::{self, Leaving};

/// How long requests under way may take after the server was told to stop. One that is still being
/// sent by then was never accepted.
const DRAIN: Duration = Duration::from_secs(5);

/// Runs until `stop` is ready, and `linger` longer, in which it says that it goes; requests under way are
/// answered and committed before it returns.
pub async fn run(
    listener: TcpListener,
    router: Router,
    engine: Arc<Engine>,
    stop: impl Future<Output = ()> + Send + 'static,
    linger: Duration,
    limits: ConnectionLimits,
) -> std::io::Result<()> {
    let (stopping, mut stopped) = watch::channel(false);
    let told = Arc::clone(&engine);
    let leaving = Leaving::default();
    let told_leaving = leaving.clone();
    let stop = async move {
        stop.await;
        told_leaving.begin();
        tokio::time::sleep(linger).await;
        told.begin_shutdown();
        stopping.send_replace(true);
    };
    let router = router.layer(middleware::from_fn_with_state(leaving, leaving::tell));
    let serving = connections::serve(listener, router, limits, stop);
    let too_late = async {
        // An error means that the server is gone already.
        let _ = stopped.wait_for(|stopped| *stopped).await;
        tokio::time::sleep(DRAIN).await;
    };
    tokio::select! {
        () = serving => {}
        () = too_late => tracing::warn!("closing connections that did not finish in time"),
    }
    engine.close().await.map_err(std::io::Error::other)?;
    tracing::info!(position = engine.head().0, "stopped");
    Ok(())
}
