//! What a request sends.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _};
use tofu_oci_store::{ByteStream, Content, StoreError};
use tokio::time::Instant;

/// The most bytes that are handed over at once: so that a slow registry is seen to take something.
const PIECE: usize = 16 * 1024;

/// The body of a request; it can be sent again from the start.
#[derive(Clone, Copy)]
pub(crate) enum Body<'a> {
    None,
    Bytes(&'a Bytes),
    /// Pieces that lie one behind the other, and their length.
    Pieces(&'a [Bytes], u64),
    /// A blob of this size, streamed.
    Content(&'a Content<'a>, u64),
}

/// How much of a body has gone out, and why it ended early.
#[derive(Clone, Default)]
pub(crate) struct Progress {
    size: u64,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// What was handed over.
    moved: u64,
    /// So many bytes must be taken before the time counts anew.
    floor: u64,
    /// Since when no more than [`State::taken`] bytes have been taken; without the time that the content took to be read.
    at: Option<Instant>,
    /// Bytes that were taken since then.
    taken: u64,
    /// The size of the piece that was handed over last.
    last: u64,
    /// Whether it is the content that is slow, and not the registry.
    reading: bool,
    failure: Option<StoreError>,
}

impl Progress {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Since when the registry has taken too little, if it was asked at `start`.
    pub(crate) fn still_since(&self, start: Instant) -> Instant {
        let state = self.state();
        if state.reading { Instant::now() } else { state.at.map_or(start, |at| at.max(start)) }
    }

    /// What the registry has done with the body in this time.
    pub(crate) fn told(&self) -> String {
        let state = self.state();
        match state.taken {
            0 => "it took nothing more and did not answer".to_owned(),
            taken => format!("it took only {taken} of at least {} bytes", state.floor),
        }
    }

    /// Whether there is a body to send.
    pub(crate) fn has_body(&self) -> bool {
        self.size > 0
    }

    /// Why the content could not be read, if that is what ended the request.
    pub(crate) fn failure(&self) -> Option<StoreError> {
        self.state().failure.take()
    }
}

impl Body<'_> {
    /// How many bytes are sent; nothing for a request without a body.
    pub(crate) fn length(&self) -> Option<u64> {
        match self {
            Self::None => None,
            Self::Bytes(bytes) => Some(bytes.len() as u64),
            Self::Pieces(_, length) | Self::Content(_, length) => Some(*length),
        }
    }

    /// The body from its start; the registry must take `floor` bytes in its time.
    pub(crate) async fn open(&self, place: &str, floor: u64) -> Result<(reqwest::Body, Progress), StoreError> {
        let progress = Progress { size: self.length().unwrap_or(0), ..Progress::default() };
        progress.state().floor = floor;
        let body = match self {
            Self::None => reqwest::Body::from(Bytes::new()),
            Self::Bytes(bytes) => reqwest::Body::from(Bytes::clone(bytes)),
            Self::Pieces(pieces, _) => {
                let stream = futures_util::stream::iter(pieces.to_vec()).map(Ok).boxed();
                reqwest::Body::wrap_stream(counted(stream, &progress, place))
            }
            Self::Content(content, _) => reqwest::Body::wrap_stream(counted(content.open().await?, &progress, place)),
        };
        Ok((body, progress))
    }
}

/// The stream, counted; it ends in an error when it is not exactly as long as was announced.
fn counted(
    stream: ByteStream,
    progress: &Progress,
    place: &str,
) -> impl futures_util::Stream<Item = Result<Bytes, StoreError>> + Send + 'static {
    let state = (stream, Bytes::new(), progress.clone(), place.to_owned());
    futures_util::stream::try_unfold(state, async |(mut stream, mut rest, progress, place)| {
        let wanted = Instant::now();
        progress.state().reading = true;
        let next = if rest.is_empty() { stream.try_next().await } else { Ok(Some(std::mem::take(&mut rest))) };
        let next = next.map(|piece| piece.map(|mut piece| (piece.split_to(PIECE.min(piece.len())), piece)));
        let length = next.as_ref().ok().and_then(Option::as_ref).map_or(0, |(piece, _)| piece.len() as u64);
        let moved = progress.state().hand_over(length, wanted, progress.size);
        let wrong_size = moved > progress.size || (matches!(next, Ok(None)) && moved < progress.size);
        let next = if wrong_size {
            let what = "the content to send".to_owned();
            Err(StoreError::SizeMismatch { place: place.clone(), what, expected: progress.size, actual: moved })
        } else {
            next
        };
        match next {
            Ok(piece) => Ok(piece.map(|(piece, rest)| (piece, (stream, rest, progress, place)))),
            Err(error) => {
                progress.state().failure = Some(error.clone());
                Err(error)
            }
        }
    })
}

impl State {
    /// Another piece is handed over, for which the registry asked when it `wanted` one: it has taken the piece before. Gives
    /// how much was handed over in all.
    fn hand_over(&mut self, length: u64, wanted: Instant, size: u64) -> u64 {
        let now = Instant::now();
        self.taken += std::mem::replace(&mut self.last, length);
        self.moved += length;
        self.reading = false;
        match self.at {
            // After the last piece the registry has the whole time for its answer.
            Some(at) if self.taken < self.floor && self.moved < size => self.at = Some(at + (now - wanted)),
            _ => (self.at, self.taken) = (Some(now), 0),
        }
        self.moved
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// A body of this many bytes, in pieces that take some time to be read, and how it goes.
    fn body(size: usize, reading: Duration) -> (ByteStream, Progress) {
        let progress = Progress { size: size as u64, ..Progress::default() };
        progress.state().floor = 60 * 1024;
        let pieces: Vec<Bytes> = vec![0; size].chunks(256 * 1024).map(Bytes::copy_from_slice).collect();
        let content = futures_util::stream::iter(pieces).then(move |piece| async move {
            tokio::time::sleep(reading).await;
            Ok(piece)
        });
        (counted(content.boxed(), &progress, "a.test/x").boxed(), progress)
    }

    /// For how many seconds the registry has taken too little at most, if it asks for a piece each time that this time has
    /// passed, and what is reported of the body then.
    async fn stalled(size: usize, every_ms: u64, reading_ms: u64) -> (u64, String) {
        let (mut stream, progress) = body(size, Duration::from_millis(reading_ms));
        let start = Instant::now();
        let (mut most, mut told) = (Duration::ZERO, String::new());
        while let Some(piece) = stream.next().await {
            assert!(piece.expect("a piece").len() <= PIECE);
            tokio::time::sleep(Duration::from_millis(every_ms)).await;
            let still = Instant::now() - progress.still_since(start);
            if still > most {
                (most, told) = (still, progress.told());
            }
        }
        (most.as_secs(), told)
    }

    #[tokio::test(start_paused = true)]
    async fn a_registry_that_takes_a_few_bytes_at_a_time_has_stopped() {
        let nothing = "it took nothing more and did not answer".to_owned();
        // 16 KiB each second, and 16 KiB in twenty.
        assert_eq!(stalled(1 << 20, 1000, 0).await.0, 4);
        let (still, told) = stalled(1 << 20, 20_000, 0).await;
        assert_eq!((still, told.as_str()), (80, "it took only 49152 of at least 61440 bytes"));
        // What the content takes to be read is not the registry's.
        assert_eq!(stalled(1 << 20, 1000, 600_000).await.0, 4);
        // After the last piece the registry has the whole time.
        let (mut stream, progress) = body(PIECE, Duration::ZERO);
        let start = Instant::now();
        tokio::time::sleep(Duration::from_secs(50)).await;
        stream.next().await;
        assert_eq!((progress.still_since(start), progress.told()), (Instant::now(), nothing));
    }
}
