//! The seam: where releases are, one release, one package of it.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use tofu_oci_layout::LeafKind;
use tofu_oci_store::ReadStore;
use tofu_oci_trust::{Evidence, Notice};
use tofu_oci_types::{Digest, Identity, PackageHash, Place, Platform, Predecessors, ProviderAddr, Version};

use crate::{
    ClaimedHashes, Listing, Package, Part, PartStream, ReleaseDate, ReleaseDescription, ReleaseId, Search, SourceError,
    ZipNames,
};

/// A place that offers releases of providers.
#[async_trait]
pub trait Source: Send + Sync {
    /// Where it is.
    fn place(&self) -> &Place;

    /// So many requests will soon be made at once. Connections may be made meanwhile; nothing is asked.
    fn prepare(&self, requests: usize) {
        let _ = requests;
    }

    /// What has names that are nearly those of packages of a provider, and the names that it would have to have.
    async fn nearly_named(&self, address: &ProviderAddr) -> Vec<(String, String)> {
        let _ = address;
        Vec::new()
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

    /// What lies beside the content of a withdrawn version and says so, unverified; empty if the place keeps nothing of it.
    ///
    /// # Errors
    /// If the place could not be asked.
    async fn withdrawal_notices(
        &self,
        address: &ProviderAddr,
        version: &Version,
    ) -> Result<Vec<Evidence>, SourceError> {
        let _ = (address, version);
        Ok(Vec::new())
    }
}

/// One release of one place. It reads no more than an answer needs, and nothing twice.
#[async_trait]
pub trait Release: Send + Sync {
    fn id(&self) -> &ReleaseId;

    /// The provider that it says it is of; `None` if it does not say. Nothing is asked.
    fn published_as(&self) -> Option<&ProviderAddr> {
        None
    }

    /// The provider that it says it is of, if it does not answer for the address that it is asked as. A release that says
    /// nothing answers for any.
    fn other_address(&self, predecessors: &Predecessors) -> Option<&ProviderAddr> {
        self.published_as().filter(|said| !predecessors.same_provider(said, &self.id().address))
    }

    /// What the release says of itself, all platforms together.
    ///
    /// # Errors
    /// If the release has no package that can be installed.
    async fn describe(&self) -> Result<&ReleaseDescription, SourceError>;

    /// The platforms that the release has packages for, sorted.
    async fn platforms(&self) -> Result<Vec<Platform>, SourceError>;

    /// When the release was made, by its own word: the index, else the first platform's manifest, else the config of
    /// that image. `None` if it does not say, as reproducible releases do not.
    async fn created(&self) -> Result<Option<ReleaseDate>, SourceError>;

    /// What the package of a platform consists of, by manifests that have been verified. The package is not fetched.
    ///
    /// # Errors
    /// [`SourceError::NotOffered`] if the release has no package for this platform.
    async fn offer(self: Arc<Self>, platform: &Platform) -> Result<Offer, SourceError>;

    /// The same for a caller that fetches the package unless something speaks against it. If the release claims which zip it
    /// is, and the caller wants it, a repository is asked for it at the same time as for the manifest, or for the small layer
    /// that is claimed: [`Release::open`] hands it on if the manifest lists it. Any other answer is dropped. If the zip was asked
    /// for, the offer has no small layer: the zip is on its way.
    ///
    /// # Errors
    /// As [`Release::offer`].
    async fn offer_to_fetch(
        self: Arc<Self>,
        platform: &Platform,
        wanted: &dyn WantedPackage,
    ) -> Result<Offer, SourceError> {
        let _ = wanted;
        self.offer(platform).await
    }

    /// What lies beside the release and may say who signed it, unverified.
    ///
    /// A second, wider search does not ask again for what the first one has read.
    ///
    /// # Errors
    /// If the place could not be asked: an error does not mean that there is no signature.
    async fn evidence(&self, search: Search) -> Result<Vec<Evidence>, SourceError>;

    /// Bundles by certificates that lie beside the manifests of platforms and not beside the index, unverified; empty if
    /// the place has no such manifests.
    ///
    /// # Errors
    /// As [`Release::evidence`].
    async fn leaf_evidence(&self) -> Result<Vec<Evidence>, SourceError>;

    /// What the publisher says of the release now, if it is not simply available: unverified, for warnings. Nothing may
    /// depend on it: [`Release::evidence`] has the notices that are judged. A repository is asked for one tag at most, and
    /// not at all if its tags were listed without that one; other places have no notices.
    async fn notice(&self) -> Result<Option<Notice>, SourceError>;

    /// What [`ReleaseDescription::claims`] says, and the `zh:` of every platform's zip: for a repository one small
    /// request for each leaf that has not been read. They are as true as the release's own documents.
    async fn hashes(&self) -> Result<ClaimedHashes, SourceError>;

    /// What the manifest of each platform calls its zip, as its signer wrote it: without a request if [`Release::hashes`] was
    /// answered before. Empty if the place has no such manifests.
    async fn zip_names(&self) -> Result<ZipNames, SourceError>;

    /// The size of a part in bytes. A place that has not said it is asked for it; `None` if it does not say even then.
    async fn size(&self, part: &Part) -> Result<Option<u64>, SourceError> {
        Ok(part.size)
    }

    /// The repository that holds the release; `None` if the place is not a repository.
    fn store(&self) -> Option<Arc<dyn ReadStore>> {
        None
    }

    /// A package of the release is used out of a cache, so that it is not opened. A release that a pull-through offers and does
    /// not have yet is fetched then, and its caller does not wait for that; any other does nothing.
    fn note_use(&self) {}

    /// The bytes of a part that this release has offered. [`Part::checked`] compares them with its digest and size.
    async fn open(&self, part: &Part) -> Result<PartStream, SourceError>;
}

impl fmt::Debug for dyn Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.id().fmt(f)
    }
}

/// Which packages a caller has a use for.
pub trait WantedPackage: Send + Sync {
    /// What the caller will fetch if the release has it. Asked once for a package.
    fn wants(&self, claimed: &ClaimedPackage<'_>) -> WantedAhead;
}

/// What the index of a release claims of a package before its manifest has come.
#[derive(Clone, Copy, Debug)]
pub struct ClaimedPackage<'a> {
    pub platform: &'a Platform,
    /// The `zh:` of its zip.
    pub zip: &'a PackageHash,
    /// The digest of its small layer; `None` if the index names no such layer.
    pub small: Option<&'a Digest>,
    /// The checksums that the release claims for its platforms.
    pub claims: &'a ClaimedHashes,
}

/// What is asked for together with the manifest that lists it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WantedAhead {
    Nothing,
    Zip,
    /// The small layer, if one is claimed.
    SmallLayer,
}

/// Every zip is wanted.
#[derive(Clone, Copy, Debug)]
pub struct AnyZip;

impl WantedPackage for AnyZip {
    fn wants(&self, _claimed: &ClaimedPackage<'_>) -> WantedAhead {
        WantedAhead::Zip
    }
}

/// What the package of a platform consists of, and the release that it belongs to.
#[derive(Clone, Debug)]
pub struct Offer {
    /// The release that offers it, and that opens its parts.
    pub release: Arc<dyn Release>,
    pub platform: Platform,
    /// The manifest that lists the package; `None` for a package that lies in no repository.
    pub manifest: Option<Digest>,
    pub package: Package,
    /// The same package in fewer bytes: a tar+zstd layer beside the zip. Nothing says that it holds what the zip holds, except
    /// an `h1:` that is known from elsewhere.
    pub small: Option<Part>,
    /// Checksums that the release claims for its platforms, which its offers share. They tell whose a checksum is, not that a
    /// package is right.
    pub claims: Arc<ClaimedHashes>,
    /// What the place demands of the package: it must match one of them. Empty if the place demands nothing, or if the
    /// digest of the part says it all.
    pub allowed: Vec<PackageHash>,
    /// What a signature covers that this program has verified by the keys which the origin registry of the address names:
    /// the `zh:` of every line of its `SHA256SUMS`. It is recorded for all platforms, as `OpenTofu` does.
    pub signed: BTreeSet<PackageHash>,
}

impl Offer {
    pub fn address(&self) -> &ProviderAddr {
        &self.release.id().address
    }

    pub fn version(&self) -> &Version {
        &self.release.id().version
    }

    /// The place that offers it.
    pub fn place(&self) -> &Place {
        &self.release.id().place
    }

    /// What signatures of its release are about.
    pub fn identity(&self) -> &Identity {
        &self.release.id().identity
    }

    /// How the package lies in a repository; `None` if it lies elsewhere.
    pub fn kind(&self) -> Option<LeafKind> {
        self.manifest.as_ref()?;
        match self.package {
            Package::Zip(_) => Some(LeafKind::Artifact),
            Package::Layers(_) => Some(LeafKind::Image),
            Package::Folder(_) => None,
        }
    }

    /// The bytes to fetch, all parts together; `None` if the place does not say, as a folder does not, `u64::MAX` if the sum
    /// is out of range.
    pub fn bytes(&self) -> Option<u64> {
        if let Package::Folder(_) = self.package {
            return None;
        }
        self.package.parts().try_fold(0, |sum: u64, part| Some(sum.saturating_add(part.size?)))
    }

    /// `ch:` of the manifest; `None` for a package that lies in no repository.
    pub fn ch(&self) -> Option<PackageHash> {
        self.manifest.as_ref().map(PackageHash::ch)
    }

    /// `zh:` of the zip; `None` if the package is not a zip.
    pub fn zh(&self) -> Option<PackageHash> {
        match &self.package {
            Package::Zip(zip) => PackageHash::zh(zip.digest.as_ref()?),
            Package::Layers(_) | Package::Folder(_) => None,
        }
    }
}
