//! How a version is pulled, for whoever counts it.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use tofu_oci_fetch::FetchError;

use crate::{MirrorChoice, MirrorError};

/// How it ended when a version was asked for that a destination lacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PullOutcome {
    /// The destination has it now. Clients that share the fetch count once.
    Fetched {
        /// How many bytes the destination got.
        bytes: u64,
        time: Duration,
    },
    /// The upstream or the destination failed.
    Failed,
    /// The upstream's release is not trusted, or names another address.
    Refused,
    /// It has not been seen for long enough.
    Held,
    /// The lists of the rules keep it out, even if the destination has it.
    Denied,
}

/// Hears of each outcome; returns quickly.
pub type OnPull = Box<dyn Fn(PullOutcome) + Send + Sync>;

/// Who hears of the outcomes, if someone does.
#[derive(Default)]
pub(crate) struct PullObserver(OnceLock<OnPull>);

impl PullObserver {
    /// Only the first one hears.
    pub(crate) fn set(&self, on_pull: OnPull) {
        let _ = self.0.set(on_pull);
    }

    pub(crate) fn hears(&self, outcome: PullOutcome) {
        if let Some(on_pull) = self.0.get() {
            on_pull(outcome);
        }
    }

    /// Fetches a version, whose bytes are the result.
    pub(crate) async fn hears_of<E>(&self, fetch: BoxFuture<'_, Result<u64, E>>) -> Result<(), E>
    where
        PullOutcome: for<'e> From<&'e E>,
    {
        let begin = Instant::now();
        let fetched = fetch.await;
        self.hears(match &fetched {
            Ok(bytes) => PullOutcome::Fetched { bytes: *bytes, time: begin.elapsed() },
            Err(error) => error.into(),
        });
        fetched.map(drop)
    }
}

impl PullOutcome {
    /// The outcome of a version that the rules keep out; `None` if they admit it.
    pub(crate) fn of_choice(choice: &MirrorChoice) -> Option<Self> {
        match choice {
            MirrorChoice::Wanted => None,
            MirrorChoice::Held { .. } => Some(Self::Held),
            MirrorChoice::Denied { .. } => Some(Self::Denied),
        }
    }
}

impl From<&MirrorError> for PullOutcome {
    fn from(error: &MirrorError) -> Self {
        match error {
            MirrorError::Fetch(FetchError::Untrusted { .. } | FetchError::OtherAddress { .. }) => Self::Refused,
            _ => Self::Failed,
        }
    }
}
