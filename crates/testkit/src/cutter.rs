//! A way to Postgres that can be cut: for everybody, or at the worst moment, when a commit was sent and before it
//! is confirmed. Not encrypted: it reads along.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

/// What becomes of a commit whose connection is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It comes to pass, and only the server knows.
    Done,
    /// It does not reach the server, which takes back what was to be committed.
    Lost,
}

/// Passes on what is said until it is told to cut. Ends with the test.
pub struct Cutter {
    address: SocketAddr,
    url: String,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    server: String,
    next: Mutex<Option<Next>>,
    unsaid: Mutex<Option<&'static [u8]>>,
    ways: Mutex<Ways>,
    cuts: AtomicUsize,
    is_over: AtomicBool,
}

/// The commit that is cut next.
struct Next {
    fate: Fate,
    // Said before it, and not heard yet.
    behind: Option<&'static [u8]>,
}

#[derive(Default)]
struct Ways {
    is_closed: bool,
    open: Vec<TcpStream>,
}

impl Cutter {
    /// In front of the server of this address, `postgres://USER@HOST:PORT/DATABASE`.
    pub fn before(url: &str) -> io::Result<Self> {
        let nowhere =
            || io::Error::other(format!("got {url:?}, expected a user, a host and a port"));
        let (_, place) = url.split_once('@').ok_or_else(nowhere)?;
        let (server, _) = place.split_once('/').ok_or_else(nowhere)?;
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
                    thread::spawn(move || shared.pass_on(&client));
                }
            }
        });
        Ok(this)
    }

    /// The same address by this way.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Cuts the next commit.
    pub fn arm(&self, fate: Fate) {
        *locked(&self.shared.next) = Some(Next { fate, behind: None });
    }

    /// Cuts the next commit behind something that is said before it.
    pub fn arm_behind(&self, said: &'static str, fate: Fate) {
        *locked(&self.shared.next) = Some(Next { fate, behind: Some(said.as_bytes()) });
    }

    /// How many commits were cut.
    pub fn cuts(&self) -> usize {
        self.shared.cuts.load(Ordering::SeqCst)
    }

    /// Cuts off whoever says this, until it may be said again.
    pub fn forbid(&self, text: &'static str) {
        *locked(&self.shared.unsaid) = Some(text.as_bytes());
    }

    /// Everything may be said from now on.
    pub fn allow(&self) {
        *locked(&self.shared.unsaid) = None;
    }

    /// Lets in nobody else, until it is opened again.
    pub fn close(&self) {
        locked(&self.shared.ways).is_closed = true;
    }

    /// The same, and cuts off those who are connected.
    pub fn shut(&self) {
        self.close();
        for way in locked(&self.shared.ways).open.drain(..) {
            // It may be over already.
            let _ = way.shutdown(Shutdown::Both);
        }
    }

    /// Lets in whoever comes from now on.
    pub fn open(&self) {
        locked(&self.shared.ways).is_closed = false;
    }
}

impl Drop for Cutter {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
        // Wakes it up to see that it is over.
        let _ = TcpStream::connect(self.address);
    }
}

impl Shared {
    fn pass_on(&self, client: &TcpStream) {
        let Ok(server) = TcpStream::connect(&self.server) else { return };
        let (Ok(from), Ok(to)) = (server.try_clone(), client.try_clone()) else { return };
        if !self.lets_in(client) {
            return;
        }
        let is_cut = Arc::new(AtomicBool::new(false));
        let is_deaf = Arc::clone(&is_cut);
        let back = thread::spawn(move || answer(&from, &to, &is_deaf));
        self.ask(client, &server, &is_cut, back);
        // Either may be gone already.
        let _ = client.shutdown(Shutdown::Both);
        let _ = server.shutdown(Shutdown::Both);
    }

    fn lets_in(&self, client: &TcpStream) -> bool {
        let mut ways = locked(&self.ways);
        if !ways.is_closed {
            ways.open.extend(client.try_clone());
        }
        !ways.is_closed
    }

    fn ask(
        &self,
        mut client: &TcpStream,
        mut server: &TcpStream,
        is_cut: &AtomicBool,
        back: JoinHandle<()>,
    ) {
        let (mut buffer, mut heard) = (vec![0; 1 << 16], Vec::new());
        while let Ok(count @ 1..) = client.read(&mut buffer) {
            let said = &buffer[..count];
            heard.extend_from_slice(said);
            if locked(&self.unsaid).is_some_and(|text| has(&heard, text)) {
                return;
            }
            let fate = self.fate(&heard);
            // The beginning of what may end in the next piece.
            heard.drain(..heard.len().saturating_sub(COMMIT.len() - 1));
            // From here on no answer goes back.
            is_cut.store(fate.is_some(), Ordering::SeqCst);
            let Some(fate) = fate else {
                if server.write_all(said).is_err() {
                    return;
                }
                continue;
            };
            if fate == Fate::Done && server.write_all(said).is_ok() {
                // Until the server has answered. A panic there has printed itself.
                let _ = back.join();
            }
            self.cuts.fetch_add(1, Ordering::SeqCst);
            return;
        }
    }

    /// What becomes of a commit in what was said, if one is to be cut.
    fn fate(&self, said: &[u8]) -> Option<Fate> {
        let mut next = locked(&self.next);
        let expected = next.as_mut()?;
        if expected.behind.is_some_and(|text| has(said, text)) {
            expected.behind = None;
        }
        let is_here = expected.behind.is_none() && has(said, COMMIT);
        if is_here { next.take().map(|next| next.fate) } else { None }
    }
}

/// As it is said, and as it is confirmed.
const COMMIT: &[u8] = b"COMMIT\0";
/// What the server says of a commit that it refuses.
const REFUSED: &[u8] = b"ROLLBACK\0";

/// Until either side ends, or the server has answered a commit that was cut.
fn answer(mut server: &TcpStream, mut client: &TcpStream, is_cut: &AtomicBool) {
    let (mut buffer, mut unheard) = (vec![0; 1 << 16], Vec::new());
    while let Ok(count @ 1..) = server.read(&mut buffer) {
        let said = &buffer[..count];
        if is_cut.load(Ordering::SeqCst) {
            unheard.extend_from_slice(said);
            if has(&unheard, COMMIT) || has(&unheard, REFUSED) {
                return;
            }
        } else if client.write_all(said).is_err() {
            return;
        }
    }
    if !is_cut.load(Ordering::SeqCst) {
        let _ = client.shutdown(Shutdown::Both);
    }
}

fn has(said: &[u8], text: &[u8]) -> bool {
    said.windows(text.len()).any(|part| part == text)
}

/// None of what these locks guard can be left half-changed.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
