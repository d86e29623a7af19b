//! Moments in which a registry denies what it has.
//!
//! registry:2 on a file system rewrites its small link files in place: with every mount, every upload that ends and every
//! `PUT` of a manifest. A reader who comes between finds a link empty, and the registry then answers 400 or 500 about
//! content that is there. A second look distinguishes such a moment from content that is damaged or missing.

use std::time::Duration;

use futures_util::{StreamExt as _, TryStreamExt as _};
use serde::Deserialize;
use tofu_oci_http::RetryPolicy;
use tofu_oci_store::{StoreError, is_manifest_type};
use tofu_oci_types::Descriptor;

use crate::answer::RegistryAnswer;
use crate::repository::RemoteStore;

/// When a second look is taken, and those after it: for more than five seconds, since registries in use become consistent in that time.
const LOOKS: RetryPolicy =
    RetryPolicy { attempts: 11, base: Duration::from_millis(100), cap: Duration::from_millis(1600) };
/// How many manifests and blobs are asked for at once.
const AT_ONCE: usize = 4;

/// How many looks were taken at content that may appear in a moment.
#[derive(Default)]
pub(crate) struct Looks(u32);

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
        looks.0 += 1;
        let Some(wait) = LOOKS.wait_after(looks.0) else { return false };
        self.client.http().wait(request, looks.0 + 1, wait, reason).await;
        true
    }

    /// Whether an answer to the `PUT` of a manifest may be about such a moment. Reads its words.
    pub(crate) async fn may_pass(&self, answer: &mut RegistryAnswer) -> bool {
        if !matches!(answer.status(), 400 | 404 | 500) || answer.crossed {
            return false;
        }
        answer.keep_words().await.speak_of_a_moment()
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
