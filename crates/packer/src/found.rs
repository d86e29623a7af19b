//! What lies under the tag of a version: a release of a provider, or a module.

use tofu_oci_layout::{InvalidModuleManifest, LayoutError, ModuleManifest, ReleaseIndex, annotation};
use tofu_oci_store::ReadStore;
use tofu_oci_trust::VersionOf;
use tofu_oci_types::{Descriptor, Place, ProviderAddr, Reference, Tag, Version};

use crate::{PackError, SignError};

/// Where the address comes from that a signature names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignAddress {
    /// The user says it.
    Given(ProviderAddr),
    /// The index says it.
    Annotated {
        /// The address if the index does not name one.
        otherwise: Option<ProviderAddr>,
    },
}

/// What a signature or a notice is to be about.
pub(crate) enum FoundVersion {
    Release(ReleaseIndex),
    Module(Box<ModuleManifest>),
}

/// Reads the manifest under a tag.
///
/// # Errors
/// [`SignError::NotARelease`], and [`SignError::NotAModule`] for a module package that `OpenTofu` could not read.
pub(crate) fn read_version(
    manifest: &Descriptor,
    bytes: &[u8],
    tag: &Tag,
    store: &dyn ReadStore,
) -> Result<FoundVersion, SignError> {
    let (place, tag) = (|| store.place(), || tag.clone());
    match ModuleManifest::parse(manifest, bytes) {
        Ok(module) => return Ok(FoundVersion::Module(Box::new(module))),
        Err(
            source @ (InvalidModuleManifest::NoLayer { .. }
            | InvalidModuleManifest::NoZipLayer { .. }
            | InvalidModuleManifest::SeveralZipLayers { .. }
            | InvalidModuleManifest::PackageDigest { .. }),
        ) => return Err(SignError::NotAModule { place: place(), tag: tag(), source: Box::new(source) }),
        Err(_) => {}
    }
    let not_a_release = |source| SignError::NotARelease { place: place(), tag: tag(), source: Box::new(source) };
    let release = ReleaseIndex::parse(manifest, bytes).map_err(not_a_release)?;
    if release.platforms().is_empty() && release.nested().is_empty() {
        return Err(not_a_release(LayoutError::NoProviderPackages { found: Vec::new() }));
    }
    Ok(FoundVersion::Release(release))
}

/// Whether the bytes of a manifest are those of a release or a module.
pub(crate) fn is_version(manifest: &Descriptor, bytes: &[u8]) -> bool {
    ModuleManifest::parse(manifest, bytes).is_ok() || ReleaseIndex::parse(manifest, bytes).is_ok()
}

impl SignAddress {
    /// The address to be named; `None` if nothing names the provider.
    fn choose(&self, annotated: Option<ProviderAddr>) -> Option<ProviderAddr> {
        match self {
            Self::Given(given) => Some(given.clone()),
            Self::Annotated { otherwise } => annotated.or_else(|| otherwise.clone()),
        }
    }
}

impl FoundVersion {
    /// The version that it says it is.
    pub(crate) fn claimed_version(&self) -> Option<Version> {
        match self {
            Self::Release(release) => release.claims().version,
            Self::Module(module) => module.annotations().get(annotation::MODULE_VERSION)?.parse().ok(),
        }
    }

    /// What it is a version of, with the address that the user or the release names.
    ///
    /// # Errors
    /// [`SignError::AddressUnknown`] if nothing names the provider, and [`SignError::ModuleWithAddress`] if the user names the
    /// provider of a module.
    pub(crate) fn of(&self, address: &SignAddress, place: Place, tag: &Tag) -> Result<VersionOf, SignError> {
        match (self, address) {
            (Self::Module(_), SignAddress::Given(given)) => {
                Err(SignError::ModuleWithAddress { place, tag: tag.clone(), given: Box::new(given.clone()) })
            }
            (Self::Module(_), SignAddress::Annotated { .. }) => Ok(VersionOf::Module),
            (Self::Release(release), address) => match address.choose(release.claims().address) {
                Some(address) => Ok(VersionOf::Provider { address }),
                None => Err(SignError::AddressUnknown { place, tag: tag.clone() }),
            },
        }
    }
}

/// What the reference names; `None` if it does not exist.
pub(crate) async fn resolve(store: &dyn ReadStore, reference: &Reference) -> Result<Option<Descriptor>, PackError> {
    match store.resolve(reference).await {
        Ok(descriptor) => Ok(Some(descriptor)),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error.into()),
    }
}
