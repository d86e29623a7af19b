//! How a body goes out.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use futures_util::stream::BoxStream;
use futures_util::{Stream, TryStreamExt as _};
use tokio::time::Instant;

/// The most bytes that are handed over at once: small, so that a slow server shows progress.
const PIECE: usize = 16 * 1024;

/// How much of a body has gone out, and since when too little.
#[derive(Clone, Default)]
pub struct Progress {
    size: u64,
    state: Arc<Mutex<ProgressState>>,
}

#[derive(Default)]
struct ProgressState {
    /// What was handed over.
    moved: u64,
    /// So many bytes must be taken before the time counts anew.
    floor: u64,
    /// Since when no more than [`ProgressState::taken`] bytes have been taken; without the time that the content took to be read.
    at: Option<Instant>,
    /// Bytes that were taken since then.
    taken: u64,
    /// The size of the piece that was handed over last.
    last: u64,
    /// Whether it is the content that is slow, and not the server.
    reading: bool,
}

impl Progress {
    /// A body of this length in bytes, of which the server must take `floor` bytes in its time.
    pub fn of_body(size: u64, floor: u64) -> Self {
        let progress = Self { size, ..Self::default() };
        progress.state().floor = floor;
        progress
    }

    fn state(&self) -> MutexGuard<'_, ProgressState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Since when the server has taken too little, if it was asked at `start`.
    pub fn still_since(&self, start: Instant) -> Instant {
        let state = self.state();
        if state.reading { Instant::now() } else { state.at.map_or(start, |at| at.max(start)) }
    }

    /// What the server has done with the body in this time.
    pub(crate) fn describe(&self) -> String {
        let state = self.state();
        match state.taken {
            0 => "it took nothing more and did not answer".to_owned(),
            taken => format!("it took only {taken} of at least {} bytes", state.floor),
        }
    }

    /// Whether there is a body to send.
    pub fn has_body(&self) -> bool {
        self.size > 0
    }
}

/// The stream in small pieces, counted. If it is not exactly as long as was announced, it ends in
/// the error that `wrong_length` makes of the number of bytes that came, at least.
pub fn metered<E: Send + 'static>(
    stream: BoxStream<'static, Result<Bytes, E>>,
    progress: &Progress,
    wrong_length: impl Fn(u64) -> E + Send + 'static,
) -> impl Stream<Item = Result<Bytes, E>> + Send + 'static {
    let state = (stream, Bytes::new(), progress.clone(), wrong_length);
    futures_util::stream::try_unfold(state, async |(mut stream, mut rest, progress, wrong_length)| {
        let wanted = Instant::now();
        progress.state().reading = true;
        let next = if rest.is_empty() { stream.try_next().await? } else { Some(std::mem::take(&mut rest)) };
        let next = next.map(|mut piece| (piece.split_to(PIECE.min(piece.len())), piece));
        let length = next.as_ref().map_or(0, |(piece, _)| piece.len() as u64);
        let moved = progress.state().hand_over(length, wanted, progress.size);
        if moved > progress.size || (next.is_none() && moved < progress.size) {
            return Err(wrong_length(moved));
        }
        Ok(next.map(|(piece, rest)| (piece, (stream, rest, progress, wrong_length))))
    })
}

impl ProgressState {
    /// Another piece is handed over, for which the server asked when it `wanted` one: it has taken the piece before. Returns
    /// how much was handed over in all.
    fn hand_over(&mut self, length: u64, wanted: Instant, size: u64) -> u64 {
        let now = Instant::now();
        self.taken += std::mem::replace(&mut self.last, length);
        self.moved += length;
        self.reading = false;
        match self.at {
            // After the last piece the server has the whole time for its answer.
            Some(at) if self.taken < self.floor && self.moved < size => self.at = Some(at + (now - wanted)),
            _ => (self.at, self.taken) = (Some(now), 0),
        }
        self.moved
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures_util::StreamExt as _;

    use super::*;

    /// A body of this many bytes, in pieces that take some time to be read, and how it goes.
    fn body(size: usize, reading: Duration) -> (BoxStream<'static, Result<Bytes, u64>>, Progress) {
        let progress = Progress::of_body(size as u64, 60 * 1024);
        let pieces: Vec<Bytes> = vec![0; size].chunks(256 * 1024).map(Bytes::copy_from_slice).collect();
        let content = futures_util::stream::iter(pieces).then(move |piece| async move {
            tokio::time::sleep(reading).await;
            Ok(piece)
        });
        (metered(content.boxed(), &progress, |moved| moved).boxed(), progress)
    }

    /// For how many seconds the server has taken too little at most, if it asks for a piece each time that this time has
    /// passed, and what is reported of the body then.
    async fn stalled(size: usize, every_ms: u64, reading_ms: u64) -> (u64, String) {
        let (mut stream, progress) = body(size, Duration::from_millis(reading_ms));
        let start = Instant::now();
        let (mut most, mut described) = (Duration::ZERO, String::new());
        while let Some(piece) = stream.next().await {
            assert!(piece.expect("a piece").len() <= PIECE);
            tokio::time::sleep(Duration::from_millis(every_ms)).await;
            let still = Instant::now() - progress.still_since(start);
            if still > most {
                (most, described) = (still, progress.describe());
            }
        }
        (most.as_secs(), described)
    }

    #[tokio::test(start_paused = true)]
    async fn a_registry_that_takes_a_few_bytes_at_a_time_has_stopped() {
        let nothing = "it took nothing more and did not answer".to_owned();
        // 16 KiB each second, and 16 KiB in twenty.
        assert_eq!(stalled(1 << 20, 1000, 0).await.0, 4);
        let (still, described) = stalled(1 << 20, 20_000, 0).await;
        assert_eq!((still, described.as_str()), (80, "it took only 49152 of at least 61440 bytes"));
        // What the content takes to be read is not the server's.
        assert_eq!(stalled(1 << 20, 1000, 600_000).await.0, 4);
        // After the last piece the server has the whole time.
        let (mut stream, progress) = body(PIECE, Duration::ZERO);
        let start = Instant::now();
        tokio::time::sleep(Duration::from_secs(50)).await;
        stream.next().await;
        assert_eq!((progress.still_since(start), progress.describe()), (Instant::now(), nothing));
    }
}
