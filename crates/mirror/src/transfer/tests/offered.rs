//! Releases of a place that is no repository, as they are and as they are not.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::StreamExt as _;
use tofu_oci_source::{
    ClaimedHashes, Locator, Offer, Package, Part, PartStream, Release, ReleaseDate, ReleaseDescription, ReleaseId,
    Search, SourceError, ZipNames,
};
use tofu_oci_store::StoreError;
use tofu_oci_testkit::{ProviderZip, ScratchOpenPgpKey};
use tofu_oci_trust::{Evidence, Notice};
use tofu_oci_types::{Digest, Identity, NetworkFault, PackageHash, Place, Platform};

/// A package as it is offered.
#[derive(Clone)]
pub(crate) struct OfferedPackage {
    pub(crate) zip: Bytes,
    /// The size that the offer names.
    pub(crate) size: Option<u64>,
    /// The size that the place names when it is asked.
    pub(crate) asked: Option<u64>,
    pub(crate) digest: Option<Digest>,
    pub(crate) allowed: Vec<PackageHash>,
    /// The connection is lost for good after so many bytes.
    pub(crate) lost_after: Option<usize>,
    /// The unpacked package, instead of a zip.
    pub(crate) folder: Option<PathBuf>,
}

/// A release of a registry that is not there.
pub(crate) struct OfferedRelease {
    pub(crate) id: ReleaseId,
    pub(crate) packages: BTreeMap<Platform, OfferedPackage>,
    about: ReleaseDescription,
    pub(crate) evidence: Vec<Evidence>,
    pub(crate) leaf_evidence: Vec<Evidence>,
    /// How often a package was opened.
    pub(crate) opened: AtomicUsize,
}

impl OfferedRelease {
    /// `example.com/acme/zap` with a package of 300 000 bytes for each platform, whose digest is known, and whose size is said
    /// when it is asked for.
    pub(crate) fn new(version: &str, platforms: &[&str]) -> Self {
        let address = "example.com/acme/zap".parse().unwrap();
        let place = Place::Host("example.com".to_owned());
        let id = ReleaseId { address, version: version.parse().unwrap(), place, identity: Identity::Unidentified };
        let package = |platform: &&str| {
            let zip = ProviderZip::new("zap", version, platform).random_file("data", 300_000).build();
            (platform.parse().unwrap(), OfferedPackage::of(zip))
        };
        let packages: BTreeMap<Platform, OfferedPackage> = platforms.iter().map(package).collect();
        let about = ReleaseDescription {
            platforms: packages.keys().cloned().collect(),
            protocols: vec!["6.0".to_owned()],
            ..ReleaseDescription::default()
        };
        let (evidence, leaf_evidence) = (Vec::new(), Vec::new());
        Self { id, packages, about, evidence, leaf_evidence, opened: AtomicUsize::new(0) }
    }

    /// The same with other words about the package of a platform.
    pub(crate) fn with(mut self, platform: &str, change: impl FnOnce(&mut OfferedPackage)) -> Self {
        change(self.packages.get_mut(&platform.parse::<Platform>().unwrap()).unwrap());
        self
    }

    /// The same with `SHA256SUMS` over all packages, signed.
    pub(crate) fn signed(mut self) -> Self {
        let line = |(platform, package): (&Platform, &OfferedPackage)| {
            let name = format!("terraform-provider-zap_{}_{platform}.zip", self.id.version);
            format!("{}  {name}\n", Digest::sha256(&package.zip).encoded())
        };
        let sums: String = self.packages.iter().map(line).collect();
        let key = ScratchOpenPgpKey::of(1);
        self.id.identity = Identity::Sums(Digest::sha256(sums.as_bytes()));
        self.evidence = vec![Evidence::Sums {
            origin: Digest::sha256(sums.as_bytes()),
            signatures: vec![key.sign(sums.as_bytes())],
            keys: vec![key.armored().into_bytes()],
            sums: sums.into_bytes(),
        }];
        self
    }

    pub(crate) fn zip(&self, platform: &str) -> &OfferedPackage {
        &self.packages[&platform.parse::<Platform>().unwrap()]
    }

    pub(crate) fn opened(&self) -> usize {
        self.opened.load(Ordering::SeqCst)
    }
}

impl OfferedPackage {
    pub(crate) fn of(zip: Vec<u8>) -> Self {
        let (digest, asked) = (Some(Digest::sha256(&zip)), Some(zip.len() as u64));
        let zip = Bytes::from(zip);
        Self { zip, size: None, asked, digest, allowed: Vec::new(), lost_after: None, folder: None }
    }

    fn part(&self, platform: &Platform) -> Part {
        let url = format!("https://example.com/{platform}.zip").parse().unwrap();
        Part { at: Locator::Url(url), size: self.size, digest: self.digest.clone() }
    }
}

#[async_trait]
impl Release for OfferedRelease {
    fn id(&self) -> &ReleaseId {
        &self.id
    }

    async fn describe(&self) -> Result<&ReleaseDescription, SourceError> {
        Ok(&self.about)
    }

    async fn platforms(&self) -> Result<Vec<Platform>, SourceError> {
        Ok(self.about.platforms.clone())
    }

    async fn created(&self) -> Result<Option<ReleaseDate>, SourceError> {
        Ok(None)
    }

    async fn offer(self: Arc<Self>, platform: &Platform) -> Result<Offer, SourceError> {
        let package = &self.packages[platform];
        Ok(Offer {
            platform: platform.clone(),
            manifest: None,
            package: match &package.folder {
                Some(folder) => Package::Folder(folder.clone()),
                None => Package::Zip(package.part(platform)),
            },
            small: None,
            claims: Arc::default(),
            allowed: package.allowed.clone(),
            signed: BTreeSet::new(),
            release: self,
        })
    }

    async fn evidence(&self, _: Search) -> Result<Vec<Evidence>, SourceError> {
        Ok(self.evidence.clone())
    }

    async fn leaf_evidence(&self) -> Result<Vec<Evidence>, SourceError> {
        Ok(self.leaf_evidence.clone())
    }

    async fn notice(&self) -> Result<Option<Notice>, SourceError> {
        Ok(None)
    }

    async fn zip_names(&self) -> Result<ZipNames, SourceError> {
        Ok(ZipNames::new())
    }

    async fn hashes(&self) -> Result<ClaimedHashes, SourceError> {
        Ok(ClaimedHashes::new())
    }

    async fn size(&self, part: &Part) -> Result<Option<u64>, SourceError> {
        Ok(self.package(part).asked)
    }

    async fn open(&self, part: &Part) -> Result<PartStream, SourceError> {
        self.opened.fetch_add(1, Ordering::SeqCst);
        let package = self.package(part);
        let end = package.lost_after.unwrap_or(package.zip.len());
        let mut pieces: Vec<Result<Bytes, StoreError>> =
            package.zip[..end].chunks(64 << 10).map(|piece| Ok(Bytes::copy_from_slice(piece))).collect();
        if package.lost_after.is_some() {
            let (place, problem) = (self.id.place.clone(), "the connection was lost".to_owned());
            pieces.push(Err(StoreError::Unreachable { place, fault: NetworkFault::Lost, problem }));
        }
        Ok(PartStream { size: part.size.or(package.asked), stream: futures_util::stream::iter(pieces).boxed() })
    }
}

impl OfferedRelease {
    fn package(&self, part: &Part) -> &OfferedPackage {
        let is_it = |(platform, package): &(&Platform, &OfferedPackage)| package.part(platform).at == part.at;
        self.packages.iter().find(is_it).unwrap().1
    }
}
