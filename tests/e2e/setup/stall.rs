//! A wire that stops: a proxy before the registry that passes so many bytes of the answers on a connection and then holds
//! the rest.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};

/// Forwards each connection to a registry until its quota of answered bytes is used up.
pub(crate) struct StalledWire {
    address: String,
    stalled: Receiver<()>,
}

impl StalledWire {
    /// Passes this many bytes of the answers on each connection: small answers beside a large one are not held back.
    pub(crate) fn before(registry: &str, quota: usize) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a loopback port is free");
        let address = listener.local_addr().expect("a bound socket has an address").to_string();
        let (tell, stalled) = channel();
        let registry = registry.to_owned();
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect(&registry) else { break };
                let tell = tell.clone();
                let (to_server, to_client) = (server.try_clone(), client.try_clone());
                if let (Ok(to_server), Ok(to_client)) = (to_server, to_client) {
                    std::thread::spawn(move || forward(client, to_server));
                    std::thread::spawn(move || forward_some(server, to_client, quota, &tell));
                }
            }
        });
        Self { address, stalled }
    }

    /// `127.0.0.1:PORT`.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Waits until bytes are held back.
    pub(crate) fn wait(&self) {
        self.stalled.recv().expect("the wire stalls before its threads end");
    }
}

fn forward(mut from: TcpStream, mut to: TcpStream) {
    // Either side may hang up at any time; then the other hears of it.
    let _ = std::io::copy(&mut from, &mut to);
    let _ = to.shutdown(Shutdown::Write);
}

fn forward_some(mut from: TcpStream, mut to: TcpStream, mut left: usize, tell: &Sender<()>) {
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        let pass = count.min(left);
        left -= pass;
        if to.write_all(&buffer[..pass]).is_err() {
            return;
        }
        if pass < count {
            // Nobody listens any more once the test is over.
            let _ = tell.send(());
            // The connection stays open, and silent, until the client hangs up.
            let _ = to.read(&mut buffer);
            return;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}
