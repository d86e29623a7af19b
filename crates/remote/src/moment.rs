//! Moments in which a registry denies what it has.
//!
//! registry:2 on a file system rewrites its small link files in place: with every mount, every upload that ends and every
//! `PUT` of a manifest. A reader who comes between finds a link empty, and the registry then answers 400 or 500 about
//! content that is there. A second look tells such a moment from content that is damaged or missing.

use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;

use futures_util::{StreamExt as _, TryStreamExt as _};
use serde::Deserialize;
use tofu_oci_store::{StoreError, is_manifest_type};
use tofu_oci_types::Descriptor;

use crate::answer::{Answer, Words};
use crate::store::RemoteStore;

/// So many looks are taken after the first.
const LOOKS: u32 = 8;
/// The longest wait before the second look; each further one is up to twice as long.
const FIRST: Duration = Duration::from_millis(100);
/// The longest wait before any look.
const LONGEST: Duration = Duration::from_millis(1600);
/// So many manifests and blobs are asked for at once.
const AT_ONCE: usize = 4;

/// What registries say in such a moment.
const CODES: [&str; 4] = ["DIGEST_INVALID", "MANIFEST_BLOB_UNKNOWN", "MANIFEST_UNKNOWN", "BLOB_UNKNOWN"];
/// The same in the words of registry:2, under a code that says nothing.
const EMPTY_LINK: &str = "invalid checksum digest format";

/// The looks at something that may be there in a moment.
#[derive(Default)]
pub(crate) struct Looks {
    taken: u32,
}

impl Looks {
    /// The wait before the next look, or `None` after the last one. Half of it is left to chance, so that those who
    /// disturb each other come apart.
    fn next(&mut self) -> Option<Duration> {
        if self.taken >= LOOKS {
            return None;
        }
        let bound = FIRST.saturating_mul(1 << self.taken.min(16)).min(LONGEST);
        self.taken += 1;
        Some(jittered(bound))
    }
}

/// Between half of this time and all of it.
pub(crate) fn jittered(time: Duration) -> Duration {
    let half = time / 2;
    let millis = u64::try_from(half.as_millis()).unwrap_or(u64::MAX - 1);
    half + Duration::from_millis(RandomState::new().hash_one(time) % (millis + 1))
}

/// What a manifest consists of.
#[derive(Deserialize)]
struct Parts {
    #[serde(default)]
    config: Option<Descriptor>,
    #[serde(default)]
    layers: Option<Vec<Descriptor>>,
    #[serde(default)]
    manifests: Option<Vec<Descriptor>>,
}

impl RemoteStore {
    /// Waits before the next look; false after the last one.
    pub(crate) async fn look_again(&self, looks: &mut Looks, request: &str, reason: &str) -> bool {
        let Some(wait) = looks.next() else { return false };
        self.client.wait(request, looks.taken + 1, wait, reason).await;
        true
    }

    /// Whether an answer to the `PUT` of a manifest may be about such a moment. Reads its words.
    pub(crate) async fn may_pass(&self, answer: &mut Answer) -> bool {
        if !matches!(answer.status(), 400 | 404 | 500) || answer.crossed {
            return false;
        }
        answer.keep_words().await;
        answer.said.as_ref().is_some_and(is_of_a_moment)
    }

    /// Whether everything is there that a manifest consists of.
    pub(crate) async fn has_all_parts(&self, bytes: &[u8]) -> Result<bool, StoreError> {
        let Ok(parts) = serde_json::from_slice::<Parts>(bytes) else { return Ok(false) };
        let Parts { config, layers, manifests } = parts;
        let all = config.into_iter().chain(layers.into_iter().flatten()).chain(manifests.into_iter().flatten());
        let looks = all.map(|part| async move {
            if is_manifest_type(&part.media_type) {
                self.has_manifest(&part.digest, &self.push).await
            } else {
                self.has_blob(&part.digest, &self.push).await
            }
        });
        let looks = futures_util::stream::iter(looks).buffer_unordered(AT_ONCE);
        looks.try_fold(true, |all, one| async move { Ok(all && one) }).await
    }
}

fn is_of_a_moment(words: &Words) -> bool {
    words.has_code(&CODES) || words.mentions(EMPTY_LINK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_looks_come_to_an_end_and_never_all_at_once() {
        let mut looks = Looks::default();
        let waits: Vec<Duration> = std::iter::from_fn(|| looks.next()).collect();
        assert_eq!(waits.len(), 8);
        let bounds = [100, 200, 400, 800, 1600, 1600, 1600, 1600].map(Duration::from_millis);
        for (wait, bound) in waits.into_iter().zip(bounds) {
            assert!(wait >= bound / 2 && wait <= bound, "{wait:?} of {bound:?}");
        }
    }
}
