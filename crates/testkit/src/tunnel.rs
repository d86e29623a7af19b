//! A proxy that gives names to servers on this machine.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// An HTTP proxy on 127.0.0.1 that knows `CONNECT` alone: TLS goes through it untouched.
///
/// A name that it does not know is answered with 502, so that nothing ever leaves the machine.
#[derive(Debug)]
pub struct Tunnel {
    address: String,
    shared: Arc<TunnelState>,
    thread: Option<thread::JoinHandle<()>>,
}

/// Where a `HOST:PORT` leads, if anywhere.
type TunnelRoute = dyn Fn(&str) -> Option<String> + Send + Sync;

struct TunnelState {
    route: Box<TunnelRoute>,
    asked: Mutex<Vec<String>>,
    stop: AtomicBool,
}

impl fmt::Debug for TunnelState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TunnelState").field("asked", &self.asked).field("stop", &self.stop).finish_non_exhaustive()
    }
}

impl Tunnel {
    /// One that leads from each `HOST:PORT` to the address beside it.
    pub fn start<'a>(routes: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let routes: BTreeMap<String, String> =
            routes.into_iter().map(|(from, to)| (from.to_owned(), to.to_owned())).collect();
        Self::by(move |target| routes.get(target).cloned())
    }

    /// One that leads from a `HOST:PORT` to the `127.0.0.1:PORT` that the closure names. `None` is a name that it does
    /// not know.
    pub fn by(route: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a loopback port is free");
        let address = listener.local_addr().expect("a bound socket has an address").to_string();
        let shared =
            Arc::new(TunnelState { route: Box::new(route), asked: Mutex::default(), stop: AtomicBool::new(false) });
        let serving = Arc::clone(&shared);
        let run = move || {
            for peer in listener.incoming() {
                if serving.stop.load(Ordering::SeqCst) {
                    return;
                }
                let (Ok(peer), shared) = (peer, Arc::clone(&serving)) else { continue };
                // A connection that breaks is the peer's affair.
                thread::spawn(move || drop(shared.serve(peer)));
            }
        };
        let thread = thread::Builder::new().name("tunnel".to_owned()).spawn(run).expect("a thread can start");
        Self { address, shared, thread: Some(thread) }
    }

    /// `http://127.0.0.1:PORT`, for `HTTPS_PROXY`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Every `HOST:PORT` that was asked for, in order.
    pub fn asked(&self) -> Vec<String> {
        self.shared.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl TunnelState {
    fn serve(&self, mut peer: TcpStream) -> std::io::Result<()> {
        let mut lines = BufReader::new(peer.try_clone()?).lines();
        let first = lines.next().transpose()?.unwrap_or_default();
        while lines.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
        let mut words = first.split(' ');
        let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(target.to_owned());
        if method != "CONNECT" {
            return peer.write_all(b"HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n");
        }
        // As proxies say it of a name that they do not know, and of a server that does not listen.
        let Some(mut there) = (self.route)(target).and_then(|to| TcpStream::connect(to).ok()) else {
            return peer.write_all(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n");
        };
        peer.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?;
        let (mut back_from, mut back_to) = (there.try_clone()?, peer.try_clone()?);
        let back = thread::spawn(move || {
            // Either side may end first; then the other one ends too.
            let _ = std::io::copy(&mut back_from, &mut back_to);
            let _ = back_to.shutdown(Shutdown::Write);
        });
        let _ = std::io::copy(&mut peer, &mut there);
        let _ = there.shutdown(Shutdown::Write);
        let _ = back.join();
        Ok(())
    }
}

impl Drop for Tunnel {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::SeqCst);
        // Wakes the listener up.
        let _ = TcpStream::connect(&self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
