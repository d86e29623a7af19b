//! The seam.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use tofu_oci_store::ByteStream;
use tofu_oci_trust::Evidence;
use tofu_oci_types::{PackageHash, Place, Platform, ProviderAddr, Version};

use crate::{Listing, Offer, Part, ReleaseDescription, ReleaseId, Search, SourceError};

/// Checksums by platform.
pub type Claims = BTreeMap<Platform, BTreeSet<PackageHash>>;

/// A place that offers releases of providers.
#[async_trait]
pub trait Source: Send + Sync {
    /// Where it is.
    fn place(&self) -> &Place;

    /// Whether even a locked version is looked for in the list of all versions before it is asked for. Of several
    /// methods any one can end a search while the versions are listed, also one that would not be asked for the package.
    fn lists_first(&self) -> bool {
        false
    }

    /// Every version that can be installed from here, in ascending order of precedence.
    ///
    /// # Errors
    /// [`SourceError::NotOffered`] if the place does not know the provider. A provider without versions is an empty
    /// listing.
    async fn versions(&self, address: &ProviderAddr) -> Result<Listing, SourceError>;

    /// The release of a version.
    ///
    /// # Errors
    /// [`SourceError::NotOffered`] if the place has no such version.
    async fn release(&self, address: &ProviderAddr, version: &Version) -> Result<Arc<dyn Release>, SourceError>;
}

/// One release of one place. It answers for itself, and reads no more than an answer takes; what it has read it does not
/// ask for again.
#[async_trait]
pub trait Release: Send + Sync {
    /// Which release it is.
    fn id(&self) -> &ReleaseId;

    /// What the release says of itself, all platforms together.
    ///
    /// # Errors
    /// If the release has no package that can be installed.
    async fn describe(&self) -> Result<&ReleaseDescription, SourceError>;

    /// The platforms that the release has packages for, sorted.
    async fn platforms(&self) -> Result<Vec<Platform>, SourceError>;

    /// What the package of a platform consists of. Every manifest on the way has been verified; the package has not been
    /// fetched.
    ///
    /// # Errors
    /// [`SourceError::NotOffered`] if the release has no package for this platform.
    async fn offer(self: Arc<Self>, platform: &Platform) -> Result<Offer, SourceError>;

    /// What lies beside the release and may say who signed it. Nothing of it has been verified.
    ///
    /// A second, further search does not ask again for what the first one has found.
    ///
    /// # Errors
    /// If the place could not be asked: a place that answers with an error has not said that there is no signature.
    async fn evidence(&self, search: Search) -> Result<Vec<Evidence>, SourceError>;

    /// What [`ReleaseDescription::claims`] says, and the `zh:` of every platform's zip: for a repository one small
    /// request for each leaf that has not been read. True if the release's own documents are.
    async fn hashes(&self) -> Result<Claims, SourceError>;

    /// The bytes of a part that this release has offered. [`Part::checked`] holds them against its digest and size.
    async fn open(&self, part: &Part) -> Result<ByteStream, SourceError>;
}

impl fmt::Debug for dyn Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.id().fmt(f)
    }
}
