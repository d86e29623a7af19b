//! A relay in front of a registry: it passes bytes on at a steady pace, and breaks connections on demand.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::failure::ChoreResult;

/// What passes through it in one direction a second, at most, on each connection.
const PACE: u64 = 150_000_000;
const PIECE: usize = 256 * 1024;

/// A running relay on 127.0.0.1; TLS goes through it untouched. Dropping it ends it.
pub(super) struct Relay {
    address: String,
    shared: Arc<RelayState>,
    thread: Option<thread::JoinHandle<()>>,
}

struct RelayState {
    to: String,
    stop: AtomicBool,
    down: AtomicU64,
    /// Breaks the connection on which the count of bytes that went down passes this number; zero for never.
    break_at: AtomicU64,
}

impl Relay {
    /// One that leads to this `127.0.0.1:PORT`.
    pub(super) fn start(to: &str) -> ChoreResult<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?.to_string();
        let shared = Arc::new(RelayState {
            to: to.to_owned(),
            stop: AtomicBool::new(false),
            down: AtomicU64::new(0),
            break_at: AtomicU64::new(0),
        });
        let serving = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            for peer in listener.incoming() {
                if serving.stop.load(Ordering::SeqCst) {
                    return;
                }
                let (Ok(peer), shared) = (peer, Arc::clone(&serving)) else { continue };
                // A connection that breaks is the peer's affair.
                thread::spawn(move || drop(shared.serve(peer)));
            }
        });
        Ok(Self { address, shared, thread: Some(thread) })
    }

    /// `127.0.0.1:PORT`.
    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// Breaks one connection after so many more bytes have come down from the registry.
    pub(super) fn break_after(&self, bytes: u64) {
        let here = self.shared.down.load(Ordering::SeqCst);
        self.shared.break_at.store(here + bytes, Ordering::SeqCst);
    }
}

impl RelayState {
    fn serve(self: Arc<Self>, peer: TcpStream) -> std::io::Result<()> {
        let there = TcpStream::connect(&self.to)?;
        let (back_from, back_to, shared) = (there.try_clone()?, peer.try_clone()?, Arc::clone(&self));
        let back = thread::spawn(move || shared.pass(back_from, back_to, &|shared, count| shared.goes_down(count)));
        // Either side may end first; then the other one ends too.
        let _ = self.pass(peer, there, &|_, _| true);
        let _ = back.join();
        Ok(())
    }

    /// Copies until the end, or until `goes_on` says no: then both sides are cut off.
    fn pass(
        &self,
        mut from: TcpStream,
        mut to: TcpStream,
        goes_on: &dyn Fn(&Self, u64) -> bool,
    ) -> std::io::Result<()> {
        let mut buffer = vec![0; PIECE];
        let (start, mut passed) = (Instant::now(), 0);
        let mut idle = Duration::ZERO;
        loop {
            let waiting = Instant::now();
            let count = from.read(&mut buffer)?;
            idle += waiting.elapsed();
            if count == 0 {
                return to.shutdown(Shutdown::Write);
            }
            if !goes_on(self, count as u64) {
                let _ = from.shutdown(Shutdown::Both);
                return to.shutdown(Shutdown::Both);
            }
            to.write_all(&buffer[..count])?;
            passed += count as u64;
            let due = Duration::from_micros(passed * 1_000_000 / PACE);
            thread::sleep(due.saturating_sub(start.elapsed().saturating_sub(idle)));
        }
    }

    fn goes_down(&self, count: u64) -> bool {
        let before = self.down.fetch_add(count, Ordering::SeqCst);
        let break_at = self.break_at.load(Ordering::SeqCst);
        if break_at == 0 || before + count < break_at {
            return true;
        }
        self.break_at.store(0, Ordering::SeqCst);
        false
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::SeqCst);
        // Wakes the listener up.
        let _ = TcpStream::connect(&self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
