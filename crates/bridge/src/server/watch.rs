//! When a connection of a client ends: whether it still moves.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use http::Version;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;
use tokio::time::Instant;

/// The most bytes of a write of HTTP/2 that may be about the connection alone, such as the answer to a PING (17 bytes).
const ABOUT_THE_CONNECTION: usize = 64;

/// How long a connection that waited for its place keeps it without sending a request.
const SPARED: Duration = Duration::from_secs(1);

/// The times of a connection.
#[derive(Clone, Copy)]
pub(super) struct WatchLimits {
    /// From the first byte of a request to its last header.
    pub(super) head: Duration,
    pub(super) idle: Duration,
    /// Without a byte that the client takes.
    pub(super) write: Duration,
}

/// What is known of one connection.
pub(super) struct ConnectionWatch {
    limits: WatchLimits,
    state: Mutex<WatchState>,
    /// Hears that the connection is to end.
    ended: Notify,
}

struct WatchState {
    requests: u64,
    in_flight: usize,
    /// Whether many requests share the connection, so that bytes come without one.
    is_shared: bool,
    /// Since when a request is being read.
    head: Option<Instant>,
    /// When bytes of an answer last left, or a request began or ended.
    moved: Instant,
    /// Bodies that the connection holds a piece of, and since when.
    waiting: HashMap<u64, Instant>,
    /// Whether it was told to end, to make room.
    ends: bool,
    /// Until when it is spared: it waited for its place, and its request may be on its way.
    spared: Instant,
}

impl WatchState {
    fn idle_since(&self) -> Option<Instant> {
        let is_idle = self.in_flight == 0 && !self.ends && self.spared <= Instant::now();
        is_idle.then_some(self.moved)
    }
}

/// A request of the connection that is being answered.
pub(super) struct InFlight {
    watch: Arc<ConnectionWatch>,
    number: u64,
}

impl ConnectionWatch {
    /// A connection that begins now.
    pub(super) fn new(limits: WatchLimits) -> Arc<Self> {
        let state = WatchState {
            requests: 0,
            in_flight: 0,
            is_shared: false,
            head: None,
            moved: Instant::now(),
            waiting: HashMap::new(),
            ends: false,
            spared: Instant::now(),
        };
        Arc::new(Self { limits, state: Mutex::new(state), ended: Notify::new() })
    }

    /// The connection does not have to make room for another one yet.
    pub(super) fn spare(&self) {
        self.state().spared = Instant::now() + SPARED;
    }

    /// Since when it has had no request; `None` if it has one, ends, or is spared.
    pub(super) fn idle_since(&self) -> Option<Instant> {
        self.state().idle_since()
    }

    /// Ends the connection if it has no request; true if it ends by this.
    pub(super) fn end_if_idle(&self) -> bool {
        let mut state = self.state();
        let ends = state.idle_since().is_some();
        if ends {
            state.ends = true;
            self.ended.notify_one();
        }
        ends
    }

    /// The time without a request begins now.
    pub(super) fn opened(&self) {
        self.state().moved = Instant::now();
    }

    /// Returns when the connection is to make room for another one.
    pub(super) async fn makes_room(&self) {
        self.ended.notified().await;
    }

    fn state(&self) -> MutexGuard<'_, WatchState> {
        // No invariant spans two statements under this lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A request begins.
    pub(super) fn begin(self: &Arc<Self>, version: Version) -> InFlight {
        let mut state = self.state();
        state.is_shared = version == Version::HTTP_2;
        state.head = None;
        state.requests += 1;
        state.in_flight += 1;
        state.moved = Instant::now();
        InFlight { watch: Arc::clone(self), number: state.requests }
    }

    /// Bytes have come.
    fn read(&self) {
        let mut state = self.state();
        if state.in_flight == 0 && !state.is_shared {
            state.head.get_or_insert(Instant::now());
        }
    }

    /// Bytes have left. Those by which HTTP/2 says that it is alive are no answer that a client takes.
    fn written(&self, count: usize) {
        let mut state = self.state();
        let least = if state.is_shared { ABOUT_THE_CONNECTION + 1 } else { 1 };
        if count >= least {
            state.moved = Instant::now();
        }
    }

    /// Returns when the connection has had no request for too long, a request does not end, its client takes nothing,
    /// or it must make room.
    pub(super) async fn has_stopped(&self) {
        tokio::select! {
            () = self.has_exceeded_its_times() => {}
            () = self.makes_room() => {}
        }
    }

    async fn has_exceeded_its_times(&self) {
        let WatchLimits { head, idle, write } = self.limits;
        // No limit is shorter than this, so whatever begins meanwhile is seen in time.
        let shortest = head.min(idle).min(write);
        loop {
            let deadline = {
                let state = self.state();
                match (state.head, state.in_flight, state.waiting.values().min()) {
                    (Some(since), 0, _) => Some(since + head),
                    (None, 0, _) => Some(state.moved + idle),
                    (_, _, Some(since)) => Some(state.moved.max(*since) + write),
                    (_, _, None) => None,
                }
            };
            let now = Instant::now();
            match deadline {
                Some(deadline) if deadline <= now => return,
                Some(deadline) => tokio::time::sleep_until(deadline.min(now + shortest)).await,
                None => tokio::time::sleep(shortest).await,
            }
        }
    }
}

impl InFlight {
    /// The connection has got a piece of the body.
    pub(super) fn handed(&self) {
        self.watch.state().waiting.insert(self.number, Instant::now());
    }

    /// The connection asks for the next piece.
    pub(super) fn asked(&self) {
        self.watch.state().waiting.remove(&self.number);
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        let mut state = self.watch.state();
        state.in_flight -= 1;
        state.moved = Instant::now();
        state.waiting.remove(&self.number);
    }
}

/// A stream whose writes the watch sees.
pub(super) struct WatchedIo<S> {
    pub(super) stream: S,
    pub(super) watch: Arc<ConnectionWatch>,
}

impl<S> WatchedIo<S> {
    fn seen(&self, written: Poll<std::io::Result<usize>>) -> Poll<std::io::Result<usize>> {
        if let Poll::Ready(Ok(count)) = written {
            self.watch.written(count);
        }
        written
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WatchedIo<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<std::io::Result<()>> {
        let before = buf.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(cx, buf);
        if buf.filled().len() > before {
            self.watch.read();
        }
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WatchedIo<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<std::io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.seen(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[std::io::IoSlice<'_>],
    ) -> Poll<std::io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.seen(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt as _;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// How long a connection stays that writes so many bytes each 20 seconds.
    async fn stays(watch: Arc<ConnectionWatch>, bytes: usize) -> u64 {
        let (begun, mut io) = (Instant::now(), WatchedIo { stream: tokio::io::sink(), watch: Arc::clone(&watch) });
        let writing = async {
            for _ in 0..10 {
                tokio::time::sleep(20 * SECOND).await;
                io.write_all(&vec![0; bytes]).await.unwrap();
            }
        };
        tokio::select! {
            () = watch.has_stopped() => {}
            () = writing => {}
        }
        begun.elapsed().as_secs()
    }

    fn watch() -> Arc<ConnectionWatch> {
        ConnectionWatch::new(WatchLimits { head: 10 * SECOND, idle: 60 * SECOND, write: 60 * SECOND })
    }

    #[tokio::test(start_paused = true)]
    async fn pings_of_http_2_do_not_keep_a_client_that_takes_nothing() {
        for (version, bytes, seconds) in
            [(Version::HTTP_2, 17, 60), (Version::HTTP_2, 1000, 200), (Version::HTTP_11, 17, 200)]
        {
            let watch = watch();
            let request = watch.begin(version);
            request.handed();
            assert_eq!(stays(watch, bytes).await, seconds, "{version:?} {bytes}");
            drop(request);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn pings_of_http_2_are_not_requests() {
        let watch = watch();
        drop(watch.begin(Version::HTTP_2));
        assert_eq!(stays(watch, 17).await, 60);
    }
}
