//! The lists of referrers that a program writes under tags, in memory.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tofu_oci_http::{jittered, random};
use tofu_oci_types::{Digest, Tag};
use tokio::sync::Mutex;
use tokio::time::Instant;

/// The least time that other programs get to write what they read before our write.
const SHORTEST: Duration = Duration::from_millis(250);
/// The most time that they get.
const LONGEST: Duration = Duration::from_secs(5);
/// How many times as long as our own write the others may need.
const SLOWER: u32 = 8;
/// The least time that other programs get to write a tag that they did not find. It is a small manifest, written right after the
/// look, and a program waits for it at its end.
const SHORTEST_OF_TAG: Duration = Duration::from_millis(90);
/// How many times as long as our own look and write those of the others may take: on a busy machine they differ much.
const SLOWER_OF_TAG: u32 = 2;

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

/// A write to a tag that several may write at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListWrite {
    /// When it was done.
    pub(crate) at: Instant,
    /// How long it took, from the reading of what was there.
    pub(crate) took: Duration,
}

impl ListWrite {
    fn wait(self) -> Duration {
        self.took.saturating_mul(SLOWER).clamp(SHORTEST, LONGEST)
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
        let wait = self.took.saturating_mul(SLOWER_OF_TAG);
        wait.clamp(SHORTEST_OF_TAG, LONGEST).saturating_sub(self.at.elapsed())
    }
}
