//! A line that takes its time: every byte arrives half a round trip later, and waits for others only if the line has a
//! bandwidth.

use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until};

/// A relay on 127.0.0.1 to another address of this machine, as far away as its round trip says.
///
/// Its throughput has no limit unless it has a bandwidth. A connection costs what it costs on a real line: the first bytes of the client leave
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
    /// Bytes a second in each direction.
    bandwidth: Option<u64>,
}

impl NearEnd {
    /// The same for a line that carries at most so many bytes a second in each direction, all connections together.
    #[must_use]
    pub fn with_bandwidth(self, bytes_a_second: u64) -> Self {
        Self { bandwidth: Some(bytes_a_second), ..self }
    }

    /// `127.0.0.1:PORT`, where clients connect.
    pub fn address(&self) -> String {
        self.address.to_string()
    }

    /// The line to `HOST:PORT`; it accepts connections when this returns.
    pub fn leads_to(self, target: &str, round_trip: Duration) -> DelayedLine {
        let (stop, stopped) = oneshot::channel();
        let connections = Arc::new(AtomicUsize::new(0));
        let (counted, target) = (Arc::clone(&connections), target.to_owned());
        let (socket, bandwidth) = (self.socket, self.bandwidth);
        let run = move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("the system has room for a runtime");
            runtime.block_on(async move {
                tokio::spawn(accept(socket, target, round_trip, bandwidth, counted));
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
        NearEnd { socket, address, bandwidth: None }
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

/// When a direction of the line has room again.
struct LinePace {
    bytes_a_second: u64,
    free: Instant,
}

impl LinePace {
    /// How late a piece may be noticed without a loss of bandwidth: timers are coarse.
    const SLACK: Duration = Duration::from_millis(20);

    /// When a piece of so many bytes that comes now has gone through.
    fn after(&mut self, now: Instant, bytes: usize) -> Instant {
        let takes = Duration::from_secs_f64(bytes as f64 / self.bytes_a_second as f64);
        self.free = self.free.max(now.checked_sub(Self::SLACK).unwrap_or(now)) + takes;
        self.free
    }
}

/// One direction of the line, which all connections share; `None` without a limit.
type Lane = Option<Arc<Mutex<LinePace>>>;

fn lane(bandwidth: Option<u64>) -> Lane {
    bandwidth.map(|bytes_a_second| Arc::new(Mutex::new(LinePace { bytes_a_second, free: Instant::now() })))
}

async fn accept(
    socket: TcpListener,
    target: String,
    round_trip: Duration,
    bandwidth: Option<u64>,
    connections: Arc<AtomicUsize>,
) {
    let (up, down) = (lane(bandwidth), lane(bandwidth));
    socket.set_nonblocking(true).expect("a socket can be made non-blocking");
    let socket = tokio::net::TcpListener::from_std(socket).expect("the socket is non-blocking");
    loop {
        let Ok((near, _)) = socket.accept().await else { continue };
        connections.fetch_add(1, Ordering::SeqCst);
        let connected = Instant::now() + round_trip;
        let (target, up, down) = (target.clone(), up.clone(), down.clone());
        tokio::spawn(async move {
            // A connection that breaks is the peers' affair.
            let Ok(far) = TcpStream::connect(&target).await else { return };
            let (near, far) = match (near.set_nodelay(true), far.set_nodelay(true)) {
                (Ok(()), Ok(())) => (near.into_split(), far.into_split()),
                _ => return,
            };
            let there = carry(near.0, far.1, round_trip / 2, connected, up);
            let back = carry(far.0, near.1, round_trip / 2, connected, down);
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
    lane: Lane,
) {
    let (sent, mut arriving) = mpsc::unbounded_channel::<(Instant, Vec<u8>)>();
    let reading = async move {
        let mut buffer = vec![0; 64 * 1024];
        while let Ok(count @ 1..) = from.read(&mut buffer).await {
            let mut through = Instant::now();
            if let Some(lane) = &lane {
                through = lane.lock().unwrap_or_else(PoisonError::into_inner).after(through, count);
                // The sender must wait, as the line holds no more.
                sleep_until(through).await;
            }
            let due = through.max(connected) + delay;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_go_through_one_after_the_other() {
        let start = Instant::now() + Duration::from_secs(1);
        let at = |millis| start + Duration::from_millis(millis);
        let mut pace = LinePace { bytes_a_second: 1_000_000, free: start };
        assert_eq!(pace.after(start, 100_000), at(100));
        assert_eq!(pace.after(at(10), 100_000), at(200));
        assert_eq!(pace.after(at(210), 1000), at(201), "a late look costs no bandwidth");
        assert_eq!(pace.after(at(500), 1000), at(481), "an idle line saves nothing up");
    }
}
