//! Where releases are carried to.
//!
//! ```text
//! REGISTRY/${namespace}/${type}   Repositories   a repository of a registry for each provider
//! oci:DIR                         Repositories   an image layout for each provider, DIR/HOST/NAMESPACE/TYPE
//! static:DIR                      StaticTree     a network mirror as plain files
//! bundle:FILE                     BundleFile     one tar file, written at the end
//! ```

mod bundle_file;
pub(crate) mod first_seen;
mod mirror_json;
mod name;
mod repositories;
pub(crate) mod sightings;
mod static_tree;
mod zips;

use std::sync::Arc;

use async_trait::async_trait;
use tofu_oci_source::{Release, Source, SourceError};
use tofu_oci_store::{Store, StoreError};
use tofu_oci_types::{Place, ProviderAddr, Reporter, Version};

use crate::{MirrorError, TransferRequest, Transferred};

pub use bundle_file::{BundleFile, ExistingReleases, contents_of};
pub(crate) use mirror_json::LINK;
pub use name::{DestinationName, InvalidDestination};
pub use repositories::{OpenStore, Repositories};
pub use sightings::{Sightings, VersionMark};
pub use static_tree::StaticTree;

/// Which of the releases at a destination `mirror` completes with platforms that they lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlatformFill {
    /// Those that it put there: another one may be signed as a whole.
    Mirrored,
    /// Any: its packages lie side by side, each with checksums of its own.
    Any,
}

/// Whether a destination has answered that it lacks something. A folder that does not exist yet has nothing.
pub(crate) fn is_absent(error: &SourceError) -> bool {
    matches!(
        error.innermost(),
        SourceError::NotOffered { .. } | SourceError::Store(StoreError::UnknownRepository { .. })
    )
}

/// A place of the user's that releases are carried to.
#[async_trait]
pub trait Destination: Send + Sync {
    /// Where the releases of a provider go.
    ///
    /// # Errors
    /// If nothing there is for the provider.
    fn place(&self, address: &ProviderAddr) -> Result<Place, MirrorError>;

    /// The same, and from now on the place is for this provider. Whoever calls it knows that there is such a provider: a name
    /// that someone made up must not keep another provider out. A bundle and a tree keep all providers apart themselves.
    ///
    /// # Errors
    /// [`MirrorError::SharedRepository`] if the place is another provider's.
    fn claim(&self, address: &ProviderAddr) -> Result<Place, MirrorError> {
        self.place(address)
    }

    /// What is there now, read anew.
    ///
    /// # Errors
    /// As [`Destination::place`].
    fn source(&self, address: &ProviderAddr) -> Result<Arc<dyn Source>, MirrorError>;

    /// The repository of a provider, in which versions can be withdrawn and notes kept; `None` if releases do not lie in
    /// repositories there.
    ///
    /// # Errors
    /// As [`Destination::place`].
    fn store(&self, address: &ProviderAddr) -> Result<Option<Arc<dyn Store>>, MirrorError>;

    /// Which releases there get further platforms.
    fn platform_fill(&self) -> PlatformFill {
        PlatformFill::Mirrored
    }

    /// Whether the version, which is listed there, is there as it was written: after a power cut files may be empty or cut off.
    ///
    /// # Errors
    /// As [`Destination::place`], and if it cannot be read.
    async fn is_whole(&self, _address: &ProviderAddr, _version: &Version) -> Result<bool, MirrorError> {
        Ok(true)
    }

    /// Writes what lies beside the packages of a version and is missing. Its place is asked only then.
    ///
    /// # Errors
    /// If it cannot be read there, or written here.
    async fn complete(&self, _: &ProviderAddr, _: &Version, _from: &dyn Source) -> Result<(), MirrorError> {
        Ok(())
    }

    /// Carries a release there. A release that is there already, whole, is not carried again.
    ///
    /// # Errors
    /// What kept the release out; then it is not offered there.
    async fn receive(
        &self,
        request: &TransferRequest<'_>,
        release: Arc<dyn Release>,
        reporter: &dyn Reporter,
    ) -> Result<Transferred, MirrorError>;

    /// After all releases: a bundle is written here, and a folder is made to outlast a power cut.
    ///
    /// # Errors
    /// If it cannot be written; then the bundle that was there is unchanged.
    async fn finish(&self, reporter: &dyn Reporter) -> Result<(), MirrorError> {
        let _ = reporter;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
