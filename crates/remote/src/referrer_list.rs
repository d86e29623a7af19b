//! The lists of referrers that a program writes under tags, in memory.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tofu_oci_http::{jittered, random};
use tofu_oci_types::{Digest, Tag};
use tokio::sync::Mutex;
use tokio::time::Instant;

/// The most time that other programs get to write what they read before our write.
const LONGEST: Duration = Duration::from_secs(5);

/// The lists that a program has written, by repository and tag.
pub(crate) type ReferrerLists = HashMap<(String, Tag), Arc<Mutex<ReferrerList>>>;

/// A list that this program has written.
pub(crate) struct ReferrerList {
    pub(crate) subject: Digest,
    /// The entries that this program has put in.
    pub(crate) ours: Vec<Value>,
    /// All that were in it before the last write, until that is read back.
    pub(crate) before: Vec<Value>,
    /// The last write, until it is known to last.
    pub(crate) written: Option<ListWrite>,
}

/// Who may write a tag at the same time.
#[derive(Clone, Copy, Debug)]
pub(crate) enum OtherWriters {
    /// Other programs too, which may take their time between the look and the write.
    AnyProgram,
    /// Runs of this program that remember something: they write a small manifest right after the look.
    OurRuns,
    /// Runs of this program that make the same tag or release in this moment.
    SameRelease,
}

impl OtherWriters {
    /// How many times as long as our own look and write theirs may take, and the least time that they get. On a busy machine they
    /// differ much.
    fn slower(self) -> (u32, Duration) {
        match self {
            Self::AnyProgram => (8, Duration::from_millis(250)),
            Self::OurRuns => (4, Duration::from_millis(150)),
            Self::SameRelease => (2, Duration::from_millis(90)),
        }
    }
}

/// A write to a tag that several may write at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListWrite {
    /// When it was done.
    pub(crate) at: Instant,
    /// How long it took, from the reading of what was there.
    pub(crate) took: Duration,
    /// Whom it may meet.
    pub(crate) others: OtherWriters,
}

impl ListWrite {
    /// One that has just been done.
    pub(crate) fn since(began: Instant, others: OtherWriters) -> Self {
        Self { at: Instant::now(), took: began.elapsed(), others }
    }

    fn wait(self) -> Duration {
        let (slower, shortest) = self.others.slower();
        self.took.saturating_mul(slower).clamp(shortest, LONGEST)
    }

    /// Of two writes the one whose wait ends later.
    pub(crate) fn or_longer(self, other: Self) -> Self {
        if other.at + other.wait() > self.at + self.wait() { other } else { self }
    }

    /// The time until every program that read before this write must have written.
    pub(crate) fn rest(self) -> Duration {
        let wait = self.wait();
        // Between once and one and a half times as much, so that programs that wait for each other separate.
        (wait / 2 + jittered(wait, random())).saturating_sub(self.at.elapsed())
    }

    /// The time until every program that looked for a new tag before this write must have written it.
    pub(crate) fn rest_of_new_tag(self) -> Duration {
        self.wait().saturating_sub(self.at.elapsed())
    }
}
