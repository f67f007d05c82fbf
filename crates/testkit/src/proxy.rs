//! A TCP proxy in front of several servers: each connection goes to the next server that accepts it.

use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use parking_lot::Mutex;

/// Forwards bytes without parsing them. Stops when dropped.
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
    /// Starts a proxy in front of these `host:port` addresses.
    pub fn start(servers: &[&str]) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::default());
        let this = Self { address, shared: Arc::clone(&shared) };
        this.set_servers(servers);
        thread::spawn(move || {
            for client in listener.incoming() {
                if shared.is_over.load(Ordering::Relaxed) {
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

    /// Sends new connections to these servers.
    pub fn set_servers(&self, servers: &[&str]) {
        let servers = servers.iter().map(|server| (*server).to_owned()).collect();
        *self.shared.servers.lock() = servers;
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        // Wakes the accept loop so that it sees the end.
        let _ = TcpStream::connect(self.address);
    }
}

impl Shared {
    fn forward(&self, client: &TcpStream) {
        let Some(server) = self.server() else { return };
        let (Ok(from), Ok(to)) = (client.try_clone(), server.try_clone()) else { return };
        let back = thread::spawn(move || copy_bytes(&to, &from));
        copy_bytes(client, &server);
        // A panic in the thread has printed itself.
        let _ = back.join();
    }

    fn server(&self) -> Option<TcpStream> {
        let servers = self.servers.lock().clone();
        let first = self.next.fetch_add(1, Ordering::Relaxed);
        let in_turn = (0..servers.len()).map(|n| &servers[(first + n) % servers.len()]);
        in_turn.into_iter().find_map(|server| TcpStream::connect(server).ok())
    }
}

/// Forwards until one side closes, then closes the other.
fn copy_bytes(from: &TcpStream, to: &TcpStream) {
    let (mut reader, mut writer) = (from, to);
    // The connection is over, whichever side broke.
    let _ = io::copy(&mut reader, &mut writer);
    let _ = to.shutdown(Shutdown::Write);
}
