//! A repository as a source.

use std::sync::Arc;

use async_trait::async_trait;
use tofu_oci_layout::ReleaseIndex;
use tofu_oci_store::{ReadStore, StoreError, StoreItem};
use tofu_oci_trust::Evidence;
use tofu_oci_types::{Digest, Identity, Place, ProviderAddr, Tag, Version};

use self::release::OciRelease;
use self::repository::OpenedRepository;
use crate::evidence::withdrawal_evidence;
use crate::{Listing, NotOffered, Release, ReleaseId, Source, SourceError, is_withdrawn, withdrawal};

mod ahead;
mod notice;
mod release;
mod repository;

/// One repository that holds one provider's releases.
///
/// The source resolves a tag once. It then fetches index, leaf, config and package by the digest that the document
/// before names, so that no one can exchange them on the way. It keeps what it has read (64 MiB of manifests at most):
/// the packages of ten platforms cost one request for their index, not ten.
pub struct OciSource {
    repository: Arc<OpenedRepository>,
}

impl OciSource {
    /// The repository as a source.
    pub fn new(store: Arc<dyn ReadStore>) -> Self {
        Self { repository: Arc::new(OpenedRepository::new(store)) }
    }

    /// Forgets all documents, as if there were too many.
    #[cfg(test)]
    pub(crate) fn forget_documents(&self) {
        self.repository.memory.forget_documents();
    }

    fn not_offered(&self, address: &ProviderAddr, what: NotOffered) -> SourceError {
        SourceError::NotOffered { address: address.clone(), place: self.place().clone(), what }
    }

    /// Whether a version whose own tag names a release is withdrawn all the same. Only a list that was read can say so: a version
    /// that is asked for without one costs no request more.
    async fn is_withdrawn(&self, version: &Version, own: &Digest) -> Result<bool, StoreError> {
        let OpenedRepository { store, memory, .. } = &*self.repository;
        let is_listed = |kept: Tag| memory.listed().is_some_and(|tags| tags.contains(&kept));
        if !Tag::withdrawn(version).is_ok_and(is_listed) {
            return Ok(false);
        }
        is_withdrawn(&**store, version, own).await
    }

    async fn version_missing(&self, address: &ProviderAddr, version: &Version, tag: &Tag) -> SourceError {
        match self.versions(address).await {
            // The tag is listed, its manifest is gone: a registry's garbage collection, or a copy that is not whole.
            Ok(listing) if listing.versions.contains(version) => {
                StoreError::NotFound { place: self.place().clone(), what: StoreItem::ManifestOfTag(tag.clone()) }.into()
            }
            Ok(listing) if listing.withdrawn.contains(version) => {
                let notice = withdrawal(&*self.repository.store, &address.into(), version).await;
                let writer = notice.as_ref().map(|notice| notice.writer);
                let (reason, replaced_by) = notice.map(|notice| (notice.reason, notice.replaced_by)).unzip();
                let (version, offered) = (version.clone(), listing.versions);
                let replaced_by = replaced_by.flatten();
                self.not_offered(address, NotOffered::Withdrawn { version, reason, writer, replaced_by, offered })
            }
            Ok(listing) => {
                let what = NotOffered::VersionMissing { version: version.clone(), offered: listing.versions };
                self.not_offered(address, what)
            }
            Err(error) => error,
        }
    }
}

#[async_trait]
impl Source for OciSource {
    fn place(&self) -> &Place {
        &self.repository.place
    }

    fn prepare(&self, requests: usize) {
        self.repository.store.prepare(requests);
    }

    async fn versions(&self, address: &ProviderAddr) -> Result<Listing, SourceError> {
        match self.repository.store.tags().await {
            Ok(tags) => {
                self.repository.memory.set_listed(&tags);
                Ok(Listing::in_store(&*self.repository.store, &tags).await?)
            }
            Err(StoreError::UnknownRepository { place: Place::Registry(_) }) => {
                Err(self.not_offered(address, NotOffered::UnknownProvider))
            }
            Err(error) => Err(error.into()),
        }
    }

    async fn release(&self, address: &ProviderAddr, version: &Version) -> Result<Arc<dyn Release>, SourceError> {
        let (address, version, place) = (address.clone(), version.clone(), self.place().clone());
        let tag = match Tag::for_version(&version) {
            Ok(tag) => tag,
            Err(error) => return Err(SourceError::Unusable { address, version, place, problem: error.to_string() }),
        };
        let index = match self.repository.memory.resolve(&*self.repository.store, &tag).await {
            Ok(index) => index,
            Err(error) if error.is_not_found() => return Err(self.version_missing(&address, &version, &tag).await),
            Err(error) => return Err(error.into()),
        };
        if self.is_withdrawn(&version, &index.digest).await? {
            return Err(self.version_missing(&address, &version, &tag).await);
        }
        let bytes = self.repository.document(&index).await?;
        // One that says an unreadable address would answer for any.
        match ReleaseIndex::parse(&index, &bytes).and_then(|root| root.address().map(|_| root)) {
            Ok(root) => {
                let id = ReleaseId { address, version, place, identity: Identity::of_index(&bytes) };
                Ok(Arc::new(OciRelease::new(Arc::clone(&self.repository), id, tag, index, root)))
            }
            Err(source) => Err(SourceError::Layout { address, version, place, source }),
        }
    }

    async fn withdrawal_notices(&self, _: &ProviderAddr, version: &Version) -> Result<Vec<Evidence>, SourceError> {
        Ok(withdrawal_evidence(&*self.repository.store, version).await?)
    }
}

#[cfg(test)]
pub(crate) mod tests;
