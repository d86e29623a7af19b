//! Packages that are asked for before the manifest that lists them has come.
//!
//! The index claims which zip a platform has, and perhaps which small layer; the manifest says so. Both are asked for at once,
//! which saves a round trip if the claim is true. If it is not, or if the answer is an error, the package is asked for by the manifest's word as if
//! nothing had been asked before: nothing of such an answer counts.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tofu_oci_store::{BlobAhead, ByteStream, ReadStore, StoreError, verified};
use tofu_oci_types::{Descriptor, Digest};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::memory::lock;

/// How long an answer may wait for its reader. A server gives up on one that reads nothing.
const FRESH: Duration = Duration::from_secs(5);

/// An answer that is on its way. Dropped, it is given up.
pub(super) struct OnItsWay<T>(JoinHandle<T>);

impl<T: Send + 'static> OnItsWay<T> {
    /// Asks; `None` outside a runtime.
    pub(super) fn start(question: impl Future<Output = T> + Send + 'static) -> Option<Self> {
        Some(Self(tokio::runtime::Handle::try_current().ok()?.spawn(question)))
    }

    /// The answer; `None` if the runtime ends.
    pub(super) async fn answer(mut self) -> Option<T> {
        (&mut self.0).await.ok()
    }
}

impl<T> Drop for OnItsWay<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The packages of one release that are on their way.
#[derive(Default)]
pub(super) struct PackagesAhead(Mutex<HashMap<Digest, PackageAhead>>);

/// The head of an answer, and when it came.
type PackageAhead = OnItsWay<Result<(Option<BlobAhead>, Instant), StoreError>>;

impl PackagesAhead {
    /// Asks for a package of this digest, and perhaps of this size.
    pub(super) fn ask(&self, store: &Arc<dyn ReadStore>, digest: &Digest, claimed: Option<u64>) {
        let mut ahead = lock(&self.0);
        if !ahead.contains_key(digest) {
            let (store, asked) = (Arc::clone(store), digest.clone());
            let question = async move { Ok((store.blob_ahead(&asked, claimed).await?, Instant::now())) };
            ahead.extend(OnItsWay::start(question).map(|on_its_way| (digest.clone(), on_its_way)));
        }
    }

    /// The bytes of a package that is on its way, verified; `None` if it must be asked for.
    pub(super) async fn take(&self, store: &Arc<dyn ReadStore>, blob: &Descriptor) -> Option<ByteStream> {
        let ahead = lock(&self.0).remove(&blob.digest)?;
        let (found, since) = ahead.answer().await?.ok()?;
        let BlobAhead { size, stream } = found.filter(|_| since.elapsed() < FRESH)?;
        // Another size is reported by the answer to the usual request.
        let fits = size.is_none_or(|size| size == blob.size);
        fits.then(|| verified(store.place(), stream, blob).ok())?
    }
}
