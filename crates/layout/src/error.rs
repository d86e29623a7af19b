//! What can be wrong with a release's manifests.

use tofu_oci_types::{Digest, Platform};

use crate::DocumentKind;

/// Why some bytes are not a provider release, or cannot become one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LayoutError {
    /// The tag names something other than a release.
    #[error("this is {found}, not a provider release: expected an image index with a package for each platform")]
    NotAProviderIndex { found: DocumentKind },
    /// An index entry leads to something other than a package.
    #[error("{digest} is {found}, not a provider package: expected {expected}")]
    NotAProviderPackage { digest: Digest, found: DocumentKind, expected: &'static str },
    /// A container image without the label.
    #[error(
        "this is a plain container image, not a provider package: its config has no label \
         org.opentofu.package-type=provider_binary"
    )]
    NoProviderLabel,
    /// A container image whose label says that it is something else.
    #[error("this is a package of type `{found}`: the label org.opentofu.package-type must be provider_binary")]
    OtherPackageType { found: String },
    /// The release has packages, but none for this platform.
    #[error("this release has no package for {platform}")]
    PlatformNotOffered {
        platform: Platform,
        /// What the release has, sorted.
        offered: Vec<Platform>,
    },
    /// The release has several packages for this platform, and nothing says which one is meant.
    #[error("this release has {} packages for {platform}", .digests.len())]
    AmbiguousPlatform { platform: Platform, digests: Vec<Digest> },
    /// An index in which nothing is a provider package.
    #[error("this index has no provider package{}", found_types(.found))]
    NoProviderPackages {
        /// Artifact types of the entries that it does have, sorted.
        found: Vec<String>,
    },
    /// Entries are marked as packages, the index itself is not.
    #[error(
        "this index has provider packages but no artifactType: expected application/vnd.opentofu.provider on the index"
    )]
    UnmarkedIndex,
    /// An entry that is marked as a package does not say for which platform it is.
    #[error("the provider package {digest} has no platform in its index entry")]
    NoPlatform { digest: Digest },
    /// An entry that is marked as a package is not an image manifest.
    #[error(
        "the provider package {digest} has media type `{found}`: expected application/vnd.oci.image.manifest.v1+json"
    )]
    LeafMediaType { digest: Digest, found: String },
    /// The index entry and the manifest disagree about the artifact type.
    #[error(
        "{digest} has artifactType {} in its index entry and {} in itself",
        quoted(.descriptor.as_deref()),
        quoted(.body.as_deref())
    )]
    ArtifactTypeMismatch { digest: Digest, descriptor: Option<String>, body: Option<String> },
    /// The document names another media type than its descriptor.
    #[error("{digest} has mediaType {}: expected `{expected}`", quoted(.found.as_deref()))]
    BodyMediaType { digest: Digest, expected: String, found: Option<String> },
    /// A document that can be taken for two things.
    #[error("{digest} is ambiguous: it has both `manifests` and `{member}`")]
    Confused {
        digest: Digest,
        /// `layers`, `config` or `fsLayers`.
        member: &'static str,
    },
    /// No zip among the layers of an artifact leaf.
    #[error("the provider package {digest} has no layer of type archive/zip{}", found_types(.found))]
    NoPackageLayer { digest: Digest, found: Vec<String> },
    /// Several zips among the layers of an artifact leaf.
    #[error("the provider package {digest} has {count} layers of type archive/zip: expected one")]
    SeveralPackageLayers { digest: Digest, count: usize },
    /// A layer of an image leaf that is not a tar file.
    #[error("the image {digest} has a layer of type `{found}`, which is not an image layer")]
    LayerMediaType { digest: Digest, found: String },
    /// The layer is for another platform than its leaf.
    #[error("the layer {digest} is for {found}, its package for {expected}")]
    LayerPlatform {
        digest: Digest,
        /// What the layer says, `OS_ARCH`.
        found: String,
        /// What the index entry says, `OS_ARCH`.
        expected: String,
    },
    /// A package whose digest is of an algorithm that `OpenTofu` does not take.
    #[error("the package {digest} must have a sha256 digest")]
    PackageDigest { digest: Digest },
    /// A document that is larger than the limit.
    #[error("{digest} has {size} bytes: at most {limit} are read")]
    TooLarge {
        digest: Digest,
        /// Its size in bytes.
        size: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// More entries or layers than the limit.
    #[error("{digest} has {count} {what}: at most {limit} are read")]
    TooMany {
        digest: Digest,
        /// `entries` or `layers`.
        what: &'static str,
        count: usize,
        limit: usize,
    },
    /// The bytes are not JSON, or not of the expected shape.
    #[error("{what} is malformed: {problem}")]
    Malformed { what: String, problem: String },
    /// The address that it says it is of is not an address.
    #[error("its annotation {annotation} is not an address: {problem}")]
    Address { annotation: &'static str, problem: String },
    /// Nothing to plan from: the layout needs something that the package does not have.
    #[error("the {kind} layout needs the {needs} of {platform}")]
    Incomplete {
        kind: crate::LeafKind,
        /// `zip` or `layer`.
        needs: &'static str,
        platform: Platform,
    },
}

impl LayoutError {
    /// A stable kebab-case name of what went wrong: the measured name of `OpenTofu` if it fails in the same way.
    ///
    /// Spec: `real-tofu-sources.md` (measured), §4 and §8.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotAProviderIndex {
                found: DocumentKind::ProviderTarget | DocumentKind::ContainerImage | DocumentKind::SingleManifest,
            } => "not-an-index",
            Self::NotAProviderIndex { .. }
            | Self::UnmarkedIndex
            | Self::NotAProviderPackage { .. }
            | Self::ArtifactTypeMismatch { .. }
            | Self::NoProviderLabel
            | Self::OtherPackageType { .. } => "artifact-type",
            Self::PlatformNotOffered { .. } => "platform-not-supported",
            Self::AmbiguousPlatform { .. } => "ambiguous-platform",
            Self::NoProviderPackages { .. } => "no-provider-manifest",
            Self::NoPlatform { .. } => "descriptor-platform-missing",
            Self::NoPackageLayer { .. } => "no-zip-layer",
            Self::SeveralPackageLayers { .. } => "several-zip-layers",
            Self::LeafMediaType { .. } | Self::BodyMediaType { .. } => "media-type",
            _ => "bad-layout",
        }
    }
}

fn quoted(text: Option<&str>) -> String {
    text.map_or_else(|| "none".to_owned(), |text| format!("`{text}`"))
}

fn found_types(found: &[String]) -> String {
    if found.is_empty() { String::new() } else { format!(", only {}", found.join(", ")) }
}
