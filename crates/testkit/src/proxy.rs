//! A plain TCP proxy in front of several servers: a connection goes to the next one that takes it.

use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// Knows nothing of what it passes on. Ends with the test.
pub struct Proxy {
    address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    servers: Mutex<Vec<String>>,
    next: AtomicUsize,
    is_over: AtomicBool,
}

impl Proxy {
    /// In front of these `host:port`.
    pub fn start(servers: &[&str]) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::default());
        let this = Self { address, shared: Arc::clone(&shared) };
        this.lead_to(servers);
        thread::spawn(move || {
            for client in listener.incoming() {
                if shared.is_over.load(Ordering::Relaxed) {
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

    /// From now on new connections go to these.
    pub fn lead_to(&self, servers: &[&str]) {
        let servers = servers.iter().map(|server| (*server).to_owned()).collect();
        *self.shared.servers.lock().unwrap_or_else(PoisonError::into_inner) = servers;
    }

    /// Where it is.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        // Wakes it up to see that it is over.
        let _ = TcpStream::connect(self.address);
    }
}

impl Shared {
    fn pass_on(&self, client: &TcpStream) {
        let Some(server) = self.server() else { return };
        let (Ok(from), Ok(to)) = (client.try_clone(), server.try_clone()) else { return };
        let back = thread::spawn(move || copy(&to, &from));
        copy(client, &server);
        // A panic there has printed itself.
        let _ = back.join();
    }

    fn server(&self) -> Option<TcpStream> {
        let servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let first = self.next.fetch_add(1, Ordering::Relaxed);
        let in_turn = (0..servers.len()).map(|n| &servers[(first + n) % servers.len()]);
        in_turn.into_iter().find_map(|server| TcpStream::connect(server).ok())
    }
}

/// Until one side ends; then the other one hears of it.
fn copy(from: &TcpStream, to: &TcpStream) {
    let (mut reader, mut writer) = (from, to);
    // Whichever side broke, the connection is over.
    let _ = io::copy(&mut reader, &mut writer);
    let _ = to.shutdown(Shutdown::Write);
}
