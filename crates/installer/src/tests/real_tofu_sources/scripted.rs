//! Sources in the place of clients that this program does not have yet: the provider registry protocol, the network
//! mirror protocol and filesystem mirrors. They offer and fail as a case says, with the real types, and their packages
//! are real.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::StreamExt as _;
use tofu_oci_archive::{input_files, write_layer};
use tofu_oci_layout::LeafKind;
use tofu_oci_source::{Listing, NotOffered, Offer, Source, SourceError};
use tofu_oci_store::ByteStream;
use tofu_oci_types::{Descriptor, PackageHash, Platform, ProviderAddr, Version};

use super::case::Offered;
use super::failures::{failed, no_folder, not_authentic};
use super::packages::{maker, package};

/// What is fetched of a package that is no OCI artifact.
const ZIP: &str = "archive/zip";
const LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";

/// An origin registry or a network mirror.
pub(super) struct Server {
    pub(super) name: &'static str,
    pub(super) offer: Offered,
    pub(super) stages: Stages,
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
            // A redirection leads nowhere, as it did in the measured world.
            return match word {
                "404" | "302" => Err(self.missing(address, self.stages.unknown.clone())),
                word => Err(failed(self.name, self.stages.list, word)),
            };
        }
        listing(self.offer.versions.iter().map(String::as_str))
    }

    async fn platforms(&self, _: &ProviderAddr, version: &Version) -> Result<Vec<Platform>, SourceError> {
        Ok(platforms(self.offer.platforms(&version.to_string())))
    }

    async fn offer(&self, address: &ProviderAddr, version: &Version, platform: &Platform) -> Result<Offer, SourceError> {
        self.connect()?;
        let text = version.to_string();
        let gone = || {
            let offered = self.offer.versions.iter().map(|version| version.parse().unwrap()).collect();
            self.missing(address, NotOffered::VersionMissing { version: version.clone(), offered })
        };
        match self.offer.failure(self.stages.package, self.stages.default) {
            Some("404") => return Err(gone()),
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
        match (self.offer.broken.as_deref(), self.offer.hashes.as_deref()) {
            (Some(what), _) => return Err(not_authentic(self.name, what)),
            (_, Some(what @ ("wrong" | "unknown"))) => return Err(not_authentic(self.name, what)),
            _ => {}
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

/// A filesystem mirror, read from the disk.
pub(super) struct Folder {
    pub(super) path: PathBuf,
}

/// A package that lies in a mirror.
struct Found {
    version: Version,
    platform: Platform,
    path: PathBuf,
}

impl Folder {
    fn found(&self, address: &ProviderAddr) -> Result<Vec<Found>, SourceError> {
        if !self.path.is_dir() {
            return Err(no_folder(&self.place()));
        }
        let host = self.path.join(address.hostname().display());
        let provider = host.join(address.namespace()).join(address.provider_type());
        let mut found = Vec::new();
        for (name, path) in entries(&provider) {
            let packed = name
                .strip_prefix(&format!("terraform-provider-{}_", address.provider_type()))
                .and_then(|name| name.strip_suffix(".zip"))
                .and_then(|name| name.split_once('_'));
            if let Some((version, platform)) = packed {
                found.push(Found { version: version.parse().unwrap(), platform: platform.parse().unwrap(), path });
            } else if let Ok(version) = name.parse::<Version>() {
                let here = |(platform, path): (String, PathBuf)| {
                    Some(Found { version: version.clone(), platform: platform.parse().ok()?, path })
                };
                found.extend(entries(&path).into_iter().filter_map(here));
            }
        }
        Ok(found)
    }

    fn missing(&self, address: &ProviderAddr, what: NotOffered) -> SourceError {
        SourceError::NotOffered { address: address.clone(), place: self.place(), what }
    }
}

fn entries(folder: &Path) -> Vec<(String, PathBuf)> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    entries.flatten().map(|entry| (entry.file_name().into_string().unwrap(), entry.path())).collect()
}

#[async_trait]
impl Source for Folder {
    fn place(&self) -> String {
        self.path.display().to_string()
    }

    async fn versions(&self, address: &ProviderAddr) -> Result<Listing, SourceError> {
        let found = self.found(address)?;
        if found.is_empty() {
            return Err(self.missing(address, NotOffered::UnknownProvider));
        }
        let versions: BTreeSet<String> = found.iter().map(|found| found.version.to_string()).collect();
        listing(versions.iter().map(String::as_str))
    }

    async fn platforms(&self, address: &ProviderAddr, version: &Version) -> Result<Vec<Platform>, SourceError> {
        let found = self.found(address)?.into_iter().filter(|found| found.version == *version);
        Ok(found.map(|found| found.platform).collect())
    }

    async fn offer(&self, address: &ProviderAddr, version: &Version, platform: &Platform) -> Result<Offer, SourceError> {
        let all = self.found(address)?;
        let of_version: Vec<&Found> = all.iter().filter(|found| found.version == *version).collect();
        if of_version.is_empty() {
            let offered = all.into_iter().map(|found| found.version).collect();
            return Err(self.missing(address, NotOffered::VersionMissing { version: version.clone(), offered }));
        }
        let Some(found) = of_version.iter().find(|found| found.platform == *platform) else {
            let offered = of_version.iter().map(|found| found.platform.clone()).collect();
            let what = NotOffered::PlatformMissing { version: version.clone(), platform: platform.clone(), offered };
            return Err(self.missing(address, what));
        };
        let (kind, media_type) = match found.path.is_dir() {
            true => (LeafKind::Image, LAYER),
            false => (LeafKind::Artifact, ZIP),
        };
        Ok(offer(self, address, version, platform, kind, Descriptor::of(media_type, &bytes_of(found))))
    }

    async fn hashes(&self, offer: &Offer) -> Result<BTreeMap<Platform, BTreeSet<PackageHash>>, SourceError> {
        Ok(offer.claims.clone())
    }

    async fn open(&self, offer: &Offer, _: usize) -> Result<ByteStream, SourceError> {
        let all = self.found(&offer.address)?;
        let found = all.iter().find(|found| found.version == offer.version && found.platform == offer.platform);
        Ok(stream(bytes_of(found.unwrap())))
    }
}

/// The zip, or the folder as one layer: the form in which an installation takes in a tree of files.
fn bytes_of(found: &Found) -> Bytes {
    if found.path.is_file() {
        return fs::read(&found.path).unwrap().into();
    }
    let out = tempfile::NamedTempFile::new().unwrap();
    write_layer(&input_files(&found.path, "widget").unwrap(), out.path()).unwrap();
    fs::read(out.path()).unwrap().into()
}

fn listing<'a>(versions: impl Iterator<Item = &'a str>) -> Result<Listing, SourceError> {
    let mut versions: Vec<Version> = versions.map(|version| version.parse().unwrap()).collect();
    versions.sort_by(Version::precedence);
    Ok(Listing { versions, stray: Vec::new() })
}

fn platforms(names: &[String]) -> Vec<Platform> {
    names.iter().map(|name| name.parse().unwrap()).collect()
}

fn stream(bytes: Bytes) -> ByteStream {
    futures_util::stream::iter([Ok(bytes)]).boxed()
}

/// An offer of something that lies in no OCI repository; its manifests stand for themselves.
fn offer(
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

/// Keeps a record of whose packages are opened.
pub(super) struct Watched {
    pub(super) inner: Arc<dyn Source>,
    pub(super) served: Served,
    pub(super) log: Arc<std::sync::Mutex<Vec<Served>>>,
}

/// A method, and its repository where it has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Served {
    pub(super) method: &'static str,
    pub(super) repository: Option<String>,
}

#[async_trait]
impl Source for Watched {
    fn place(&self) -> String {
        self.inner.place()
    }

    async fn versions(&self, address: &ProviderAddr) -> Result<Listing, SourceError> {
        self.inner.versions(address).await
    }

    async fn platforms(&self, address: &ProviderAddr, version: &Version) -> Result<Vec<Platform>, SourceError> {
        self.inner.platforms(address, version).await
    }

    async fn offer(&self, address: &ProviderAddr, version: &Version, platform: &Platform) -> Result<Offer, SourceError> {
        self.inner.offer(address, version, platform).await
    }

    async fn hashes(&self, offer: &Offer) -> Result<BTreeMap<Platform, BTreeSet<PackageHash>>, SourceError> {
        self.inner.hashes(offer).await
    }

    async fn open(&self, offer: &Offer, part: usize) -> Result<ByteStream, SourceError> {
        self.log.lock().unwrap().push(self.served.clone());
        self.inner.open(offer, part).await
    }
}
