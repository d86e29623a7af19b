//! Filesystem mirrors, read from the disk, in the place of the client that this program does not have yet.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use bytes::Bytes;
use tofu_oci_archive::{input_files, write_layer};
use tofu_oci_layout::LeafKind;
use tofu_oci_source::{Listing, NotOffered, Offer, Source, SourceError};
use tofu_oci_store::ByteStream;
use tofu_oci_types::{Descriptor, PackageHash, Platform, ProviderAddr, Version};

use super::failures::no_folder;
use super::scripted::{ZIP, listing, offer, stream};

/// What a folder of files is taken in as.
const LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";

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
        Ok(listing(versions.iter().map(String::as_str)))
    }

    async fn platforms(&self, address: &ProviderAddr, version: &Version) -> Result<Vec<Platform>, SourceError> {
        let found = self.found(address)?.into_iter().filter(|found| found.version == *version);
        Ok(found.map(|found| found.platform).collect())
    }

    async fn offer(
        &self,
        address: &ProviderAddr,
        version: &Version,
        platform: &Platform,
    ) -> Result<Offer, SourceError> {
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
        let unpacked = found.path.is_dir();
        let (kind, media_type) = if unpacked { (LeafKind::Image, LAYER) } else { (LeafKind::Artifact, ZIP) };
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
