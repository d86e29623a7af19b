//! What can be wrong with a release's manifests.

use tofu_oci_fault::Fault;
use tofu_oci_types::{Digest, Platform};

use crate::DocumentKind;

/// Why some bytes are not a provider release, or cannot become one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Fault)]
#[non_exhaustive]
#[fault(code = "bad-layout")]
pub enum LayoutError {
    /// the tag names the manifest of one platform instead of an index
    #[error("this is {found}, not a provider release: expected an image index with a package for each platform")]
    #[fault("not-an-index", code = index_code(found), todo = "push an index that lists the manifest with its platform")]
    NotAProviderIndex { found: DocumentKind },
    #[error("{digest} is {found}, not a provider package: expected {expected}")]
    #[fault(code = "artifact-type")]
    NotAProviderPackage { digest: Digest, found: DocumentKind, expected: &'static str },
    /// A container image without the label.
    #[error(
        "this is a plain container image, not a provider package: its config has no label \
         org.opentofu.package-type=provider_binary"
    )]
    #[fault(code = "artifact-type")]
    NoProviderLabel,
    #[error("this is a package of type `{found}`: the label org.opentofu.package-type must be provider_binary")]
    #[fault(code = "artifact-type")]
    OtherPackageType { found: String },
    #[error("this release has no package for {platform}")]
    #[fault(code = "platform-not-supported")]
    PlatformNotOffered {
        platform: Platform,
        /// What the release has, sorted.
        offered: Vec<Platform>,
    },
    /// several entries of the index are for the platform
    #[error("this release has {} packages for {platform}", .digests.len())]
    #[fault("ambiguous-platform", todo = "push an index with one entry for each platform")]
    AmbiguousPlatform { platform: Platform, digests: Vec<Digest> },
    /// the index has no entry of the artifact type of a package
    #[error("this index has no provider package{}", found_types(.found))]
    #[fault("no-provider-manifest", todo = "set `artifactType` on the entries of the index; `tofu-oci push` does")]
    NoProviderPackages {
        /// Artifact types of the entries that it does have, sorted.
        found: Vec<String>,
    },
    /// the `artifactType` of the index or package is missing or a different one
    #[error(
        "this index has provider packages but no artifactType: expected application/vnd.opentofu.provider on the index"
    )]
    #[fault("artifact-type", todo = "push the release again, or copy it with a tool that keeps `artifactType`")]
    UnmarkedIndex,
    /// an entry of the index names no platform
    #[error("the provider package {digest} has no platform in its index entry")]
    #[fault("descriptor-platform-missing", todo = "push an index whose entries name their platforms")]
    NoPlatform { digest: Digest },
    /// a manifest has a media type that does not belong there
    #[error(
        "the provider package {digest} has media type `{found}`: expected application/vnd.oci.image.manifest.v1+json"
    )]
    #[fault("media-type", todo = "push the release with OCI media types")]
    LeafMediaType { digest: Digest, found: String },
    /// The index entry and the manifest disagree about the artifact type.
    #[error(
        "{digest} has artifactType {} in its index entry and {} in itself",
        quoted(.descriptor.as_deref()),
        quoted(.body.as_deref())
    )]
    #[fault(code = "artifact-type")]
    ArtifactTypeMismatch { digest: Digest, descriptor: Option<String>, body: Option<String> },
    /// The document names another media type than its descriptor.
    #[error("{digest} has mediaType {}: expected `{expected}`", quoted(.found.as_deref()))]
    #[fault(code = "media-type")]
    BodyMediaType { digest: Digest, expected: String, found: Option<String> },
    #[error("{digest} is ambiguous: it has both `manifests` and `{member}`")]
    Confused {
        digest: Digest,
        /// `layers`, `config` or `fsLayers`.
        member: &'static str,
    },
    /// the manifest of the platform has no package layer
    #[error("the provider package {digest} has no layer of type archive/zip{}", found_types(.found))]
    #[fault("no-zip-layer", todo = "push the release again")]
    NoPackageLayer { digest: Digest, found: Vec<String> },
    /// the manifest of the platform has several package layers
    #[error("the provider package {digest} has {count} layers of type archive/zip: expected one")]
    #[fault("several-zip-layers", todo = "push a manifest with one layer")]
    SeveralPackageLayers { digest: Digest, count: usize },
    #[error("the image {digest} has a layer of type `{found}`, which is not an image layer")]
    LayerMediaType { digest: Digest, found: String },
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
    #[error("{digest} has {size} bytes: at most {limit} are read")]
    TooLarge { digest: Digest, size: u64, limit: u64 },
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
    #[error("its annotation {annotation} is not an address: {problem}")]
    Address { annotation: &'static str, problem: String },
    #[error("the {kind} layout needs the {needs} of {platform}")]
    Incomplete {
        kind: crate::LeafKind,
        /// `zip` or `layer`.
        needs: &'static str,
        platform: Platform,
    },
}

/// The measured name of `OpenTofu`.
///
/// Spec: `real-tofu-sources.md` (measured), §4 and §8.
fn index_code(found: &DocumentKind) -> &'static str {
    match found {
        DocumentKind::ProviderTarget | DocumentKind::ContainerImage | DocumentKind::SingleManifest => "not-an-index",
        _ => "artifact-type",
    }
}

fn quoted(text: Option<&str>) -> String {
    text.map_or_else(|| "none".to_owned(), |text| format!("`{text}`"))
}

fn found_types(found: &[String]) -> String {
    if found.is_empty() { String::new() } else { format!(", only {}", found.join(", ")) }
}
