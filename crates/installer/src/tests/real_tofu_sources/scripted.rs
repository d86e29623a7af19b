//! Servers in the place of clients that this program does not have yet: the provider registry protocol and the network
//! mirror protocol. They offer and fail as a case says, with the real types, and their packages are real.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::StreamExt as _;
use tofu_oci_layout::LeafKind;
use tofu_oci_source::{Listing, NotOffered, Offer, Source, SourceError};
use tofu_oci_store::ByteStream;
use tofu_oci_types::{Descriptor, PackageHash, Platform, ProviderAddr, Version};

use super::case::Offered;
use super::failures::{failed, not_authentic};
use super::packages::{maker, package};

/// What is fetched of a package that is no OCI artifact.
pub(super) const ZIP: &str = "archive/zip";

/// An origin registry or a network mirror.
pub(super) struct Server {
    name: &'static str,
    offer: Offered,
    stages: Stages,
}

/// What a protocol calls its stages.
#[derive(Clone)]
pub(super) struct Stages {
    /// Where it fails when a case names no stage.
    default: &'static str,
    /// What is asked for before everything else.
    first: Option<&'static str>,
    list: &'static str,
    package: &'static str,
    /// What a provider is that it does not know.
    unknown: NotOffered,
}

/// The provider registry protocol.
pub(super) const REGISTRY: Stages = Stages {
    default: "versions",
    first: Some("discovery"),
    list: "versions",
    package: "download",
    unknown: NotOffered::UnknownToRegistry,
};
/// The network mirror protocol.
pub(super) const MIRROR: Stages =
    Stages { default: "index", first: None, list: "index", package: "version", unknown: NotOffered::UnknownProvider };

impl Server {
    /// An origin registry or a network mirror that does what a case says.
    pub(super) fn new(name: &'static str, offer: Offered, stages: Stages) -> Self {
        let Stages { first, list, package, .. } = stages;
        let known = [first.unwrap_or(list), list, package, "archive", "all"];
        let hashes = if first.is_none() { &["none", "zh", "h1", "wrong", "unknown"][..] } else { &[] };
        offer.assert_known(name, &known, &["shasum", "signature"], hashes);
        Self { name, offer, stages }
    }

    fn check(&self, stage: &str) -> Result<(), SourceError> {
        match self.offer.failure(stage, self.stages.default) {
            Some(word) => Err(failed(self.name, stage, word)),
            None => Ok(()),
        }
    }

    /// Connections that nothing comes through fail at whatever is asked first.
    fn connect(&self) -> Result<(), SourceError> {
        match self.offer.fails.as_deref() {
            Some(word @ ("dns" | "tls" | "refused" | "timeout")) if self.offer.fails_at.is_none() => {
                Err(failed(self.name, self.stages.default, word))
            }
            _ => self.stages.first.map_or(Ok(()), |first| self.check(first)),
        }
    }

    fn missing(&self, address: &ProviderAddr, what: NotOffered) -> SourceError {
        SourceError::NotOffered { address: address.clone(), place: self.place(), what }
    }

    /// What is sent as the package.
    fn archive(&self, address: &ProviderAddr, version: &str, platform: &str) -> Bytes {
        if self.offer.failure("archive", self.stages.default) == Some("html") {
            return Bytes::from_static(b"<html>hello</html>");
        }
        let maker = maker(self.name, self.offer.content.as_deref());
        package(&maker, address.provider_type(), version, platform).zip.clone()
    }
}

#[async_trait]
impl Source for Server {
    fn place(&self) -> String {
        self.name.to_owned()
    }

    async fn versions(&self, address: &ProviderAddr) -> Result<Listing, SourceError> {
        self.connect()?;
        if let Some(word) = self.offer.failure(self.stages.list, self.stages.default) {
            // A redirection leads nowhere, as it did in the measured world; a document may be there and name nothing.
            return match word {
                "404" | "302" | "empty" => Err(self.missing(address, self.stages.unknown.clone())),
                word => Err(failed(self.name, self.stages.list, word)),
            };
        }
        Ok(listing(self.offer.versions.iter().map(String::as_str)))
    }

    async fn platforms(&self, _: &ProviderAddr, version: &Version) -> Result<Vec<Platform>, SourceError> {
        Ok(platforms(self.offer.platforms(&version.to_string())))
    }

    async fn offer(
        &self,
        address: &ProviderAddr,
        version: &Version,
        platform: &Platform,
    ) -> Result<Offer, SourceError> {
        self.connect()?;
        let text = version.to_string();
        let gone = || {
            let offered = self.offer.versions.iter().map(|version| version.parse().unwrap()).collect();
            self.missing(address, NotOffered::VersionMissing { version: version.clone(), offered })
        };
        match self.offer.failure(self.stages.package, self.stages.default) {
            Some("404") => return Err(gone()),
            // A version of a mirror without a single package.
            Some("empty") if self.stages.first.is_none() => {
                return Err(self.missing(address, none_for(version, platform)));
            }
            Some(word) => return Err(failed(self.name, self.stages.package, word)),
            None if !self.offer.versions.contains(&text) => return Err(gone()),
            None => {}
        }
        let offered = platforms(self.offer.platforms(&text));
        if !offered.contains(platform) {
            let what = NotOffered::PlatformMissing { version: version.clone(), platform: platform.clone(), offered };
            return Err(self.missing(address, what));
        }
        let zip = self.archive(address, &text, &platform.to_string());
        Ok(offer(self, address, version, platform, LeafKind::Artifact, Descriptor::of(ZIP, &zip)))
    }

    async fn hashes(&self, offer: &Offer) -> Result<BTreeMap<Platform, BTreeSet<PackageHash>>, SourceError> {
        Ok(offer.claims.clone())
    }

    async fn open(&self, offer: &Offer, _: usize) -> Result<ByteStream, SourceError> {
        let false_hashes = self.offer.hashes.as_deref().filter(|hashes| ["wrong", "unknown"].contains(hashes));
        if let Some(what) = self.offer.broken.as_deref().or(false_hashes) {
            return Err(not_authentic(self.name, what));
        }
        match self.offer.failure("archive", self.stages.default) {
            // Something else is sent, with all the signs of success.
            Some("html") | None => {}
            Some(word) => return Err(failed(self.name, "archive", word)),
        }
        let (version, platform) = (offer.version.to_string(), offer.platform.to_string());
        Ok(stream(self.archive(&offer.address, &version, &platform)))
    }
}

fn none_for(version: &Version, platform: &Platform) -> NotOffered {
    NotOffered::PlatformMissing { version: version.clone(), platform: platform.clone(), offered: Vec::new() }
}

pub(super) fn listing<'a>(versions: impl Iterator<Item = &'a str>) -> Listing {
    let mut versions: Vec<Version> = versions.map(|version| version.parse().unwrap()).collect();
    versions.sort_by(Version::precedence);
    Listing { versions, stray: Vec::new() }
}

fn platforms(names: &[String]) -> Vec<Platform> {
    names.iter().map(|name| name.parse().unwrap()).collect()
}

pub(super) fn stream(bytes: Bytes) -> ByteStream {
    futures_util::stream::iter([Ok(bytes)]).boxed()
}

/// An offer of something that lies in no OCI repository; its manifests stand for themselves.
pub(super) fn offer(
    source: &dyn Source,
    address: &ProviderAddr,
    version: &Version,
    platform: &Platform,
    kind: LeafKind,
    package: Descriptor,
) -> Offer {
    Offer {
        address: address.clone(),
        version: version.clone(),
        platform: platform.clone(),
        place: source.place(),
        tag: "none".parse().unwrap(),
        index: Descriptor::of("application/octet-stream", b"index"),
        leaf: Descriptor::of("application/octet-stream", package.digest.as_str().as_bytes()),
        kind,
        parts: vec![package],
        diff_ids: Vec::new(),
        offered: vec![platform.clone()],
        protocols: Vec::new(),
        published_as: None,
        claims: BTreeMap::new(),
    }
}
