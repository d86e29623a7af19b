//! What a store must understand of manifests: their types, what they point at, and what they refer to.

use serde::Deserialize;
use std::collections::BTreeMap;
use tofu_oci_types::{Descriptor, Digest};

/// The largest manifest that is read, in bytes.
pub(crate) const MAX_MANIFEST: u64 = 4 * 1024 * 1024;

pub(crate) const OCI_INDEX: &str = "application/vnd.oci.image.index.v1+json";
pub(crate) const OCI_MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

/// Whether content of this media type is a manifest: registries keep those apart from blobs.
///
/// Spec: OCI image-spec 1.1.1, media-types.md; Docker image manifest version 2.
pub fn is_manifest_type(media_type: &str) -> bool {
    matches!(
        media_type,
        OCI_INDEX
            | OCI_MANIFEST
            | "application/vnd.oci.artifact.manifest.v1+json"
            | "application/vnd.docker.distribution.manifest.list.v2+json"
            | "application/vnd.docker.distribution.manifest.v2+json"
            | "application/vnd.docker.distribution.manifest.v1+json"
            | "application/vnd.docker.distribution.manifest.v1+prettyjws"
    )
}

/// A manifest of any kind, as far as its edges go.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ManifestEdges {
    media_type: Option<String>,
    artifact_type: Option<String>,
    config: Option<Descriptor>,
    layers: Option<Vec<Descriptor>>,
    blobs: Option<Vec<Descriptor>>,
    manifests: Option<Vec<Descriptor>>,
    subject: Option<Descriptor>,
    annotations: Option<BTreeMap<String, String>>,
}

impl ManifestEdges {
    /// Reads the edges of a manifest.
    ///
    /// # Errors
    /// What the parser says.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(bytes)
    }

    /// Everything that must be there before this manifest is: entries, config, layers. The subject is not among them.
    pub(crate) fn children(&self) -> impl Iterator<Item = &Descriptor> {
        let lists = [&self.manifests, &self.layers, &self.blobs];
        self.config.iter().chain(lists.into_iter().flatten().flatten())
    }

    /// The config, if it has one.
    pub(crate) fn config(&self) -> Option<&Descriptor> {
        self.config.as_ref()
    }

    /// The manifest that this one says something about.
    pub(crate) fn subject(&self) -> Option<&Digest> {
        self.subject.as_ref().map(|subject| &subject.digest)
    }

    /// The media type: what the document says, else what its members look like; `None` if it is not a manifest.
    pub(crate) fn media_type(&self) -> Option<&str> {
        match &self.media_type {
            Some(own) => is_manifest_type(own).then_some(own.as_str()),
            None if self.manifests.is_some() => Some(OCI_INDEX),
            None if self.layers.is_some() && self.config.is_some() => Some(OCI_MANIFEST),
            None => None,
        }
    }

    /// What the manifest is listed as among the referrers of its subject.
    ///
    /// Spec: OCI distribution-spec 1.1.1, "Listing Referrers": the artifact type is the config's media type if
    /// the manifest has none, and all annotations are copied.
    pub(crate) fn as_referrer(&self, media_type: &str, digest: &Digest, size: u64) -> Descriptor {
        let mut descriptor = Descriptor::new(media_type, digest.clone(), size);
        let own = self.artifact_type.clone().filter(|text| !text.is_empty());
        descriptor.artifact_type = own.or_else(|| self.config.as_ref().map(|config| config.media_type.clone()));
        descriptor.annotations = self.annotations.clone().unwrap_or_default();
        descriptor
    }
}
