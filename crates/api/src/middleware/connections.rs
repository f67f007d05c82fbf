//! Takes connections: so many at once, each with a time within which the head of its next request must be there, and
//! within which the client must take something of an answer that waits for it.
//!
//! Whoever opens connections and says nothing, a letter now and then, or asks and never reads, is let go after that
//! time, and cannot have so many that nothing is left for the store's own files. Until then they have their places:
//! whoever takes all of them keeps everybody else waiting so long, questions after our health too.

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

use crate::middleware::write_timeout::Patient;

/// What connections may take.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionLimits {
    /// Connections at the same time; the next ones wait until one is closed.
    pub most: usize,
    /// How long a connection may be idle, how long the head of a request may take to come, and how long a client
    /// may take nothing of its answer.
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
        let stream = TokioIo::new(Patient::new(stream, limits.idle));
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(limits.idle)
            .max_buf_size(HEAD_BYTES)
            .serve_connection(stream, to_its_end(service, &place));
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
        let watch = Watch { _place: Arc::clone(&place) };
        let work = async move {
            let _watch = watch;
            let Ok(answer) = answer.await;
            answer
        };
        #[expect(clippy::disallowed_methods, reason = "`serve` waits for all places to be free")]
        tokio::spawn(work)
    })
}

/// Keeps a request's place, and tells when it panics: its client only sees that the connection is gone. What the
/// panic said may be somebody's words.
struct Watch {
    _place: Arc<OwnedSemaphorePermit>,
}

impl Drop for Watch {
    fn drop(&mut self) {
        if std::thread::panicking() {
            tracing::error!("a request panicked; its connection is gone");
        }
    }
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

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::sync::oneshot;
    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Level, Metadata, Subscriber};

    use super::*;

    /// Counts the errors that are logged here.
    struct Errors(Arc<AtomicUsize>);

    impl Subscriber for Errors {
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

    async fn broken() {
        tokio::task::yield_now().await;
        panic!("on purpose");
    }

    /// Asks, and waits until the connection is gone.
    fn ask(address: SocketAddr) {
        let mut client = std::net::TcpStream::connect(address).unwrap();
        client.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        let _ = client.read_to_end(&mut Vec::new());
    }

    #[test]
    fn a_request_that_panics_is_an_error_in_the_log() {
        let said = Arc::new(AtomicUsize::new(0));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let serving = async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let router = Router::new().route("/", axum::routing::get(broken));
            let (stop, stopped) = oneshot::channel::<()>();
            let asked = async {
                tokio::task::spawn_blocking(move || ask(address)).await.unwrap();
                stop.send(()).unwrap();
            };
            let until = async { stopped.await.unwrap() };
            tokio::join!(serve(listener, router, ConnectionLimits::default(), until), asked);
        };
        let errors = Errors(Arc::clone(&said));
        tracing::subscriber::with_default(errors, || runtime.block_on(serving));
        assert_eq!(said.load(Ordering::SeqCst), 1);
    }
}
