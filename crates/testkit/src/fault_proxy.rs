//! A TCP proxy in front of Postgres that can cut connections: all of them, or one between sending
//! COMMIT and receiving its confirmation. It parses the protocol, so connections are not encrypted.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};

use parking_lot::Mutex;

/// The fate of a commit whose connection is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommitFate {
    /// The server commits; the client gets no confirmation.
    Done,
    /// COMMIT does not reach the server, which rolls back.
    Lost,
}

/// Forwards all bytes until a test tells it to cut. Stops when dropped.
pub struct FaultProxy {
    address: SocketAddr,
    url: String,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    server: String,
    next: Mutex<Option<PendingCut>>,
    forbidden: Mutex<Option<&'static [u8]>>,
    connections: Mutex<Connections>,
    count_cuts: AtomicUsize,
    is_over: AtomicBool,
}

struct PendingCut {
    fate: CommitFate,
    // Text that must be seen start the commit.
    after: Option<&'static [u8]>,
}

#[derive(Default)]
struct Connections {
    is_closed: bool,
    open: Vec<TcpStream>,
}

impl FaultProxy {
    /// Starts a proxy for `postgres://USER@HOST:PORT/DATABASE`.
    pub fn start(url: &str) -> io::Result<Self> {
        let invalid =
            || io::Error::other(format!("got {url:?}, expected a user, a host and a port"));
        let (_, place) = url.split_once('@').ok_or_else(invalid)?;
        let (server, _) = place.split_once('/').ok_or_else(invalid)?;
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared { server: server.to_owned(), ..Shared::default() });
        let url = url.replacen(server, &address.to_string(), 1);
        let this = Self { address, url, shared: Arc::clone(&shared) };
        thread::spawn(move || {
            for client in listener.incoming() {
                if shared.is_over.load(Ordering::SeqCst) {
                    return;
                }
                let shared = Arc::clone(&shared);
                if let Ok(client) = client {
                    thread::spawn(move || shared.forward(&client));
                }
            }
        });
        Ok(this)
    }

    /// The database address through the proxy.
    pub fn url(&self) -> &str {
        &self.url
    }

    pub fn cut_next_commit(&self, fate: CommitFate) {
        *self.shared.next.lock() = Some(PendingCut { fate, after: None });
    }

    /// Cuts the next commit after the client has sent the given text.
    pub fn cut_commit_after(&self, bytes: &'static str, fate: CommitFate) {
        *self.shared.next.lock() = Some(PendingCut { fate, after: Some(bytes.as_bytes()) });
    }

    /// Number of commits that were cut.
    pub fn count_cuts(&self) -> usize {
        self.shared.count_cuts.load(Ordering::SeqCst)
    }

    /// Cuts every connection whose client sends this text.
    pub fn forbid_text(&self, text: &'static str) {
        *self.shared.forbidden.lock() = Some(text.as_bytes());
    }

    pub fn allow_all_texts(&self) {
        *self.shared.forbidden.lock() = None;
    }

    /// Refuses new connections.
    pub fn refuse_connections(&self) {
        self.shared.connections.lock().is_closed = true;
    }

    /// Refuses new connections and cuts the open ones.
    pub fn cut_all(&self) {
        self.refuse_connections();
        for way in self.shared.connections.lock().open.drain(..) {
            // The connection may be closed already.
            let _ = way.shutdown(Shutdown::Both);
        }
    }

    /// Accepts new connections.
    pub fn accept_connections(&self) {
        self.shared.connections.lock().is_closed = false;
    }
}

impl Drop for FaultProxy {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
        // Wakes the accept loop so that it sees `is_over`.
        let _ = TcpStream::connect(self.address);
    }
}

impl Shared {
    fn forward(&self, client: &TcpStream) {
        let Ok(server) = TcpStream::connect(&self.server) else { return };
        let (Ok(from), Ok(to)) = (server.try_clone(), client.try_clone()) else { return };
        if !self.admit(client) {
            return;
        }
        let is_cut = Arc::new(AtomicBool::new(false));
        let is_deaf = Arc::clone(&is_cut);
        let back = thread::spawn(move || forward_responses(&from, &to, &is_deaf));
        self.forward_requests(client, &server, &is_cut, back);
        // Either side may be closed already.
        let _ = client.shutdown(Shutdown::Both);
        let _ = server.shutdown(Shutdown::Both);
    }

    fn admit(&self, client: &TcpStream) -> bool {
        let mut connections = self.connections.lock();
        if !connections.is_closed {
            connections.open.extend(client.try_clone());
        }
        !connections.is_closed
    }

    fn forward_requests(
        &self,
        mut client: &TcpStream,
        mut server: &TcpStream,
        is_cut: &AtomicBool,
        back: JoinHandle<()>,
    ) {
        let (mut buffer, mut recent) = (vec![0; 1 << 16], Vec::new());
        while let Ok(count @ 1..) = client.read(&mut buffer) {
            let bytes = &buffer[..count];
            recent.extend_from_slice(bytes);
            if self.forbidden.lock().is_some_and(|text| contains_bytes(&recent, text)) {
                return;
            }
            let fate = self.fate(&recent);
            // Keep the bytes that may be the beginning of a split COMMIT.
            recent.drain(..recent.len().saturating_sub(COMMIT.len() - 1));
            // From here on no response is forwarded.
            is_cut.store(fate.is_some(), Ordering::SeqCst);
            let Some(fate) = fate else {
                if server.write_all(bytes).is_err() {
                    return;
                }
                continue;
            };
            if fate == CommitFate::Done && server.write_all(bytes).is_ok() {
                // Wait for the server's response. A panic in the thread has printed itself.
                let _ = back.join();
            }
            self.count_cuts.fetch_add(1, Ordering::SeqCst);
            return;
        }
    }

    /// The fate of the commit in these bytes, if it is to be cut.
    fn fate(&self, bytes: &[u8]) -> Option<CommitFate> {
        let mut next = self.next.lock();
        let expected = next.as_mut()?;
        if expected.after.is_some_and(|text| contains_bytes(bytes, text)) {
            expected.after = None;
        }
        let is_here = expected.after.is_none() && contains_bytes(bytes, COMMIT);
        if is_here { next.take().map(|next| next.fate) } else { None }
    }
}

/// The statement, and the tag that confirms it.
const COMMIT: &[u8] = b"COMMIT\0";
/// The tag of a commit that the server refused.
const ROLLBACK: &[u8] = b"ROLLBACK\0";

/// Forwards until either side closes, or until the server has answered a cut commit.
fn forward_responses(mut server: &TcpStream, mut client: &TcpStream, is_cut: &AtomicBool) {
    let (mut buffer, mut withheld) = (vec![0; 1 << 16], Vec::new());
    while let Ok(count @ 1..) = server.read(&mut buffer) {
        let bytes = &buffer[..count];
        if is_cut.load(Ordering::SeqCst) {
            withheld.extend_from_slice(bytes);
            if contains_bytes(&withheld, COMMIT) || contains_bytes(&withheld, ROLLBACK) {
                return;
            }
        } else if client.write_all(bytes).is_err() {
            return;
        }
    }
    if !is_cut.load(Ordering::SeqCst) {
        let _ = client.shutdown(Shutdown::Both);
    }
}

fn contains_bytes(bytes: &[u8], text: &[u8]) -> bool {
    bytes.windows(text.len()).any(|part| part == text)
}
