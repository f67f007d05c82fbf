//! A way to Postgres that can be cut at the worst moment: when a commit was sent and before it is confirmed.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

pub(super) struct Cutter {
    address: SocketAddr,
    is_armed: Arc<AtomicBool>,
    cuts: Arc<AtomicUsize>,
}

impl Cutter {
    /// In front of this `host:port`.
    pub(super) fn before(server: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (is_armed, cuts) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let this = Self {
            address: listener.local_addr().unwrap(),
            is_armed: Arc::clone(&is_armed),
            cuts: Arc::clone(&cuts),
        };
        let server = server.to_owned();
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let (Ok(client), Ok(server)) = (client, TcpStream::connect(&server)) else {
                    return;
                };
                let (armed, cuts) = (Arc::clone(&is_armed), Arc::clone(&cuts));
                let is_over = Arc::new(AtomicBool::new(false));
                let (from, to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
                let over = Arc::clone(&is_over);
                std::thread::spawn(move || answer(from, to, &over));
                std::thread::spawn(move || ask(client, server, &armed, &cuts, &is_over));
            }
        });
        this
    }

    pub(super) fn place(&self) -> String {
        self.address.to_string()
    }

    /// Cuts the next commit.
    pub(super) fn arm(&self) {
        self.is_armed.store(true, Ordering::SeqCst);
    }

    pub(super) fn cuts(&self) -> usize {
        self.cuts.load(Ordering::SeqCst)
    }
}

fn ask(
    mut client: TcpStream,
    mut server: TcpStream,
    is_armed: &AtomicBool,
    cuts: &AtomicUsize,
    is_over: &AtomicBool,
) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(count @ 1..) = client.read(&mut buffer) {
        let said = &buffer[..count];
        let commits = said.windows(7).any(|word| word == b"COMMIT\0");
        let cut = commits && is_armed.swap(false, Ordering::SeqCst);
        // From here on no answer goes back.
        is_over.store(cut, Ordering::SeqCst);
        if server.write_all(said).is_err() {
            break;
        }
        if cut {
            // It has time to come to pass.
            std::thread::sleep(Duration::from_millis(300));
            cuts.fetch_add(1, Ordering::SeqCst);
            break;
        }
    }
    // Either may be gone already.
    let _ = client.shutdown(Shutdown::Both);
    let _ = server.shutdown(Shutdown::Both);
}

fn answer(mut server: TcpStream, mut client: TcpStream, is_over: &AtomicBool) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(count @ 1..) = server.read(&mut buffer) {
        if is_over.load(Ordering::SeqCst) || client.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
}
