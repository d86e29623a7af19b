//! The seam.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use tofu_oci_store::ByteStream;
use tofu_oci_types::{PackageHash, Platform, ProviderAddr, Version};

use crate::{Listing, Offer, SourceError};

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

    /// The bytes of one of the offer's parts; the stream ends in an error unless size and digest are the part's.
    /// Only the source that made the offer can open it.
    async fn open(&self, offer: &Offer, part: usize) -> Result<ByteStream, SourceError>;
}
