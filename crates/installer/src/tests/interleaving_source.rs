//! A source during which something else happens.

use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;

use tofu_oci_lockfile::LockEntry;
use tofu_oci_source::{Listing, OciSource, Release, Source, SourceError};
use tofu_oci_store::ReadStore;
use tofu_oci_types::{Constraints, Place, ProviderAddr, Version};

/// What happens.
type Meanwhile = dyn Fn() -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync;

/// A source that lets something else happen before it answers a question.
pub(super) struct InterleavingSource {
    inner: OciSource,
    meanwhile: Box<Meanwhile>,
    before: Question,
}

#[derive(PartialEq, Eq)]
enum Question {
    Versions,
    /// What is in this version?
    Release,
}

impl InterleavingSource {
    /// Calls the function before the versions are listed.
    pub(super) fn before_versions(store: Arc<dyn ReadStore>, act: impl Fn() + Send + Sync + 'static) -> Arc<Self> {
        Self::waiting(store, move || {
            act();
            std::future::ready(())
        })
    }

    /// Waits for the future before the versions are listed.
    pub(super) fn waiting<F: Future<Output = ()> + Send + 'static>(
        store: Arc<dyn ReadStore>,
        meanwhile: impl Fn() -> F + Send + Sync + 'static,
    ) -> Arc<Self> {
        let meanwhile = Box::new(move || -> Pin<Box<dyn Future<Output = ()> + Send>> { Box::pin(meanwhile()) });
        Arc::new(Self { inner: OciSource::new(store), meanwhile, before: Question::Versions })
    }

    /// Calls the function before a release, or one of its packages, is asked for.
    pub(super) fn before_release(store: Arc<dyn ReadStore>, act: impl Fn() + Send + Sync + 'static) -> Arc<Self> {
        let meanwhile = Box::new(move || -> Pin<Box<dyn Future<Output = ()> + Send>> {
            act();
            Box::pin(std::future::ready(()))
        });
        Arc::new(Self { inner: OciSource::new(store), meanwhile, before: Question::Release })
    }

    async fn asked(&self, question: &Question) {
        if self.before == *question {
            (self.meanwhile)().await;
        }
    }
}

/// What another program would do: puts an entry into a lock file.
pub(super) fn write_entry(path: &Path, address: &str, version: &str, hash: &str) {
    let lock = tofu_oci_lockfile::read(path).unwrap();
    let mut file = lock.file().clone();
    let mut entry = LockEntry::new(version.parse().unwrap(), Constraints::any());
    entry.hashes.insert(hash.parse().unwrap());
    file.insert(address.parse().unwrap(), entry);
    lock.write(&file).unwrap();
}

#[async_trait::async_trait]
impl Source for InterleavingSource {
    fn place(&self) -> &Place {
        self.inner.place()
    }
    async fn versions(&self, address: &ProviderAddr) -> Result<Listing, SourceError> {
        self.asked(&Question::Versions).await;
        self.inner.versions(address).await
    }
    async fn release(&self, address: &ProviderAddr, version: &Version) -> Result<Arc<dyn Release>, SourceError> {
        self.asked(&Question::Release).await;
        self.inner.release(address, version).await
    }
}
