//! A line that takes its time: every byte arrives half a round trip later, and no byte waits for another.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until};

/// A relay on 127.0.0.1 to another address of this machine, as far away as its round trip says.
///
/// Its throughput has no limit. A connection costs what it costs on a real line: the first bytes of the client leave
/// after a whole round trip, the time in which TCP connects. Dropped, it stops.
#[derive(Debug)]
pub struct DelayedLine {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// A line whose near end has an address, and whose far end is not known yet.
#[derive(Debug)]
pub struct NearEnd {
    socket: TcpListener,
    address: SocketAddr,
}

impl NearEnd {
    /// `127.0.0.1:PORT`, where clients connect.
    pub fn address(&self) -> String {
        self.address.to_string()
    }

    /// The line to `HOST:PORT`; it accepts connections when this returns.
    pub fn leads_to(self, target: &str, round_trip: Duration) -> DelayedLine {
        let (stop, stopped) = oneshot::channel();
        let connections = Arc::new(AtomicUsize::new(0));
        let (counted, target, socket) = (Arc::clone(&connections), target.to_owned(), self.socket);
        let run = move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("the system has room for a runtime");
            runtime.block_on(async move {
                tokio::spawn(accept(socket, target, round_trip, counted));
                // An error means that the handle is gone: the line stops as well.
                let _ = stopped.await;
            });
            runtime.shutdown_background();
        };
        let thread = std::thread::Builder::new().name("line".to_owned()).spawn(run).expect("a thread can start");
        DelayedLine { address: self.address, connections, stop: Some(stop), thread: Some(thread) }
    }
}

impl DelayedLine {
    /// The near end of a line, on a free port.
    pub fn near_end() -> NearEnd {
        let socket = TcpListener::bind(("127.0.0.1", 0)).expect("a loopback port is free");
        let address = socket.local_addr().expect("a bound socket has an address");
        NearEnd { socket, address }
    }

    /// A line to `HOST:PORT`.
    pub fn to(target: &str, round_trip: Duration) -> Self {
        Self::near_end().leads_to(target, round_trip)
    }

    /// `127.0.0.1:PORT`, where clients connect.
    pub fn address(&self) -> String {
        self.address.to_string()
    }

    /// How many connections clients have opened so far.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

impl Drop for DelayedLine {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            // A panic in the thread has been printed by the thread itself.
            let _ = thread.join();
        }
    }
}

async fn accept(socket: TcpListener, target: String, round_trip: Duration, connections: Arc<AtomicUsize>) {
    socket.set_nonblocking(true).expect("a socket can be made non-blocking");
    let socket = tokio::net::TcpListener::from_std(socket).expect("the socket is non-blocking");
    loop {
        let Ok((near, _)) = socket.accept().await else { continue };
        connections.fetch_add(1, Ordering::SeqCst);
        let connected = Instant::now() + round_trip;
        let target = target.clone();
        tokio::spawn(async move {
            // A connection that breaks is the peers' affair.
            let Ok(far) = TcpStream::connect(&target).await else { return };
            let (near, far) = match (near.set_nodelay(true), far.set_nodelay(true)) {
                (Ok(()), Ok(())) => (near.into_split(), far.into_split()),
                _ => return,
            };
            let there = carry(near.0, far.1, round_trip / 2, connected);
            let back = carry(far.0, near.1, round_trip / 2, connected);
            tokio::join!(there, back);
        });
    }
}

/// Carries what one side sends to the other, each piece after the delay.
async fn carry(
    mut from: tokio::net::tcp::OwnedReadHalf,
    mut to: tokio::net::tcp::OwnedWriteHalf,
    delay: Duration,
    connected: Instant,
) {
    let (sent, mut arriving) = mpsc::unbounded_channel::<(Instant, Vec<u8>)>();
    let reading = async move {
        let mut buffer = vec![0; 64 * 1024];
        while let Ok(count @ 1..) = from.read(&mut buffer).await {
            let due = Instant::now().max(connected) + delay;
            if sent.send((due, buffer[..count].to_vec())).is_err() {
                break;
            }
        }
    };
    let writing = async move {
        while let Some((due, bytes)) = arriving.recv().await {
            sleep_until(due).await;
            if to.write_all(&bytes).await.is_err() {
                break;
            }
        }
        // The peer may be gone already.
        let _ = to.shutdown().await;
    };
    tokio::join!(reading, writing);
}
