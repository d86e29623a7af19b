//! From a tag to an unpacked package, in `OpenTofu`'s order.
//!
//! ```text
//! HEAD tag      media type is that of an index
//! GET index     size, digest, JSON; its own mediaType, its artifactType
//! entries       provider-target ones alone: media type, platform; exactly one for this platform
//! GET leaf      size gate, there, Content-Type, length, digest, JSON; mediaType, artifactType
//! layers        exactly one archive/zip; sha256; its platform, where it names one
//! GET blob      there, length, digest
//! unzip         entry by entry; then the executable
//! ```
//!
//! Spec: `OpenTofu` 1.12, `OCIRegistryMirrorSource.PackageMeta`, `PackageOCIBlobArchive`; oras-go 2.6, `registry/remote`.

use std::collections::HashMap;

use tofu_oci_types::{Algorithm, Platform};

use super::question::{AskedProvider, PredictedOutcome};
use crate::Rejection;
use crate::facts::{
    BlobContent, FaultKind, FoundBlob, FoundDocument, FoundLeaf, FoundRelease, IndexEntry, LeafPart, PackageFacts,
    ReadFault,
};
use crate::go::json::{GoIndex, GoManifest, GoReading};
use crate::go::{GoDescriptor, unpack};

pub(super) const INDEX: &str = "application/vnd.oci.image.index.v1+json";
pub(super) const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const PROVIDER: &str = "application/vnd.opentofu.provider";
const TARGET: &str = "application/vnd.opentofu.provider-target";

/// The first size that is too large for a manifest: 5 MiB, although the message says 4.
const MANIFEST_GATE: i64 = 5 * 1024 * 1024;

/// The outcome for one version on one platform.
pub(super) fn install(
    opened: &OpenedRelease<'_>,
    platform: &Platform,
    provider: AskedProvider<'_>,
) -> PredictedOutcome {
    match try_install(opened, platform, provider) {
        Ok(outcome) | Err(outcome) => outcome,
    }
}

/// A release whose index has been read, once for all platforms.
pub(super) struct OpenedRelease<'a> {
    release: &'a FoundRelease,
    entries: Result<Entries, PredictedOutcome>,
}

impl<'a> OpenedRelease<'a> {
    /// Reads the index.
    pub(super) fn new(release: &'a FoundRelease) -> Self {
        Self { release, entries: Self::read(release) }
    }

    fn read(release: &FoundRelease) -> Result<Entries, PredictedOutcome> {
        let document = release.index.found.as_ref().map_err(|fault| unreadable(fault, Rejection::TagNotFound))?;
        resolve(document)?;
        Ok(Entries::of(&read_index(document)?.manifests))
    }
}

fn try_install(
    opened: &OpenedRelease<'_>,
    platform: &Platform,
    provider: AskedProvider<'_>,
) -> Result<PredictedOutcome, PredictedOutcome> {
    let release = opened.release;
    let position = opened.entries.as_ref().map_err(|outcome| *outcome)?.select(platform)?;
    let Some(entry) = release.entries.get(position) else {
        return Err(PredictedOutcome::Unread(Rejection::RepositoryUnreadable));
    };
    let leaf = read_leaf(entry)?;
    let part = select_layer(&leaf, &entry.leaf)?;
    check_layer(&part.descriptor, platform)?;
    let Some(package) = fetch(part)? else { return Ok(PredictedOutcome::InstallsAsFarAsSeen) };
    unzip(package, provider, room(release, platform, provider))
}

/// The tag's head.
fn resolve(document: &FoundDocument) -> Result<(), PredictedOutcome> {
    if document.sent_digest.is_none() {
        return refuse(Rejection::RegistryAnswer);
    }
    match sent_type(document).as_str() {
        INDEX => Ok(()),
        MANIFEST => refuse(Rejection::NotAnIndex),
        _ => refuse(Rejection::IndexMediaType),
    }
}

fn read_index(document: &FoundDocument) -> Result<GoIndex, PredictedOutcome> {
    check_content(document, length(document))?;
    let (index, reading) = GoIndex::read(&document.bytes);
    match reading {
        GoReading::Good => {}
        GoReading::NotPredicted => return Err(PredictedOutcome::Unread(Rejection::Malformed)),
        GoReading::Refused => {
            // A manifest of the other kind has a reason of its own.
            let (manifest, reading) = GoManifest::read(&document.bytes);
            let other = reading == GoReading::Good && manifest.media_type == MANIFEST;
            return refuse(if other { Rejection::NotAnIndex } else { Rejection::ManifestNotJson });
        }
    }
    check_body(&index.media_type, INDEX, &index.artifact_type, PROVIDER)?;
    Ok(index)
}

/// The entries of an index as `OpenTofu` sorts them.
struct Entries {
    /// The first entry that ends the installation, whichever platform it is for.
    fatal: Option<Rejection>,
    by_platform: HashMap<(String, String), Vec<usize>>,
    /// Whether any entry is of the right artifact type.
    packages: bool,
    /// Whether any entry is of another artifact type.
    foreign: bool,
}

impl Entries {
    fn of(entries: &[GoDescriptor]) -> Self {
        let mut all = Self { fatal: None, by_platform: HashMap::new(), packages: false, foreign: false };
        for (position, entry) in entries.iter().enumerate() {
            if entry.artifact_type != TARGET {
                all.foreign |= !entry.artifact_type.is_empty();
                continue;
            }
            all.packages = true;
            match &entry.platform {
                _ if entry.media_type != MANIFEST => all.fatal = Some(Rejection::LeafMediaType),
                None => all.fatal = Some(Rejection::LeafWithoutPlatform),
                Some(own) if own.os_version.is_empty() => {
                    let name = (own.os.clone(), own.architecture.clone());
                    all.by_platform.entry(name).or_default().push(position);
                }
                Some(_) => {}
            }
            if all.fatal.is_some() {
                break;
            }
        }
        all
    }

    fn select(&self, platform: &Platform) -> Result<usize, PredictedOutcome> {
        if let Some(fatal) = self.fatal {
            return refuse(fatal);
        }
        let found = self.by_platform.get(&(platform.os().to_owned(), platform.arch().to_owned()));
        match found.map(Vec::as_slice) {
            Some([only]) => Ok(*only),
            Some([_, ..]) => refuse(Rejection::DuplicatePlatform),
            _ if self.packages => refuse(Rejection::PlatformNotOffered),
            _ if self.foreign => refuse(Rejection::IndexOrLeafArtifactType),
            _ => refuse(Rejection::NoProviderLeaf),
        }
    }
}

fn read_leaf(entry: &IndexEntry) -> Result<GoManifest, PredictedOutcome> {
    let descriptor = &entry.descriptor;
    if descriptor.size >= MANIFEST_GATE {
        return refuse(Rejection::ManifestTooLarge);
    }
    let document = entry.leaf.manifest.found.as_ref().map_err(|fault| match fault.kind {
        // Larger than any size in a descriptor: the lengths differ.
        FaultKind::TooLarge => PredictedOutcome::Refuses(Rejection::SizeMismatch),
        _ => unreadable(fault, Rejection::ManifestNotFound),
    })?;
    if sent_type(document) != descriptor.media_type {
        return refuse(Rejection::ManifestContentType);
    }
    check_content(document, descriptor.size)?;
    let (manifest, reading) = GoManifest::read(&document.bytes);
    match reading {
        GoReading::Good => {}
        GoReading::NotPredicted => return Err(PredictedOutcome::Unread(Rejection::Malformed)),
        GoReading::Refused => {
            let (index, reading) = GoIndex::read(&document.bytes);
            let other = reading == GoReading::Good && index.media_type == INDEX;
            return refuse(if other { Rejection::LeafMediaType } else { Rejection::ManifestNotJson });
        }
    }
    check_body(&manifest.media_type, &descriptor.media_type, &manifest.artifact_type, TARGET)?;
    Ok(manifest)
}

fn select_layer<'a>(manifest: &GoManifest, leaf: &'a FoundLeaf) -> Result<&'a LeafPart, PredictedOutcome> {
    leaf.layers.get(select_zip(manifest)?).ok_or(PredictedOutcome::Unread(Rejection::RepositoryUnreadable))
}

fn select_zip(manifest: &GoManifest) -> Result<usize, PredictedOutcome> {
    match manifest.zips().as_slice() {
        [only] => Ok(*only),
        [] if manifest.layers.is_empty() => refuse(Rejection::NoZipLayer),
        [] => refuse(Rejection::NoZipLayerOtherFormat),
        _ => refuse(Rejection::SeveralPackages),
    }
}

fn check_layer(descriptor: &GoDescriptor, platform: &Platform) -> Result<(), PredictedOutcome> {
    match descriptor.parsed_digest().map(|digest| digest.algorithm()) {
        Some(Algorithm::Sha256) => {}
        _ => return refuse(Rejection::DigestAlgorithm),
    }
    match &descriptor.platform {
        Some(own) if own.os != platform.os() || own.architecture != platform.arch() => refuse(Rejection::LayerPlatform),
        _ => Ok(()),
    }
}

/// The package, if its contents were read.
fn fetch(part: &LeafPart) -> Result<Option<&PackageFacts>, PredictedOutcome> {
    let FoundBlob { content, .. } = part.blob.as_ref();
    match content {
        Ok(BlobContent::Package(package)) => {
            if i64::try_from(package.size) != Ok(part.descriptor.size) {
                return refuse(Rejection::SizeMismatch);
            }
            if !package.intact {
                return refuse(Rejection::DigestMismatch);
            }
            Ok(Some(package))
        }
        Ok(BlobContent::There | BlobContent::Document { .. }) => Ok(None),
        Err(fault) if fault.kind == FaultKind::WrongSize => refuse(Rejection::SizeMismatch),
        Err(fault) => Err(unreadable(fault, Rejection::BlobNotFound)),
    }
}

fn unzip(
    package: &PackageFacts,
    provider: AskedProvider<'_>,
    room: usize,
) -> Result<PredictedOutcome, PredictedOutcome> {
    let zip = package.zip.as_ref().map_err(|fault| PredictedOutcome::Refuses(fault.because()))?;
    let unpacked = unpack(zip, room).map_err(PredictedOutcome::Refuses)?;
    if !unpacked.root_files().any(|name| provider.is_executable(name)) {
        return refuse(Rejection::ExecutableNotFound);
    }
    if unpacked.has_line_break() {
        return refuse(Rejection::EntryNotWritable);
    }
    Ok(if zip.complete { PredictedOutcome::Installs } else { PredictedOutcome::InstallsAsFarAsSeen })
}

/// The longest path in the package, in bytes: 4095 on Linux, less the package's folder.
fn room(release: &FoundRelease, platform: &Platform, provider: AskedProvider<'_>) -> usize {
    let folder = match provider {
        AskedProvider::Named(address) => format!(".terraform/providers/{address}/{}/{platform}/", release.version),
        AskedProvider::Unnamed => String::new(),
    };
    4095_usize.saturating_sub(folder.len())
}

/// Size and digest of a manifest against its descriptor.
pub(super) fn check_content(document: &FoundDocument, size: i64) -> Result<(), PredictedOutcome> {
    if size >= MANIFEST_GATE {
        return refuse(Rejection::ManifestTooLarge);
    }
    if length(document) != size {
        return refuse(Rejection::SizeMismatch);
    }
    if document.digest.algorithm() == Algorithm::Other {
        return refuse(Rejection::DigestAlgorithm);
    }
    let other = document.sent_digest.as_ref().is_some_and(|sent| *sent != document.digest);
    if other || document.actual_digest() != document.digest {
        return refuse(Rejection::DigestMismatch);
    }
    Ok(())
}

pub(super) fn length(document: &FoundDocument) -> i64 {
    i64::try_from(document.bytes.len()).unwrap_or(i64::MAX)
}

/// The types that a document names: first the media type, then the artifact type.
fn check_body(
    media_type: &str,
    want_media: &str,
    artifact_type: &str,
    want_artifact: &str,
) -> Result<(), PredictedOutcome> {
    if media_type != want_media {
        return refuse(Rejection::BodyMediaTypeMissing);
    }
    if artifact_type != want_artifact {
        return refuse(Rejection::IndexOrLeafArtifactType);
    }
    Ok(())
}

/// The media type that a manifest is sent as, as Go's `mime` reads the header.
pub(super) fn sent_type(document: &FoundDocument) -> String {
    let text = document.media_type.as_deref().unwrap_or_default();
    text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

pub(super) fn unreadable(fault: &ReadFault, missing: Rejection) -> PredictedOutcome {
    match fault.kind {
        FaultKind::Missing | FaultKind::Unaddressable => PredictedOutcome::Refuses(missing),
        FaultKind::TooLarge => PredictedOutcome::Refuses(Rejection::ManifestTooLarge),
        FaultKind::WrongSize => PredictedOutcome::Refuses(Rejection::SizeMismatch),
        FaultKind::WrongDigest => PredictedOutcome::Refuses(Rejection::DigestMismatch),
        FaultKind::Unusable | FaultKind::Unasked | FaultKind::NotRead => {
            PredictedOutcome::Unread(Rejection::RepositoryUnreadable)
        }
    }
}

fn refuse<T>(because: Rejection) -> Result<T, PredictedOutcome> {
    Err(PredictedOutcome::Refuses(because))
}

#[cfg(test)]
mod tests;
