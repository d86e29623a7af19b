//! Whether the bytes that a zip is made from still come.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tofu_oci_types::{Event, Reporter};
use tokio::time::{Instant, sleep_until};

/// How long a client waits while nothing comes: longer than a stalled download takes to resume, so that it is not cut
/// off.
pub(super) const STALLED: Duration = Duration::from_secs(45);

/// When a piece last came from the place of a zip.
pub(super) struct ZipProgress(Mutex<ZipPieces>);

struct ZipPieces {
    last: Instant,
    /// How many bytes are expected, if that is known.
    bytes: Option<u64>,
    /// Whether nothing is expected from the place now: this program works, which may take time.
    is_here: bool,
}

impl ZipProgress {
    /// The place has not been asked yet.
    pub(super) fn new() -> Self {
        Self(Mutex::new(ZipPieces { last: Instant::now(), bytes: None, is_here: true }))
    }

    /// Returns when the place was asked, and nothing has come for [`STALLED`].
    pub(super) async fn stalls(&self) {
        loop {
            let now = Instant::now();
            let until = {
                let pieces = self.pieces();
                if pieces.is_here { now + STALLED } else { pieces.last + STALLED }
            };
            if until <= now {
                return;
            }
            sleep_until(until).await;
        }
    }

    fn pieces(&self) -> MutexGuard<'_, ZipPieces> {
        // No invariant spans two statements under this lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reporter for ZipProgress {
    fn event(&self, event: &Event) {
        let mut pieces = self.pieces();
        match event {
            Event::Started { bytes, .. } => (pieces.bytes, pieces.is_here) = (*bytes, false),
            Event::Progress { done, .. } => pieces.is_here = pieces.bytes == Some(*done),
            Event::Working { .. } => pieces.is_here = true,
            _ => return,
        }
        pieces.last = Instant::now();
    }
}
