//! Runs the HTTP server and shuts it down gracefully.
//!
//! A node about to stop drains first: it keeps serving, reports not ready and closes each connection
//! after its response. A load balancer gets time to send requests to other nodes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::HeaderValue;
use axum::http::header::CONNECTION;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use engine::Engine;
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::error::Problem;
use crate::middleware::connections::{self, ConnectionLimits};
use crate::middleware::trailing_newline::add_trailing_newline;

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
    let is_draining = Arc::new(AtomicBool::new(false));
    let drain = Arc::clone(&is_draining);
    let stop = async move {
        stop.await;
        drain.store(true, Ordering::Relaxed);
        tokio::time::sleep(linger).await;
        stopping_engine.begin_shutdown();
        stopping.send_replace(true);
    };
    let router = router.layer(from_fn_with_state(is_draining, close_when_draining));
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

async fn close_when_draining(
    State(is_draining): State<Arc<AtomicBool>>,
    request: Request,
    next: Next,
) -> Response {
    if !is_draining.load(Ordering::Relaxed) {
        return next.run(request).await;
    }
    let mut response = if request.uri().path() == "/health/ready" {
        let problem = Problem::unavailable("this node is draining and stops soon");
        add_trailing_newline(problem.render("draining")).await
    } else {
        next.run(request).await
    };
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}
