//! A balancer in front of two servers: each connection goes to the other one than the connection before.

use std::io;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread;

use crate::failure::ChoreResult;

/// A running balancer on 127.0.0.1; TLS goes through it untouched. It ends with the process.
pub(super) struct Balancer {
    port: u16,
}

impl Balancer {
    /// One in front of these ports of 127.0.0.1.
    pub(super) fn start(ports: [u16; 2]) -> ChoreResult<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let port = listener.local_addr()?.port();
        thread::spawn(move || {
            for (peer, to) in listener.incoming().flatten().zip(ports.into_iter().cycle()) {
                // A connection that breaks is the peer's affair.
                drop(join(peer, to));
            }
        });
        Ok(Self { port })
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }
}

fn join(peer: TcpStream, to: u16) -> io::Result<()> {
    let server = TcpStream::connect(("127.0.0.1", to))?;
    let (from_peer, from_server) = (peer.try_clone()?, server.try_clone()?);
    thread::spawn(move || pass(from_peer, server));
    thread::spawn(move || pass(from_server, peer));
    Ok(())
}

fn pass(mut from: TcpStream, mut to: TcpStream) {
    // Either side may hang up at any time; then the other hears of it.
    let _ = io::copy(&mut from, &mut to);
    let _ = to.shutdown(Shutdown::Write);
}
