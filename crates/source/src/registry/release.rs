//! A release of an origin registry.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use tofu_oci_http::shown_url;
use tofu_oci_trust::{Evidence, Notice};
use tofu_oci_types::{Identity, PackageHash, Platform, ProviderAddr, Scheme, Version};

use super::download_document::{DownloadDocument, SumsLocation, is_supported};
use super::origin::Origin;
use super::registry_sums::RegistrySums;
use super::version_list::VersionList;
use crate::memory::{SharedCell, lock, slot};
use crate::{
    ClaimedHashes, Locator, NotOffered, Offer, Package, Part, PartStream, Release, ReleaseDate, ReleaseDescription,
    ReleaseId, Search, SourceError, ZipNames, web_part,
};

/// For how many platforms a document is asked for until one is there. A registry that lists more and has none would make a run
/// ask for hours.
const ASKED: usize = 10;

/// What is known of one version, whichever `SHA256SUMS` its packages have.
pub(super) struct VersionFacts {
    pub(super) origin: Arc<Origin>,
    pub(super) address: ProviderAddr,
    pub(super) version: Version,
    /// The list that names the version; `None` if the registry has no list.
    pub(super) list: Option<Arc<VersionList>>,
    documents: Mutex<HashMap<Platform, SharedCell<Arc<DownloadDocument>>>>,
    sums: Mutex<HashMap<SumsLocation, SharedCell<Arc<RegistrySums>>>>,
}

/// The packages of a version that one `SHA256SUMS` lists.
pub(super) struct RegistryRelease {
    facts: Arc<VersionFacts>,
    id: ReleaseId,
    sums: Arc<RegistrySums>,
    description: ReleaseDescription,
    /// Those of the description, which its offers share.
    claims: Arc<ClaimedHashes>,
}

impl VersionFacts {
    pub(super) fn new(
        origin: Arc<Origin>,
        address: ProviderAddr,
        version: Version,
        list: Option<Arc<VersionList>>,
    ) -> Self {
        Self { origin, address, version, list, documents: Mutex::default(), sums: Mutex::default() }
    }

    /// The release, by the document of the platform that this program runs on if the version has it.
    pub(super) async fn release(self: Arc<Self>) -> Result<Arc<dyn Release>, SourceError> {
        let mut asked = self.platforms().to_vec();
        let current = Platform::current();
        // Without a list of platforms every one may be there.
        if asked.is_empty() || asked.contains(&current) {
            asked.retain(|platform| *platform != current);
            asked.insert(0, current);
        }
        asked.truncate(ASKED);
        let mut missing = None;
        for platform in &asked {
            match self.document(platform).await {
                Ok(document) => {
                    let sums = self.sums(&document).await?;
                    return Ok(Arc::new(RegistryRelease::new(self, sums, &document)));
                }
                Err(error @ SourceError::NotOffered { .. }) => drop(missing.get_or_insert(error)),
                Err(error) => return Err(error),
            }
        }
        Err(missing.expect("a platform was asked for"))
    }

    /// The platforms that the list names, sorted.
    fn platforms(&self) -> &[Platform] {
        let listed = self.list.as_ref().and_then(|list| list.get(&self.version));
        listed.map(|listed| listed.platforms.as_slice()).unwrap_or_default()
    }

    async fn document(&self, platform: &Platform) -> Result<Arc<DownloadDocument>, SourceError> {
        let once = slot(&mut lock(&self.documents), platform.clone());
        once.get_or_try_init(|| self.read_document(platform)).await.cloned()
    }

    async fn read_document(&self, platform: &Platform) -> Result<Arc<DownloadDocument>, SourceError> {
        let Self { origin, address, version, .. } = self;
        let (os, arch) = (platform.os(), platform.arch());
        let path = format!("{}/{}/{version}/download/{os}/{arch}", address.namespace(), address.provider_type());
        let Some(answer) = origin.document(&path).await? else {
            return Err(self.not_offered(self.platform_missing(platform)));
        };
        let read = DownloadDocument::parse(answer.url(), answer.body(), platform, &origin.access.web);
        let place = shown_url(answer.url());
        read.map(Arc::new).map_err(|problem| origin.failed(problem.of(&place, self.newest_supported())))
    }

    fn platform_missing(&self, platform: &Platform) -> NotOffered {
        let mut offered = self.platforms().to_vec();
        offered.retain(|offered| offered != platform);
        NotOffered::PlatformMissing { version: self.version.clone(), platform: platform.clone(), offered }
    }

    fn not_offered(&self, what: NotOffered) -> SourceError {
        SourceError::NotOffered { address: self.address.clone(), place: self.origin.place.clone(), what }
    }

    /// The newest version that is no prerelease and speaks a plugin protocol of `OpenTofu`.
    fn newest_supported(&self) -> Option<&Version> {
        let list = self.list.as_ref()?;
        let speaks = |protocols: &[String]| !protocols.is_empty() && is_supported(protocols).unwrap_or(false);
        let mut supported = list.versions.iter().rev().filter(|listed| speaks(&listed.protocols));
        supported.find(|listed| !listed.version.is_prerelease()).map(|listed| &listed.version)
    }

    async fn sums(&self, document: &DownloadDocument) -> Result<Arc<RegistrySums>, SourceError> {
        let once = slot(&mut lock(&self.sums), document.sums.clone());
        let about = format!("{} {}", self.address, self.version);
        let fetched = once.get_or_try_init(|| async {
            Ok(Arc::new(RegistrySums::fetch(&self.origin, &document.sums, &about).await?))
        });
        fetched.await.cloned()
    }
}

impl RegistryRelease {
    fn new(facts: Arc<VersionFacts>, sums: Arc<RegistrySums>, document: &DownloadDocument) -> Self {
        let zips: BTreeMap<Platform, PackageHash> = sums.zips(&facts.address, &facts.version).into_iter().collect();
        let platforms = match facts.platforms() {
            [] => zips.keys().cloned().collect(),
            listed => listed.to_vec(),
        };
        let mut claims: ClaimedHashes =
            zips.iter().map(|(platform, zh)| (platform.clone(), [zh.clone()].into())).collect();
        for (platform, package) in &document.packages {
            let known = package.hashes.iter().filter(|hash| hash.scheme() != Scheme::Other);
            claims.entry(platform.clone()).or_default().extend(known.cloned());
        }
        let id = ReleaseId {
            address: facts.address.clone(),
            version: facts.version.clone(),
            place: facts.origin.place.clone(),
            identity: Identity::Sums(sums.digest.clone()),
        };
        let (protocols, shared) = (document.protocols.clone(), Arc::new(claims.clone()));
        let description = ReleaseDescription { platforms, claims, zips, protocols, ..ReleaseDescription::default() };
        Self { facts, id, sums, description, claims: shared }
    }

    /// What is recorded for all platforms. The public registry may list unsigned providers, so that its word counts as much
    /// as a signature there.
    ///
    /// Spec: `opentofu-behaviour.md` §6.5.
    fn signed(&self, document: &DownloadDocument) -> BTreeSet<PackageHash> {
        let mut signed = self.sums.recorded();
        let Origin { access, host, .. } = &*self.facts.origin;
        if access.demands.admit_keyless(host) {
            let listed = document.packages.values().flat_map(|package| &package.hashes);
            signed.extend(listed.filter(|hash| matches!(hash.scheme(), Scheme::H1 | Scheme::Zh)).cloned());
        }
        signed
    }
}

#[async_trait]
impl Release for RegistryRelease {
    fn id(&self) -> &ReleaseId {
        &self.id
    }

    async fn describe(&self) -> Result<&ReleaseDescription, SourceError> {
        Ok(&self.description)
    }

    async fn platforms(&self) -> Result<Vec<Platform>, SourceError> {
        Ok(self.description.platforms.clone())
    }

    async fn created(&self) -> Result<Option<ReleaseDate>, SourceError> {
        Ok(None)
    }

    /// If the document of the platform names another `SHA256SUMS`, the offer belongs to another release of this version.
    async fn offer(self: Arc<Self>, platform: &Platform) -> Result<Offer, SourceError> {
        let document = self.facts.document(platform).await?;
        let sums = self.facts.sums(&document).await?;
        let release = if sums.digest == self.sums.digest {
            self
        } else {
            Arc::new(Self::new(Arc::clone(&self.facts), sums, &document))
        };
        release.sums.check(&document).map_err(|failure| release.facts.origin.failed(failure))?;
        let mut claims = Arc::clone(&release.claims);
        let zh = PackageHash::zh(&document.shasum);
        if let Some(zh) = zh.filter(|zh| !claims.get(platform).is_some_and(|known| known.contains(zh))) {
            Arc::make_mut(&mut claims).entry(platform.clone()).or_default().insert(zh);
        }
        let at = Locator::Url(document.zip.clone());
        let package = Package::Zip(Part { at, size: document.size(platform), digest: Some(document.shasum.clone()) });
        Ok(Offer {
            platform: platform.clone(),
            manifest: None,
            package,
            small: None,
            claims,
            allowed: Vec::new(),
            signed: release.signed(&document),
            release,
        })
    }

    async fn evidence(&self, _: Search) -> Result<Vec<Evidence>, SourceError> {
        Ok(vec![self.sums.evidence()])
    }

    async fn leaf_evidence(&self) -> Result<Vec<Evidence>, SourceError> {
        Ok(Vec::new())
    }

    async fn notice(&self) -> Result<Option<Notice>, SourceError> {
        Ok(None)
    }

    async fn zip_names(&self) -> Result<ZipNames, SourceError> {
        Ok(ZipNames::new())
    }

    async fn hashes(&self) -> Result<ClaimedHashes, SourceError> {
        Ok(self.description.claims.clone())
    }

    async fn size(&self, part: &Part) -> Result<Option<u64>, SourceError> {
        let Origin { access, place, .. } = &*self.facts.origin;
        web_part::size(&access.web, place, part).await
    }

    async fn open(&self, part: &Part) -> Result<PartStream, SourceError> {
        let Origin { access, place, .. } = &*self.facts.origin;
        web_part::open(&access.web, place, part).await
    }
}
