//! Embeddings from the built-in model, or from a remote one with the built-in as fallback.
//!
//! A vector names its model, so fallback vectors are never compared with remote ones. After a
//! failure the remote is not called for a while, so that not every request waits for it.

use std::sync::Arc;
use std::time::Duration;

use model::Vector;
use outbound::{RemoteEmbedder, RemoteError};
use parking_lot::Mutex;
use store::Stopwatch;

/// Delay before the next request to a remote that failed.
const RETRY_AFTER: Duration = Duration::from_secs(5);
/// Minimum time between two warnings.
const WARN_INTERVAL: Duration = Duration::from_secs(10);

#[derive(Clone, Debug, Default)]
pub struct Embedder {
    remote: Option<Arc<RemoteSource>>,
}

#[derive(Debug)]
struct RemoteSource {
    embedder: RemoteEmbedder,
    failures: Mutex<FailureState>,
}

#[derive(Debug, Default)]
struct FailureState {
    /// Start of the retry delay.
    failed_at: Option<Stopwatch>,
    warned_at: Option<Stopwatch>,
}

impl Embedder {
    /// Uses a remote model, with the built-in one as fallback.
    pub fn with_remote(remote: RemoteEmbedder) -> Self {
        let remote = RemoteSource { embedder: remote, failures: Mutex::default() };
        Self { remote: Some(Arc::new(remote)) }
    }

    /// Embeds each text. When the remote fails, all vectors come from the built-in model, so an
    /// outage does not delay answers.
    pub fn embed(&self, texts: &[&str]) -> Vec<Vector> {
        let vectors = self.remote.as_ref().and_then(|remote| remote.embed(texts, RETRY_AFTER));
        vectors.unwrap_or_else(|| texts.iter().map(|text| embed::built_in().embed(text)).collect())
    }

    pub fn is_remote(&self) -> bool {
        self.remote.is_some()
    }
}

impl RemoteSource {
    /// `None` when the request fails, or a request failed less than `rest` ago.
    fn embed(&self, texts: &[&str], rest: Duration) -> Option<Vec<Vector>> {
        if !self.failures.lock().may_request(rest) {
            return None;
        }
        let answer = self.embedder.embed(texts);
        let mut trouble = self.failures.lock();
        match answer {
            Ok(vectors) => {
                trouble.failed_at = None;
                Some(vectors)
            }
            Err(error) => {
                trouble.failed_at = (!is_input_error(&error)).then(Stopwatch::start);
                if trouble.may_warn(WARN_INTERVAL) {
                    let model = self.embedder.model();
                    tracing::warn!(%error, %model, texts = texts.len(), "remote embedding failed; using the built-in model");
                }
                None
            }
        }
    }
}

impl FailureState {
    fn may_request(&mut self, rest: Duration) -> bool {
        let Some(since) = &self.failed_at else { return true };
        if since.elapsed() < rest {
            return false;
        }
        // Concurrent requests use the fallback while this one tries the remote.
        self.failed_at = Some(Stopwatch::start());
        true
    }

    fn may_warn(&mut self, quiet: Duration) -> bool {
        if self.warned_at.as_ref().is_some_and(|warned| warned.elapsed() < quiet) {
            return false;
        }
        self.warned_at = Some(Stopwatch::start());
        true
    }
}

/// True when the error concerns the input. A text that is too long must not disable the remote
/// for other texts.
fn is_input_error(error: &RemoteError) -> bool {
    match error {
        RemoteError::Refused { status, .. } => matches!(status, 400 | 413 | 422),
        RemoteError::Unreachable { .. }
        | RemoteError::PrivateAddress { .. }
        | RemoteError::InvalidResponse(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{Shutdown, TcpListener};
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// A server that answers every request with one status: its embedder and its request count.
    fn refusing_embedder(status: &'static str) -> (Embedder, Arc<AtomicUsize>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let requests = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&requests);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                counter.fetch_add(1, Ordering::SeqCst);
                let head = "content-length: 0\r\nconnection: close";
                let answer = format!("HTTP/1.1 {status}\r\n{head}\r\n\r\n");
                stream.write_all(answer.as_bytes()).unwrap();
                stream.shutdown(Shutdown::Write).unwrap();
                // Waits until the client closes the connection.
                let _ = stream.read_to_end(&mut Vec::new());
            }
        });
        let patient = Duration::from_secs(60);
        (Embedder::with_remote(RemoteEmbedder::new(&url, "tiny", None, patient)), requests)
    }

    #[test]
    fn failed_remote_is_not_called_during_the_retry_delay() {
        let (embedder, requests) = refusing_embedder("500 No");
        let remote = embedder.remote.clone().unwrap();
        for _ in 0..20 {
            assert_eq!(remote.embed(&["hello"], Duration::MAX), None);
        }
        assert_eq!(requests.load(Ordering::SeqCst), 1);
        assert_eq!(embedder.embed(&["hello"])[0], embed::built_in().embed("hello"));
        assert_eq!(remote.embed(&["hello"], Duration::ZERO), None);
        assert_eq!(requests.load(Ordering::SeqCst), 2, "called after the delay");
    }

    #[test]
    fn refused_text_does_not_start_the_retry_delay() {
        let (embedder, requests) = refusing_embedder("400 Too long");
        let remote = embedder.remote.clone().unwrap();
        for _ in 0..3 {
            assert_eq!(remote.embed(&["hello"], Duration::MAX), None);
        }
        assert_eq!(requests.load(Ordering::SeqCst), 3);
    }

    #[test]
    fn warnings_are_throttled() {
        let mut trouble = FailureState::default();
        assert!(trouble.may_warn(Duration::MAX));
        assert!(!trouble.may_warn(Duration::MAX));
        assert!(trouble.may_warn(Duration::ZERO));
    }
}
