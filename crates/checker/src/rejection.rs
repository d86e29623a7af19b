//! Why `OpenTofu` refuses.

use tofu_oci_fault::Fault;

use std::fmt;

use serde::{Serialize, Serializer};

/// Why `OpenTofu` does not install a provider's package or a module; one variant for each of its messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Fault)]
#[non_exhaustive]
#[fault(named)]
pub enum Rejection {
    /// No tag is a version.
    NoVersions,
    /// Some tags are versions, but all are prereleases, or none is the requested version.
    NoMatchingVersion,
    /// The requested version is 0.0.0, which `OpenTofu` takes for no version.
    UnspecifiedVersion,
    /// The tag of the chosen version does not exist.
    TagNotFound,
    /// The registry's answer for the tag has no `Docker-Content-Digest`.
    RegistryAnswer,
    /// The tag points at a leaf's manifest.
    NotAnIndex,
    /// The tag points at something that is not an OCI index.
    IndexMediaType,
    /// A manifest does not exist.
    ManifestNotFound,
    /// The `Content-Type` of a manifest differs from the media type in its descriptor.
    ManifestContentType,
    /// A manifest of 5 MiB or more.
    ManifestTooLarge,
    /// Go cannot read a manifest.
    ManifestNotJson,
    /// The document's own `mediaType` is missing or differs.
    BodyMediaTypeMissing,
    /// The `artifactType` in an index or a leaf, or of the entries, differs.
    IndexOrLeafArtifactType,
    /// No entry of the index has the artifact type of a provider's package.
    NoProviderLeaf,
    /// An entry with that artifact type is not an OCI manifest.
    LeafMediaType,
    /// An entry with that artifact type names no platform.
    LeafWithoutPlatform,
    /// No entry is for the platform.
    PlatformNotOffered,
    /// Several entries are for the platform.
    DuplicatePlatform,
    /// The leaf has no layer at all.
    NoZipLayer,
    /// No layer of the leaf is `archive/zip`.
    NoZipLayerOtherFormat,
    /// The leaf has several layers that are `archive/zip`.
    SeveralPackages,
    /// The layer names another platform than the entry.
    LayerPlatform,
    /// A digest is invalid, or of an algorithm that `OpenTofu` does not accept.
    DigestAlgorithm,
    /// The layer's blob does not exist.
    BlobNotFound,
    /// The size of a manifest or blob differs from its descriptor.
    SizeMismatch,
    /// The digest of a manifest or blob differs from its descriptor.
    DigestMismatch,
    /// The layer is not a zip.
    NotAZip,
    /// The zip has no entries.
    EmptyArchive,
    /// The name of an entry leads out of the package.
    UnsafeEntry,
    /// The zip cannot be unpacked: an entry's contents are damaged or packed in a way that Go does not know.
    DamagedArchive,
    /// An entry of the zip cannot become a file: another entry has its path, or no file can have its name.
    EntryNotWritable,
    /// The package has no executable of the provider's name in its root.
    ExecutableNotFound,
    /// `OpenTofu` crashes.
    Crash,
    /// The registry was read over plain HTTP, and `OpenTofu` uses only TLS.
    PlainHttp,
    /// The repository could not be read.
    RepositoryUnreadable,
    /// A manifest is malformed in a way that is not modelled: what `OpenTofu` does is not predicted.
    Malformed,
    /// A module: the digest in its source does not exist.
    DigestNotFound,
    /// A module: the manifest is not an OCI image manifest.
    NotAnImageManifest,
    /// A module: the manifest's `artifactType` differs.
    ArtifactType,
    /// A module: the manifest has several layers that are `archive/zip`.
    SeveralZipLayers,
    /// A module: the digest of the manifest differs.
    ManifestDigestMismatch,
    /// A module: the digest of the package differs.
    BlobMismatch,
    /// A module: the folder after `//` is not one of the package.
    SubdirMissing,
    /// A module: the wildcards after `//` match several folders and files.
    SubdirAmbiguous,
    /// A module: the folder after `//` is outside of the package.
    SubdirEscapes,
    /// A module calls a folder outside of its package.
    CallEscapesPackage,
    /// A module calls a folder that its package does not have.
    CallMissing,
    /// A module calls itself, directly or through others.
    CallLoop,
    /// The configuration of a module is not valid.
    InvalidConfiguration,
    /// The source of a module: what stands before `//` and `?` is not a repository.
    RepositoryName,
    /// The source of a module: it reads as an archive.
    ArchiveArgument,
    /// The source of a module: it has the argument `checksum`.
    ChecksumArgument,
    /// The source of a module: `tag` or `digest` is empty.
    ArgumentEmpty,
    /// The source of a module: an argument is there twice.
    ArgumentRepeated,
    /// The source of a module: it has another argument than `tag` and `digest`.
    UnknownArgument,
    /// The source of a module: the tag breaks the grammar.
    TagMalformed,
    /// The source of a module: the digest breaks the grammar.
    DigestMalformed,
    /// The source of a module: it has both a tag and a digest.
    TagAndDigest,
    /// The source of a module: after `oci::` stands another scheme.
    SchemeNotOci,
}

/// The code.
impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl Serialize for Rejection {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}
