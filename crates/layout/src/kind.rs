//! What a manifest is, in words for people.

use std::fmt;

use tofu_oci_types::Descriptor;

use crate::{artifact_type, media_type};

/// What a manifest turned out to be, as a refusal names it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DocumentKind {
    /// The index of a provider release.
    ProviderIndex,
    /// The manifest of one platform's package in the artifact layout.
    ProviderTarget,
    ModulePackage,
    /// An index of container images.
    ImageIndex,
    ContainerImage,
    /// One manifest of which only the descriptor is known.
    SingleManifest,
    /// A signature (cosign, notation).
    Signature,
    /// A statement about how something was built, or what is in it.
    Attestation,
    HelmChart,
    /// A Docker manifest of the abandoned schema 1.
    DockerSchema1,
    /// An artifact of another type.
    Artifact(String),
    /// A media type of something else than a manifest.
    Other(String),
}

impl DocumentKind {
    /// What the media type and the artifact types say.
    ///
    /// `config` is the media type of the manifest's config, `layers` the media types of its layers; both are empty
    /// for an index, and if only the descriptor is known.
    pub(crate) fn from_types(media: &str, artifact: Option<&str>, config: &str, layers: &[&str]) -> Self {
        if matches!(media, media_type::DOCKER_SCHEMA1 | media_type::DOCKER_SCHEMA1_SIGNED) {
            return Self::DockerSchema1;
        }
        if !media_type::is_manifest(media) {
            return Self::Other(media.to_owned());
        }
        if let Some(artifact) = artifact.filter(|text| !text.is_empty()) {
            return Self::from_artifact_type(artifact);
        }
        if media_type::is_index(media) {
            return Self::ImageIndex;
        }
        if let Some(kind) = layers.iter().find_map(|layer| Self::from_layer(layer)) {
            return kind;
        }
        if config.is_empty() {
            return Self::SingleManifest;
        }
        if media_type::is_image_config(config) {
            return Self::ContainerImage;
        }
        Self::from_artifact_type(config)
    }

    /// What a descriptor alone says.
    pub(crate) fn of(descriptor: &Descriptor) -> Self {
        Self::from_types(&descriptor.media_type, descriptor.artifact_type.as_deref(), "", &[])
    }

    fn from_artifact_type(artifact: &str) -> Self {
        match artifact {
            artifact_type::PROVIDER => Self::ProviderIndex,
            artifact_type::PROVIDER_TARGET => Self::ProviderTarget,
            artifact_type::MODULE => Self::ModulePackage,
            artifact_type::DOCKER_ATTESTATION => Self::Attestation,
            "application/vnd.cncf.helm.config.v1+json" => Self::HelmChart,
            "application/vnd.cncf.notary.signature" => Self::Signature,
            _ if artifact.starts_with("application/vnd.dev.cosign.")
                || artifact.starts_with("application/vnd.dev.sigstore.bundle") =>
            {
                Self::Signature
            }
            _ if artifact.starts_with("application/vnd.in-toto") => Self::Attestation,
            _ => Self::Artifact(artifact.to_owned()),
        }
    }

    fn from_layer(layer: &str) -> Option<Self> {
        match layer {
            "application/vnd.in-toto+json" | "application/vnd.dsse.envelope.v1+json" => Some(Self::Attestation),
            "application/vnd.dev.cosign.simplesigning.v1+json" => Some(Self::Signature),
            _ => None,
        }
    }
}

impl fmt::Display for DocumentKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ProviderIndex => "a provider release",
            Self::ProviderTarget => "a single platform's provider package",
            Self::ModulePackage => "a module package",
            Self::ImageIndex => "a multi-platform container image",
            Self::ContainerImage => "a container image",
            Self::SingleManifest => "a single manifest",
            Self::Signature => "a signature",
            Self::Attestation => "a build attestation",
            Self::HelmChart => "a Helm chart",
            Self::DockerSchema1 => "a Docker image of the abandoned manifest schema 1",
            Self::Artifact(of) => return write!(f, "an artifact of type `{of}`"),
            Self::Other(of) if of.is_empty() => "something without a media type",
            Self::Other(of) => return write!(f, "something of media type `{of}`"),
        })
    }
}
