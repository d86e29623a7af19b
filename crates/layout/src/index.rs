//! The index of a release, read: which platforms it offers.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::str::FromStr;

use tofu_oci_types::{Descriptor, Digest, OciPlatform, PackageHash, Platform, ProviderAddr, Version};

use crate::document::{self, MAX_ENTRIES, MAX_NESTING, ManifestDocument};
use crate::{CreationTime, DocumentKind, LayoutError, LeafKind, PackageLayout, annotation, artifact_type, media_type};

/// The index that a release's tag names, as a view of its bytes.
///
/// An OCI index or a Docker manifest list. An index whose `artifactType` is the provider's holds artifact leaves and,
/// beside them, possibly images; one without an `artifactType` holds images. Whether an image is a provider shows in
/// its config only ([`crate::ImageConfig::require_provider_label`]).
#[derive(Clone, Debug)]
pub struct ReleaseIndex {
    digest: Digest,
    marked: bool,
    artifacts: Vec<Descriptor>,
    images: Vec<Descriptor>,
    nested: Vec<Nested>,
    other_types: BTreeSet<String>,
    entries: usize,
    annotations: BTreeMap<String, String>,
}

#[derive(Clone, Debug)]
struct Nested {
    entry: Descriptor,
    depth: usize,
}

/// The address in an annotation, if it has one.
pub(crate) fn said_address<A: FromStr<Err: Display>>(
    annotations: &BTreeMap<String, String>,
    annotation: &'static str,
) -> Result<Option<A>, LayoutError> {
    let Some(text) = annotations.get(annotation) else { return Ok(None) };
    let problem = |error: A::Err| LayoutError::Address { annotation, problem: error.to_string() };
    text.parse().map(Some).map_err(problem)
}

/// What the annotations of an index say about the release. Claims: nothing here has been compared with a package.
///
/// Annotations that do not parse are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claims {
    pub address: Option<ProviderAddr>,
    pub version: Option<Version>,
    /// The plugin protocol versions.
    pub protocols: Vec<String>,
    /// What is said about each platform's package.
    pub platforms: BTreeMap<Platform, PlatformClaims>,
}

/// What the annotations say about one platform's package. Where two entries of one platform say different things, the
/// artifact's word counts, and the first entry's among equals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlatformClaims {
    /// The checksum of the package's contents.
    pub h1: Option<PackageHash>,
    /// The checksum of the release's zip.
    pub zh: Option<PackageHash>,
    /// The size of the zip in bytes.
    pub size: Option<u64>,
    /// The file name of the zip.
    pub filename: Option<String>,
    /// The digest of the small layer.
    pub small: Option<Digest>,
}

/// Whether what a tag resolved to can be a release, judged by the descriptor alone, before anything is fetched.
///
/// For a single manifest, [`ReleaseIndex::parse`] on its bytes refuses with better words: it distinguishes a Helm chart from
/// a signature.
///
/// # Errors
/// [`LayoutError::NotAProviderIndex`], or [`LayoutError::TooLarge`].
///
/// Spec: `OpenTofu` 1.12 `oci_registry_mirror_source.go`; Docker manifest lists are taken as well, for images.
pub fn check_release(descriptor: &Descriptor) -> Result<(), LayoutError> {
    let artifact = descriptor.artifact_type.as_deref().unwrap_or_default();
    if !media_type::is_index(&descriptor.media_type) || !matches!(artifact, "" | artifact_type::PROVIDER) {
        return Err(LayoutError::NotAProviderIndex { found: DocumentKind::of(descriptor) });
    }
    document::require_size(descriptor)
}

impl ReleaseIndex {
    /// Reads an index whose bytes have been checked against the descriptor's digest. At most 4 MiB, 1000 entries.
    ///
    /// # Errors
    /// [`LayoutError::NotAProviderIndex`] names what was found instead. Stricter than released `OpenTofu` in three
    /// ways: a member that is there twice, a document with both `manifests` and `layers`, and the limits.
    ///
    /// Spec: OCI image-spec 1.1.1, image-index.md; `OpenTofu` 1.12 `oci_registry_mirror_source.go`.
    pub fn parse(descriptor: &Descriptor, bytes: &[u8]) -> Result<Self, LayoutError> {
        let digest = &descriptor.digest;
        if matches!(DocumentKind::of(descriptor), DocumentKind::DockerSchema1 | DocumentKind::Other(_)) {
            return Err(LayoutError::NotAProviderIndex { found: DocumentKind::of(descriptor) });
        }
        let document = ManifestDocument::parse(descriptor, bytes)?;
        let marked = match document.artifact_type.as_deref() {
            None => false,
            Some(artifact_type::PROVIDER) => true,
            Some(_) => return Err(LayoutError::NotAProviderIndex { found: document.kind(descriptor) }),
        };
        if !media_type::is_index(&descriptor.media_type) {
            return Err(LayoutError::NotAProviderIndex { found: document.kind(descriptor) });
        }
        check_release(descriptor)?;
        if marked {
            document.require_media_type(descriptor)?;
        }
        let entries: Vec<Descriptor> = document.member(digest, "manifests")?;
        let mut index = Self {
            digest: digest.clone(),
            marked,
            artifacts: Vec::new(),
            images: Vec::new(),
            nested: Vec::new(),
            other_types: BTreeSet::new(),
            entries: 0,
            annotations: document.member(digest, "annotations")?,
        };
        index.count(entries.len())?;
        for entry in entries {
            index.take(entry, 1);
        }
        if !marked && !index.artifacts.is_empty() && index.images.is_empty() && index.nested.is_empty() {
            return Err(LayoutError::UnmarkedIndex);
        }
        Ok(index)
    }

    fn take(&mut self, entry: Descriptor, depth: usize) {
        let artifact = entry.artifact_type.as_deref().unwrap_or_default();
        if artifact == artifact_type::PROVIDER_TARGET {
            self.artifacts.push(entry);
        } else if !document::is_image_entry(&entry) {
            if !artifact.is_empty() {
                self.other_types.insert(artifact.to_owned());
            }
        } else if media_type::is_index(&entry.media_type) {
            self.nested.push(Nested { entry, depth });
        } else {
            self.images.push(entry);
        }
    }

    fn count(&mut self, more: usize) -> Result<(), LayoutError> {
        self.entries += more;
        if self.entries > MAX_ENTRIES {
            return Err(LayoutError::TooMany {
                digest: self.digest.clone(),
                what: "entries",
                count: self.entries,
                limit: MAX_ENTRIES,
            });
        }
        Ok(())
    }

    /// Nested indexes that must be fetched and [absorbed](Self::absorb) before [`select`](crate::select()) can answer for this
    /// platform; empty when it can, and always when there is an artifact leaf, which is never looked for deeper.
    pub fn unread(&self, platform: &Platform) -> Vec<Descriptor> {
        if self.marked && self.artifacts.iter().any(|entry| is_for(entry, platform)) {
            return Vec::new();
        }
        self.nested().into_iter().filter(|entry| entry.platform.is_none() || is_for(entry, platform)).collect()
    }

    /// Every nested index that has not been absorbed.
    pub fn nested(&self) -> Vec<Descriptor> {
        self.nested.iter().map(|nested| nested.entry.clone()).collect()
    }

    /// Takes in the images of a nested index. Entries without a platform have that of the nested index's own entry.
    ///
    /// # Errors
    /// [`LayoutError::TooMany`] with more than 1000 entries altogether, or deeper than 4 levels.
    pub fn absorb(&mut self, nested: &Digest, child: Self) -> Result<(), LayoutError> {
        let Some(at) = self.nested.iter().position(|known| known.entry.digest == *nested) else { return Ok(()) };
        let Nested { entry: parent, depth } = self.nested.remove(at);
        if depth >= MAX_NESTING && !child.nested.is_empty() {
            return Err(LayoutError::TooMany {
                digest: self.digest.clone(),
                what: "levels of nested indexes",
                count: depth + 1,
                limit: MAX_NESTING,
            });
        }
        self.count(child.entries)?;
        let inherit = |mut entry: Descriptor| {
            entry.platform = entry.platform.or_else(|| parent.platform.clone());
            entry
        };
        self.images.extend(child.images.into_iter().map(inherit));
        let deeper = child.nested.into_iter().map(|nested| Nested { entry: inherit(nested.entry), depth: depth + 1 });
        self.nested.extend(deeper);
        self.other_types.extend(child.other_types);
        Ok(())
    }

    /// How the release is laid out, as far as the index says.
    pub fn layout(&self) -> PackageLayout {
        match (self.marked, self.images.is_empty() && self.nested.is_empty()) {
            (false, _) => PackageLayout::Image,
            (true, true) => PackageLayout::Artifact,
            (true, false) => PackageLayout::Both,
        }
    }

    /// The platforms that the release has packages for, sorted. Of a nested index that has not been absorbed, what its
    /// own entry says.
    pub fn platforms(&self) -> Vec<Platform> {
        let offered: BTreeSet<Platform> = self
            .artifact_entries()
            .iter()
            .filter(|entry| !has_os_version(entry))
            .chain(&self.images)
            .chain(self.nested.iter().map(|nested| &nested.entry))
            .filter_map(platform_of)
            .collect();
        offered.into_iter().collect()
    }

    /// The kind of leaf that an entry of this index leads to.
    pub fn kind(&self, entry: &Descriptor) -> LeafKind {
        match entry.artifact_type.as_deref() {
            Some(artifact_type::PROVIDER_TARGET) => LeafKind::Artifact,
            _ => LeafKind::Image,
        }
    }

    /// The provider that it says it is of; `None` if it does not say.
    ///
    /// # Errors
    /// If the text is not an address: then the release could be anyone's.
    pub fn address(&self) -> Result<Option<ProviderAddr>, LayoutError> {
        said_address(&self.annotations, annotation::ADDRESS)
    }

    /// What the annotations claim.
    pub fn claims(&self) -> Claims {
        let text = |key| self.annotations.get(key).map(String::as_str).unwrap_or_default();
        let protocols = text(annotation::PROTOCOLS).split(',').map(str::trim).filter(|part| !part.is_empty());
        let mut claims = Claims {
            address: self.address().ok().flatten(),
            version: text(annotation::VERSION).parse().ok(),
            protocols: protocols.map(ToOwned::to_owned).collect(),
            platforms: BTreeMap::new(),
        };
        for entry in self.artifact_entries().iter().chain(&self.images) {
            if let Some(platform) = platform_of(entry) {
                claims.platforms.entry(platform).or_default().take(entry);
            }
        }
        claims
    }

    /// When the release was made, by the annotation of its index.
    pub fn created(&self) -> Option<CreationTime> {
        CreationTime::read(self.annotations.get(annotation::CREATED)?)
    }

    pub(crate) fn artifact_entries(&self) -> &[Descriptor] {
        if self.marked { &self.artifacts } else { &[] }
    }

    pub(crate) fn image_entries(&self) -> &[Descriptor] {
        &self.images
    }

    /// Whether anything in the index can be a package.
    pub(crate) fn has_packages(&self) -> bool {
        !(self.artifact_entries().is_empty() && self.images.is_empty() && self.nested.is_empty())
    }

    pub(crate) fn other_types(&self) -> Vec<String> {
        self.other_types.iter().cloned().collect()
    }
}

impl PlatformClaims {
    fn take(&mut self, entry: &Descriptor) {
        use tofu_oci_types::Scheme;
        let text = |key: &str| entry.annotations.get(key);
        let hash = |key, scheme| {
            text(key).and_then(|text| text.parse::<PackageHash>().ok()).filter(|hash| hash.scheme() == scheme)
        };
        self.h1 = self.h1.take().or_else(|| hash(annotation::H1, Scheme::H1));
        self.zh = self.zh.take().or_else(|| hash(annotation::ZH, Scheme::Zh));
        self.size = self.size.or_else(|| text(annotation::SIZE).and_then(|size| size.parse().ok()));
        self.filename = self.filename.take().or_else(|| text(annotation::FILENAME).cloned());
        self.small = self.small.take().or_else(|| text(annotation::SMALL).and_then(|digest| digest.parse().ok()));
    }
}

/// The platform of an entry, if its names are valid.
pub(crate) fn platform_of(entry: &Descriptor) -> Option<Platform> {
    let OciPlatform { os, architecture, .. } = entry.platform.as_ref()?;
    if os.is_empty() || architecture.is_empty() {
        return None;
    }
    format!("{os}_{architecture}").parse().ok()
}

pub(crate) fn is_for(entry: &Descriptor, platform: &Platform) -> bool {
    entry.platform.as_ref().is_some_and(|own| own.os == platform.os() && own.architecture == platform.arch())
}

pub(crate) fn has_os_version(entry: &Descriptor) -> bool {
    entry.platform.as_ref().and_then(|platform| platform.os_version.as_deref()).is_some_and(|text| !text.is_empty())
}
