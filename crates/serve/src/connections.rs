//! Takes connections: so many at once, each with a time within which the head of its next request must be there.
//!
//! Whoever opens connections and says nothing, or a letter now and then, is let go, and cannot have so many that
//! nothing is left for others or for the store's own files.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::{JoinError, JoinSet};
use tower_service::Service;

/// What connections may take.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionLimits {
    /// Connections at the same time; the next ones wait until one is closed.
    pub most: usize,
    /// How long a connection may be idle, and how long the head of a request may take to come.
    pub idle: Duration,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self { most: 1000, idle: Duration::from_secs(75) }
    }
}

/// The largest head of a request: method, address and headers.
const HEAD_BYTES: usize = 64 << 10;
/// When the system has no more room for connections, it is tried again after this.
const PAUSE: Duration = Duration::from_millis(500);

/// Serves until `stop` is ready; then takes no more connections and returns when those that are there have been
/// answered what they asked.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    limits: ConnectionLimits,
    stop: impl Future<Output = ()>,
) {
    let most = u32::try_from(limits.most).unwrap_or(u32::MAX).max(1);
    let room = Arc::new(Semaphore::new(most as usize));
    let (closing, closed) = watch::channel(false);
    let mut connections = JoinSet::new();
    let mut services = router.into_make_service_with_connect_info::<SocketAddr>();
    let mut stop = pin!(stop);
    loop {
        let (stream, address, place) = tokio::select! {
            () = &mut stop => break,
            // Those that ended are let go of.
            Some(_) = connections.join_next() => continue,
            accepted = accept(&listener, &room) => accepted,
        };
        let Ok(service) = services.call(address).await;
        let place = Arc::new(place);
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(limits.idle)
            .max_buf_size(HEAD_BYTES)
            .serve_connection(TokioIo::new(stream), to_its_end(service, &place));
        let mut closed = closed.clone();
        connections.spawn(async move {
            let mut connection = pin!(connection);
            let is_over = tokio::select! {
                _ = connection.as_mut() => true,
                // An error means that the server is gone, and this is over too.
                _ = closed.wait_for(|closed| *closed) => false,
            };
            if !is_over {
                connection.as_mut().graceful_shutdown();
                // What a client did wrong was answered, or there is nobody to answer.
                let _ = connection.await;
            }
            drop(place);
        });
    }
    drop(listener);
    closing.send_replace(true);
    while connections.join_next().await.is_some() {}
    // Whoever hung up may have asked for something that still goes on.
    drop(room.acquire_many(most).await);
}

/// Every request is a task of its own, which goes on when its client hangs up: it may be between what it has stored
/// and what the server keeps in memory of it. It takes up a place until it is done.
fn to_its_end<S>(
    service: S,
    place: &Arc<OwnedSemaphorePermit>,
) -> impl hyper::service::Service<
    hyper::Request<Incoming>,
    Response = Response,
    Error = JoinError,
    Future: Send + 'static,
> + use<S>
where
    S: Service<hyper::Request<Incoming>, Response = Response, Error = Infallible>,
    S: Clone + Send + 'static,
    S::Future: Send + 'static,
{
    let place = Arc::clone(place);
    service_fn(move |request| {
        let answer = service.clone().call(request);
        let place = Arc::clone(&place);
        let task = tokio::spawn(async move {
            let Ok(answer) = answer.await;
            drop(place);
            answer
        });
        task
    })
}

/// The next connection, when there is room for one.
async fn accept(
    listener: &TcpListener,
    room: &Arc<Semaphore>,
) -> (TcpStream, SocketAddr, OwnedSemaphorePermit) {
    loop {
        let place = match Arc::clone(room).acquire_owned().await {
            Ok(place) => place,
            // Nobody ever closes it.
            Err(_) => std::future::pending().await,
        };
        match listener.accept().await {
            Ok((stream, address)) => return (stream, address, place),
            Err(error) if is_of_the_client(&error) => {}
            Err(error) => {
                tracing::error!(%error, "a connection could not be taken");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

/// Whether only the one who wanted to connect is to blame.
fn is_of_the_client(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
    )
}
