//! One version of a network mirror, and which of its checksums a package must match.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use async_trait::async_trait;
use tofu_oci_http::{Protection, shown_url};
use tofu_oci_trust::{Evidence, Notice};
use tofu_oci_types::{Digest, Identity, PackageHash, Platform, ProviderAddr, Scheme, Version, printable};
use url::Url;

use super::documents::{Archive, ArchiveList, is_known};
use super::mirror::{Mirror, MirrorChecksums};
use crate::{
    ClaimedHashes, Failure, Locator, NotOffered, Offer, Package, Part, PartStream, Release, ReleaseDate,
    ReleaseDescription, ReleaseId, Search, SourceError, ZipNames, web_part,
};

/// What a `VERSION.json` says. It has no signature, and no identity that one could be about.
pub(super) struct MirrorRelease {
    mirror: Arc<Mirror>,
    id: ReleaseId,
    /// The address that answered with the document, after all redirects.
    document: Url,
    archives: ArchiveList,
    description: ReleaseDescription,
    /// Those of the description, which all offers share.
    claims: Arc<ClaimedHashes>,
}

impl MirrorRelease {
    pub(super) fn new(
        mirror: &Arc<Mirror>,
        address: &ProviderAddr,
        version: &Version,
        document: &Url,
        archives: ArchiveList,
    ) -> Self {
        let mut description = ReleaseDescription::default();
        for (platform, archive) in archives.of_platforms() {
            let known: BTreeSet<PackageHash> = archive.known_hashes().collect();
            let mut zips = known.iter().filter(|hash| hash.scheme() == Scheme::Zh);
            if let (Some(zip), None) = (zips.next(), zips.next()) {
                description.zips.insert(platform.clone(), zip.clone());
            }
            description.claims.insert(platform.clone(), known);
            description.platforms.push(platform);
        }
        let (address, version, place) = (address.clone(), version.clone(), mirror.place.clone());
        let id = ReleaseId { address, version, place, identity: Identity::Unidentified };
        let claims = Arc::new(description.claims.clone());
        Self { mirror: Arc::clone(mirror), id, document: document.clone(), archives, description, claims }
    }

    /// What the archive must match one of; empty if the mirror lists no checksums.
    ///
    /// # Errors
    /// If a text is not a checksum, or no scheme is known.
    fn demanded(&self, archive: &Archive) -> Result<Vec<PackageHash>, Failure> {
        let lists: Vec<&Archive> = match self.mirror.access.checksums {
            MirrorChecksums::OfPlatform => vec![archive],
            MirrorChecksums::OfAnyPlatform => self.archives.all().collect(),
        };
        let mut listed = Vec::new();
        for list in lists {
            listed.extend(list.hashes().map_err(|error| self.bad(Failure::BadBody, &error.to_string()))?);
        }
        let mut seen = HashSet::new();
        let known: Vec<PackageHash> =
            listed.iter().filter(|hash| is_known(hash) && seen.insert(*hash)).cloned().collect();
        match (known.is_empty(), listed.first()) {
            (true, Some(first)) => {
                let problem = format!("{first} has no checksum format that can be verified (h1: or zh:)");
                Err(self.bad(Failure::ChecksumFormats, &problem))
            }
            _ => Ok(known),
        }
    }

    fn bad(&self, kind: fn(String) -> Failure, problem: &str) -> Failure {
        kind(format!("{}: {}", shown_url(&self.document), printable(problem)))
    }
}

/// The digest of the archive, if one checksum alone says what it must be.
fn sole_digest(demanded: &[PackageHash]) -> Option<Digest> {
    match demanded {
        [only] => only.archive(),
        _ => None,
    }
}

#[async_trait]
impl Release for MirrorRelease {
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

    async fn offer(self: Arc<Self>, platform: &Platform) -> Result<Offer, SourceError> {
        let Some(archive) = self.archives.get(platform) else {
            let (version, offered) = (self.id.version.clone(), self.description.platforms.clone());
            let what = NotOffered::PlatformMissing { version, platform: platform.clone(), offered };
            return Err(self.mirror.not_offered(&self.id.address, what));
        };
        if archive.url.is_empty() {
            let failure = self.bad(Failure::BadBody, &format!("the archive for {platform} has no url"));
            return Err(self.mirror.failed(failure));
        }
        let failed = |failure| self.mirror.failed(failure);
        let allowed = self.demanded(archive).map_err(failed)?;
        let digest = sole_digest(&allowed);
        let protection = if digest.is_some() { Protection::Digest } else { Protection::Tls };
        let at = Locator::Url(self.mirror.archive(&self.document, &archive.url, protection).map_err(failed)?);
        Ok(Offer {
            platform: platform.clone(),
            manifest: None,
            package: Package::Zip(Part { at, size: None, digest }),
            small: None,
            claims: Arc::clone(&self.claims),
            allowed,
            signed: BTreeSet::new(),
            release: self,
        })
    }

    async fn evidence(&self, _: Search) -> Result<Vec<Evidence>, SourceError> {
        Ok(Vec::new())
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
        web_part::size(&self.mirror.access.downloads, &self.id.place, part).await
    }

    async fn open(&self, part: &Part) -> Result<PartStream, SourceError> {
        web_part::open(&self.mirror.access.downloads, &self.id.place, part).await
    }
}
