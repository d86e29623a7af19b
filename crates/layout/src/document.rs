//! What indexes and leaf manifests have in common: bounds, JSON, and what they say they are.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tofu_oci_types::{Descriptor, Digest, parse_strictly};

use crate::{DocumentKind, LayoutError, media_type};

/// The largest manifest or config that is read: 4 MiB.
///
/// Released `OpenTofu` reads up to 5 MiB - 1; the distribution spec asks registries for 4 MiB, so nothing larger travels.
pub const MAX_DOCUMENT: u64 = 4 * 1024 * 1024;

/// The largest number of entries of an index (nested ones included) or layers of a leaf.
pub const MAX_ENTRIES: usize = 1000;

/// How deep indexes may nest below the one that a tag names.
pub const MAX_NESTING: usize = 4;

/// A manifest as far as every kind of it is read the same way.
pub(crate) struct ManifestDocument {
    pub(crate) members: Map<String, Value>,
    pub(crate) media_type: Option<String>,
    pub(crate) artifact_type: Option<String>,
}

impl ManifestDocument {
    /// Reads an index or manifest whose digest has been checked against `descriptor`.
    pub(crate) fn parse(descriptor: &Descriptor, bytes: &[u8]) -> Result<Self, LayoutError> {
        let digest = &descriptor.digest;
        let members = object(&digest.to_string(), digest, bytes)?;
        let has = |name: &str| members.get(name).is_some_and(|value| !value.is_null());
        if has("manifests") {
            for member in ["layers", "config", "fsLayers"] {
                if has(member) {
                    return Err(LayoutError::Confused { digest: digest.clone(), member });
                }
            }
        }
        let mut document = Self { members, media_type: None, artifact_type: None };
        document.media_type = document.member(digest, "mediaType")?;
        let artifact: Option<String> = document.member(digest, "artifactType")?;
        document.artifact_type = artifact.filter(|text| !text.is_empty());
        if document.media_type.as_ref().is_some_and(|found| *found != descriptor.media_type) {
            return Err(document.wrong_media_type(descriptor));
        }
        Ok(document)
    }

    /// A member; the default when it is absent or null.
    pub(crate) fn member<T: DeserializeOwned + Default>(&self, digest: &Digest, name: &str) -> Result<T, LayoutError> {
        member(&self.members, &digest.to_string(), name)
    }

    /// Demands that the document names its media type itself.
    pub(crate) fn require_media_type(&self, descriptor: &Descriptor) -> Result<(), LayoutError> {
        if self.media_type.is_none() { Err(self.wrong_media_type(descriptor)) } else { Ok(()) }
    }

    fn wrong_media_type(&self, descriptor: &Descriptor) -> LayoutError {
        LayoutError::BodyMediaType {
            digest: descriptor.digest.clone(),
            expected: descriptor.media_type.clone(),
            found: self.media_type.clone(),
        }
    }

    /// What this is, for a refusal.
    pub(crate) fn kind(&self, descriptor: &Descriptor) -> DocumentKind {
        let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
        let config = text(self.members.get("config").and_then(|config| config.get("mediaType")));
        let layers: Vec<String> = self
            .members
            .get("layers")
            .and_then(Value::as_array)
            .map(|layers| layers.iter().map(|layer| text(layer.get("mediaType"))).collect())
            .unwrap_or_default();
        let layers: Vec<&str> = layers.iter().map(String::as_str).collect();
        let artifact = self.artifact_type.as_deref().or(descriptor.artifact_type.as_deref());
        DocumentKind::from_types(&descriptor.media_type, artifact, &config, &layers)
    }
}

/// The members of the JSON object that the bytes are.
pub(crate) fn object(what: &str, digest: &Digest, bytes: &[u8]) -> Result<Map<String, Value>, LayoutError> {
    let size = bytes.len() as u64;
    if size > MAX_DOCUMENT {
        return Err(LayoutError::TooLarge { digest: digest.clone(), size, limit: MAX_DOCUMENT });
    }
    match parse_strictly(bytes) {
        Ok(Value::Object(members)) => Ok(members),
        Ok(_) => Err(malformed(what, &"it is not a JSON object")),
        Err(error) => Err(malformed(what, &error)),
    }
}

/// A member of an object; the default when it is absent or null.
pub(crate) fn member<T: DeserializeOwned + Default>(
    members: &Map<String, Value>,
    what: &str,
    name: &str,
) -> Result<T, LayoutError> {
    match members.get(name) {
        None | Some(Value::Null) => Ok(T::default()),
        Some(value) => T::deserialize(value).map_err(|error| malformed(what, &format_args!("{name}: {error}"))),
    }
}

pub(crate) fn malformed(what: &str, problem: &dyn ToString) -> LayoutError {
    LayoutError::Malformed { what: what.to_owned(), problem: problem.to_string() }
}

/// Refuses a descriptor with a media type that no client reads, before anything is fetched.
pub(crate) fn require_size(descriptor: &Descriptor) -> Result<(), LayoutError> {
    if descriptor.size > MAX_DOCUMENT {
        return Err(LayoutError::TooLarge {
            digest: descriptor.digest.clone(),
            size: descriptor.size,
            limit: MAX_DOCUMENT,
        });
    }
    Ok(())
}

/// Whether a builder put this entry beside its images to say how they were built.
///
/// Spec: oci image-spec 1.1.1 names no such thing; `BuildKit` writes platform `unknown/unknown`, an annotation, and
/// from 0.32 on an artifact type.
pub(crate) fn is_attestation(entry: &Descriptor) -> bool {
    let unknown =
        |platform: &tofu_oci_types::OciPlatform| platform.os == "unknown" || platform.architecture == "unknown";
    entry.platform.as_ref().is_some_and(unknown)
        || entry.annotations.contains_key(crate::annotation::DOCKER_REFERENCE_TYPE)
        || entry.artifact_type.as_deref() == Some(crate::artifact_type::DOCKER_ATTESTATION)
}

/// Whether the entry can lead to an image: a manifest or index with no artifact type of its own.
pub(crate) fn is_image_entry(entry: &Descriptor) -> bool {
    let typed = entry.artifact_type.as_deref().is_some_and(|artifact| !artifact.is_empty());
    !typed && media_type::is_manifest(&entry.media_type) && !is_attestation(entry)
}
