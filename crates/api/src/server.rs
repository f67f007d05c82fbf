//! Runs the HTTP server and shuts it down gracefully.

use std::sync::Arc;
use std::time::Duration;

use axum::{Router, middleware};
use engine::Engine;
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::middleware::connections::{self, ConnectionLimits};
use crate::middleware::drain::{self, Drain};

/// Time that requests in flight get after the listener has closed. A request whose body is still
/// incomplete by then was never accepted.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);

/// Serves until `stop` is ready, then drains for `linger`. Requests in flight are answered and
/// committed before the function returns.
pub async fn run(
    listener: TcpListener,
    router: Router,
    engine: Arc<Engine>,
    stop: impl Future<Output = ()> + Send + 'static,
    linger: Duration,
    limits: ConnectionLimits,
) -> std::io::Result<()> {
    let (stopping, mut stopped) = watch::channel(false);
    let stopping_engine = Arc::clone(&engine);
    let drain = Drain::default();
    let stopping_drain = drain.clone();
    let stop = async move {
        stop.await;
        stopping_drain.start();
        tokio::time::sleep(linger).await;
        stopping_engine.begin_to_stop();
        stopping.send_replace(true);
    };
    let router = router.layer(middleware::from_fn_with_state(drain, drain::close_when_draining));
    let serving = connections::serve(listener, router, limits, stop);
    let timed_out = async {
        // An error means that the server has stopped already.
        let _ = stopped.wait_for(|stopped| *stopped).await;
        tokio::time::sleep(SHUTDOWN_TIMEOUT).await;
    };
    tokio::select! {
        () = serving => {}
        () = timed_out => tracing::warn!("shutdown timeout: closing connections with requests in flight"),
    }
    engine.close().await.map_err(std::io::Error::other)?;
    tracing::info!(position = engine.head().0, "server stopped");
    Ok(())
}
