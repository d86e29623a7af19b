//! The seam.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use tofu_oci_store::ByteStream;
use tofu_oci_trust::Evidence;
use tofu_oci_types::{PackageHash, Platform, ProviderAddr, Version};

use crate::{Listing, Offer, Release, Search, SourceError};

/// A place that offers providers' packages.
#[async_trait]
pub trait Source: Send + Sync {
    /// The place as people write it: `ghcr.io/acme/opentofu-provider-widget`, `oci:dist/layout`.
    fn place(&self) -> String;

    /// Whether even a locked version is looked for in the list of all versions before it is asked for. Of several
    /// methods any one can end a search while the versions are listed, also one that would not be asked for the package.
    fn lists_first(&self) -> bool {
        false
    }

    /// Every version that can be installed from here, in ascending order of precedence.
    ///
    /// # Errors
    /// [`SourceError::NotOffered`] when the place does not know the provider. A provider without versions is an empty
    /// listing.
    async fn versions(&self, address: &ProviderAddr) -> Result<Listing, SourceError>;

    /// The platforms that a version has packages for, sorted.
    async fn platforms(&self, address: &ProviderAddr, version: &Version) -> Result<Vec<Platform>, SourceError>;

    /// What the package consists of. Every manifest on the way has been verified; the package has not been fetched.
    ///
    /// # Errors
    /// [`SourceError::NotOffered`] when the place has no such version, or not for this platform.
    async fn offer(&self, address: &ProviderAddr, version: &Version, platform: &Platform)
    -> Result<Offer, SourceError>;

    /// What [`Offer::claims`] says, and what is read from the release's other manifests besides: the `zh:` of every
    /// platform's zip. One small request for each platform. Claims all the same.
    async fn hashes(&self, offer: &Offer) -> Result<BTreeMap<Platform, BTreeSet<PackageHash>>, SourceError>;

    /// What the release's index says, all platforms together: for a release of a repository that is one request, and an
    /// offer of the same version after it asks for the index no more.
    ///
    /// # Errors
    /// [`SourceError::NotOffered`] when the place has no such version, [`SourceError::NoIndex`] when it has packages
    /// and no index of them.
    async fn release(&self, address: &ProviderAddr, version: &Version) -> Result<Release, SourceError> {
        let (address, version) = (address.clone(), version.clone());
        Err(SourceError::NoIndex { address, version, place: self.place() })
    }

    /// The release that an offer of this source belongs to. Where several places have the version, that of the place
    /// that the offer is from.
    ///
    /// # Errors
    /// As [`Source::release`].
    async fn release_of(&self, offer: &Offer) -> Result<Release, SourceError> {
        self.release(&offer.address, &offer.version).await
    }

    /// What lies beside a release of this source and may say who stands for it. Nothing of it has been verified.
    ///
    /// A second, further search does not ask again what the first one has found.
    ///
    /// # Errors
    /// When the place could not be asked. A place that hides its signatures behind an error is not without any.
    async fn evidence(&self, release: &Release, search: Search) -> Result<Vec<Evidence>, SourceError> {
        let _ = (release, search);
        Ok(Vec::new())
    }

    /// What [`Release::claims`] says, and the `zh:` of every platform's zip, read from the leaves: one small request
    /// for each platform whose leaf has not been read yet. True wherever the index is.
    ///
    /// # Errors
    /// When a leaf cannot be read, or is none.
    async fn release_hashes(
        &self,
        release: &Release,
    ) -> Result<BTreeMap<Platform, BTreeSet<PackageHash>>, SourceError> {
        Ok(release.claims.clone())
    }

    /// The bytes of one of the offer's parts; the stream ends in an error unless size and digest are the part's.
    /// Only the source that made the offer can open it.
    async fn open(&self, offer: &Offer, part: usize) -> Result<ByteStream, SourceError>;
}
