//! A release with attestations beside it.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use tofu_oci_packer::AttachedFile;
use tofu_oci_source::{
    ClaimedHashes, Offer, Part, PartStream, Release, ReleaseDate, ReleaseDescription, ReleaseId, Search, SourceError,
    WantedPackage, ZipNames,
};
use tofu_oci_store::ReadStore;
use tofu_oci_trust::{Evidence, Notice};
use tofu_oci_types::{Digest, PackageHash, Platform, ProviderAddr, Scheme};

/// A release with more evidence beside it than its place has.
pub(super) struct AttestedRelease {
    pub(super) release: Arc<dyn Release>,
    /// Bundles, each by the digest of its content.
    pub(super) bundles: Vec<(Digest, AttachedFile)>,
}

/// What of a release a statement can be about.
pub(super) struct ReleaseParts {
    index: Option<Digest>,
    hashes: ClaimedHashes,
}

impl ReleaseParts {
    pub(super) async fn read(release: &dyn Release) -> Result<Self, SourceError> {
        Ok(Self { index: release.id().identity.index().cloned(), hashes: release.hashes().await? })
    }

    /// Whether a bundle is about one of them, as far as known. Who signed it is not looked at.
    pub(super) fn are_in(&self, bundle: &AttachedFile) -> bool {
        // A package whose archive has no known digest may be what it is about.
        let is_known = |hashes: &BTreeSet<PackageHash>| hashes.iter().any(|hash| hash.scheme() == Scheme::Zh);
        let subjects = bundle.peek().map(|peek| &peek.statement.subjects[..]).unwrap_or_default();
        let mut named = subjects.iter().filter_map(|subject| subject.digest.as_ref());
        !self.hashes.values().all(is_known) || named.any(|digest| self.has(digest))
    }

    fn has(&self, digest: &Digest) -> bool {
        let mut hashes = self.hashes.values().flatten();
        let (zip, leaf) = (PackageHash::zh(digest), PackageHash::ch(digest));
        self.index.as_ref() == Some(digest) || hashes.any(|hash| *hash == leaf || Some(hash) == zip.as_ref())
    }
}

#[async_trait]
impl Release for AttestedRelease {
    fn id(&self) -> &ReleaseId {
        self.release.id()
    }

    fn published_as(&self) -> Option<&ProviderAddr> {
        self.release.published_as()
    }

    async fn describe(&self) -> Result<&ReleaseDescription, SourceError> {
        self.release.describe().await
    }

    async fn platforms(&self) -> Result<Vec<Platform>, SourceError> {
        self.release.platforms().await
    }

    async fn created(&self) -> Result<Option<ReleaseDate>, SourceError> {
        self.release.created().await
    }

    async fn offer(self: Arc<Self>, platform: &Platform) -> Result<Offer, SourceError> {
        let offer = Arc::clone(&self.release).offer(platform).await?;
        Ok(Offer { release: self, ..offer })
    }

    async fn offer_to_fetch(
        self: Arc<Self>,
        platform: &Platform,
        wanted: &dyn WantedPackage,
    ) -> Result<Offer, SourceError> {
        let offer = Arc::clone(&self.release).offer_to_fetch(platform, wanted).await?;
        Ok(Offer { release: self, ..offer })
    }

    async fn evidence(&self, search: Search) -> Result<Vec<Evidence>, SourceError> {
        let mut found = self.release.evidence(search).await?;
        let parts = ReleaseParts::read(&*self.release).await?;
        let bundles = self.bundles.iter().filter(|(_, bundle)| parts.are_in(bundle));
        found.extend(
            bundles.map(|(origin, bundle)| Evidence::Bundle { origin: origin.clone(), bytes: bundle.bytes().to_vec() }),
        );
        Ok(found)
    }

    async fn leaf_evidence(&self) -> Result<Vec<Evidence>, SourceError> {
        self.release.leaf_evidence().await
    }

    async fn notice(&self) -> Result<Option<Notice>, SourceError> {
        self.release.notice().await
    }

    async fn zip_names(&self) -> Result<ZipNames, SourceError> {
        self.release.zip_names().await
    }

    async fn hashes(&self) -> Result<ClaimedHashes, SourceError> {
        self.release.hashes().await
    }

    async fn size(&self, part: &Part) -> Result<Option<u64>, SourceError> {
        self.release.size(part).await
    }

    fn store(&self) -> Option<Arc<dyn ReadStore>> {
        self.release.store()
    }

    fn note_use(&self) {
        self.release.note_use();
    }

    async fn open(&self, part: &Part) -> Result<PartStream, SourceError> {
        self.release.open(part).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transfer::tests::offered::OfferedRelease;

    #[tokio::test]
    async fn attestations_hid_the_signatures_of_manifests_of_platforms() {
        let unreadable = || Evidence::Unreadable { origin: Digest::sha256(b"leaf"), problem: "a leaf".to_owned() };
        let mut release = OfferedRelease::new("1.0.0", &["linux_amd64"]);
        release.leaf_evidence = vec![unreadable()];
        let attested = AttestedRelease { release: Arc::new(release), bundles: Vec::new() };
        assert_eq!(attested.leaf_evidence().await.unwrap().len(), 1);
    }
}
