//! Accepts TCP connections and serves HTTP/1 on them, with a connection limit and an idle timeout.
//!
//! The timeout disconnects clients that send nothing, send slowly or never read their response. The
//! limit leaves file descriptors for the store. Slow clients hold their permits until the timeout,
//! so a client that takes all permits delays every other request that long, health checks included.
//!
//! Hand-written because the timeouts apply to a connection, while those of `tower-http` apply to a
//! request.

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
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::{JoinError, JoinSet};
use tokio_io_timeout::TimeoutWriter;
use tower_service::Service;

#[derive(Clone, Copy, Debug)]
pub struct ConnectionLimits {
    /// Concurrent connections. Further ones wait in the accept queue of the system.
    pub max_connections: usize,
    /// Bounds three waits: between requests, for the head of a request, and for the client to read
    /// some of its response.
    pub idle_timeout: Duration,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self { max_connections: 1000, idle_timeout: Duration::from_secs(75) }
    }
}

/// The head of a request is its method, target and headers.
const MAX_HEAD_BYTES: usize = 64 << 10;
/// Pause after a failed accept, for example when no file descriptor is free.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(500);

/// Serves until `stop` is ready, then accepts no more connections. Returns when all requests in
/// flight have finished.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    limits: ConnectionLimits,
    stop: impl Future<Output = ()>,
) {
    let max = u32::try_from(limits.max_connections).unwrap_or(u32::MAX).max(1);
    let permits = Arc::new(Semaphore::new(max as usize));
    let graceful = GracefulShutdown::new();
    let mut connections = JoinSet::new();
    let mut services = router.into_make_service_with_connect_info::<SocketAddr>();
    let mut stop = pin!(stop);
    loop {
        let (stream, address, permit) = tokio::select! {
            () = &mut stop => break,
            // Finished tasks are reaped.
            Some(_) = connections.join_next() => continue,
            accepted = accept(&listener, &permits) => accepted,
        };
        let Ok(service) = services.call(address).await;
        let permit = Arc::new(permit);
        let mut stream = TimeoutWriter::new(stream);
        stream.set_timeout(Some(limits.idle_timeout));
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(limits.idle_timeout)
            .max_buf_size(MAX_HEAD_BYTES)
            .serve_connection(TokioIo::new(Box::pin(stream)), spawn_requests(service, &permit));
        let connection = graceful.watch(connection);
        connections.spawn(async move {
            // Protocol errors were answered already, or the client has disconnected.
            let _ = connection.await;
            drop(permit);
        });
    }
    drop(listener);
    graceful.shutdown().await;
    // Requests of disconnected clients may still run.
    drop(permits.acquire_many(max).await);
}

/// Runs every request in its own task, which continues when the client disconnects: cancelling it
/// between a commit and the update of in-memory state would leave the two inconsistent. The request
/// holds its permit until it is done.
fn spawn_requests<S>(
    service: S,
    permit: &Arc<OwnedSemaphorePermit>,
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
    let permit = Arc::clone(permit);
    service_fn(move |request| {
        let response = service.clone().call(request);
        let guard = RequestGuard { _permit: Arc::clone(&permit) };
        let work = async move {
            let _guard = guard;
            let Ok(response) = response.await;
            response
        };
        #[expect(clippy::disallowed_methods, reason = "`serve` waits until all permits are free")]
        tokio::spawn(work)
    })
}

/// Holds the permit of a request and logs when its task panics. The panic message may contain user
/// text, so it is not logged.
struct RequestGuard {
    _permit: Arc<OwnedSemaphorePermit>,
}

impl Drop for RequestGuard {
    fn drop(&mut self) {
        if std::thread::panicking() {
            tracing::error!("request handler panicked; its connection was closed");
        }
    }
}

/// Waits for a permit, then for a connection.
async fn accept(
    listener: &TcpListener,
    permits: &Arc<Semaphore>,
) -> (TcpStream, SocketAddr, OwnedSemaphorePermit) {
    loop {
        let permit = match Arc::clone(permits).acquire_owned().await {
            Ok(permit) => permit,
            // The semaphore is never closed.
            Err(_) => std::future::pending().await,
        };
        match listener.accept().await {
            Ok((stream, address)) => return (stream, address, permit),
            Err(error) if is_client_error(&error) => {}
            Err(error) => {
                tracing::error!(%error, "accepting a connection failed");
                tokio::time::sleep(ACCEPT_RETRY_DELAY).await;
            }
        }
    }
}

/// True when the client caused the error, so that accepting continues without a pause.
fn is_client_error(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
    )
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::sync::oneshot;
    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Level, Metadata, Subscriber};

    use super::*;

    /// Counts the errors that this module logs.
    struct ErrorCounter(Arc<AtomicUsize>);

    impl Subscriber for ErrorCounter {
        fn enabled(&self, metadata: &Metadata<'_>) -> bool {
            *metadata.level() == Level::ERROR && metadata.target().ends_with("connections")
        }
        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }
        fn record(&self, _: &Id, _: &Record<'_>) {}
        fn record_follows_from(&self, _: &Id, _: &Id) {}
        fn event(&self, _: &Event<'_>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
        fn enter(&self, _: &Id) {}
        fn exit(&self, _: &Id) {}
    }

    async fn panic_in_handler() {
        tokio::task::yield_now().await;
        panic!("on purpose");
    }

    /// Returns once the server has closed the connection.
    fn send_request(address: SocketAddr) {
        let mut client = std::net::TcpStream::connect(address).unwrap();
        client.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        let _ = client.read_to_end(&mut Vec::new());
    }

    #[test]
    fn panicking_request_is_logged_as_an_error() {
        let errors = Arc::new(AtomicUsize::new(0));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let serving = async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let router = Router::new().route("/", axum::routing::get(panic_in_handler));
            let (stop, stopped) = oneshot::channel::<()>();
            let client = async {
                tokio::task::spawn_blocking(move || send_request(address)).await.unwrap();
                stop.send(()).unwrap();
            };
            let until = async { stopped.await.unwrap() };
            tokio::join!(serve(listener, router, ConnectionLimits::default(), until), client);
        };
        let counter = ErrorCounter(Arc::clone(&errors));
        tracing::subscriber::with_default(counter, || runtime.block_on(serving));
        assert_eq!(errors.load(Ordering::SeqCst), 1);
    }
}
