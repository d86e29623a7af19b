//! Why `OpenTofu` refuses.

use std::fmt;

use serde::{Serialize, Serializer};

/// Why `OpenTofu` does not install a package: one name for one thing that it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Because {
    /// No tag reads as a version.
    NoVersions,
    /// Tags read as versions, and none of them may be chosen: prereleases alone, or not the one that is asked for.
    NoMatchingVersion,
    /// The version 0.0.0 is asked for, which means none.
    UnspecifiedVersion,
    /// The tag of the version that it chose is not there.
    TagNotFound,
    /// The registry's answer for the tag has no `Docker-Content-Digest`.
    RegistryAnswer,
    /// The tag points at a leaf's manifest.
    NotAnIndex,
    /// The tag points at something of another media type than an OCI index.
    IndexMediaType,
    /// A manifest is not there.
    ManifestNotFound,
    /// A manifest is sent with another `Content-Type` than the one that names it.
    ManifestContentType,
    /// A manifest of 5 MiB or more.
    ManifestTooLarge,
    /// A manifest that Go cannot read as one.
    ManifestNotJson,
    /// The document's own `mediaType` is missing or another one.
    BodyMediaTypeMissing,
    /// The `artifactType` in an index or a leaf, or of the entries, is another one.
    IndexOrLeafArtifactType,
    /// No entry of the index has the artifact type of a provider's package.
    NoProviderLeaf,
    /// An entry with that artifact type is of another media type than an OCI manifest.
    LeafMediaType,
    /// An entry with that artifact type names no platform.
    LeafWithoutPlatform,
    /// No entry is for the platform.
    PlatformNotOffered,
    /// Several entries are for the platform.
    DuplicatePlatform,
    /// The leaf has no layer at all.
    NoZipLayer,
    /// The leaf has layers, and none is `archive/zip`.
    NoZipLayerOtherFormat,
    /// The leaf has several layers that are `archive/zip`.
    SeveralPackages,
    /// The layer names another platform than the entry.
    LayerPlatform,
    /// A digest that is not a digest, or of an algorithm that `OpenTofu` does not take.
    DigestAlgorithm,
    /// The layer's blob is not there.
    BlobNotFound,
    /// Something has another size than its descriptor says.
    SizeMismatch,
    /// Something has another digest than its descriptor says.
    DigestMismatch,
    /// The layer is not a zip.
    NotAZip,
    /// The zip has no entries.
    EmptyArchive,
    /// The zip has an entry whose name leads out of the package.
    UnsafeEntry,
    /// The zip cannot be unpacked: an entry's contents are damaged or packed in a way that Go does not know.
    DamagedArchive,
    /// An entry of the zip cannot become a file: another one stands in its way, or no file can have its name.
    EntryNotWritable,
    /// The package has no executable of the provider's name in its root.
    ExecutableNotFound,
    /// The program crashes.
    Crash,
    /// The registry was spoken to by plain HTTP, and `OpenTofu` speaks TLS alone.
    PlainHttp,
    /// The repository could not be read.
    RepositoryUnreadable,
}

impl Because {
    /// Its stable name.
    pub fn code(self) -> &'static str {
        match self {
            Self::NoVersions => "no-versions",
            Self::NoMatchingVersion => "no-matching-version",
            Self::UnspecifiedVersion => "unspecified-version",
            Self::TagNotFound => "tag-not-found",
            Self::RegistryAnswer => "registry-answer",
            Self::NotAnIndex => "not-an-index",
            Self::IndexMediaType => "index-media-type",
            Self::ManifestNotFound => "manifest-not-found",
            Self::ManifestContentType => "manifest-content-type",
            Self::ManifestTooLarge => "manifest-too-large",
            Self::ManifestNotJson => "manifest-not-json",
            Self::BodyMediaTypeMissing => "body-media-type-missing",
            Self::IndexOrLeafArtifactType => "index-or-leaf-artifact-type",
            Self::NoProviderLeaf => "no-provider-leaf",
            Self::LeafMediaType => "leaf-media-type",
            Self::LeafWithoutPlatform => "leaf-without-platform",
            Self::PlatformNotOffered => "platform-not-offered",
            Self::DuplicatePlatform => "duplicate-platform",
            Self::NoZipLayer => "no-zip-layer",
            Self::NoZipLayerOtherFormat => "no-zip-layer-other-format",
            Self::SeveralPackages => "several-packages",
            Self::LayerPlatform => "layer-platform",
            Self::DigestAlgorithm => "digest-algorithm",
            Self::BlobNotFound => "blob-not-found",
            Self::SizeMismatch => "size-mismatch",
            Self::DigestMismatch => "digest-mismatch",
            Self::NotAZip => "not-a-zip",
            Self::EmptyArchive => "empty-archive",
            Self::UnsafeEntry => "unsafe-entry",
            Self::DamagedArchive => "damaged-archive",
            Self::EntryNotWritable => "entry-not-writable",
            Self::ExecutableNotFound => "executable-not-found",
            Self::Crash => "crash",
            Self::PlainHttp => "plain-http",
            Self::RepositoryUnreadable => "repository-unreadable",
        }
    }
}

/// The code.
impl fmt::Display for Because {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl Serialize for Because {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}
