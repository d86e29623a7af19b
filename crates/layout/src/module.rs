//! The manifest of a module package, read.
//!
//! ```text
//! tag or digest --> Descriptor --> (fetch) --> ModuleManifest::parse --> package() --> (fetch) a zip
//! ```
//!
//! A module package is one image manifest, never an index, with exactly one zip among its layers.

use std::collections::BTreeMap;

use serde::Deserialize as _;
use serde_json::Value;
use tofu_oci_types::{Algorithm, Descriptor, Digest, ModuleAddr};

use crate::document::{self, MAX_ENTRIES, ManifestDocument};
use crate::index::said_address;
use crate::{CreationTime, DocumentKind, LayoutError, annotation, artifact_type, media_type};

/// The manifest of a module package, as a view of its bytes.
#[derive(Clone, Debug)]
pub struct ModuleManifest {
    package: Descriptor,
    config: Option<Descriptor>,
    annotations: BTreeMap<String, String>,
}

/// Why some bytes are not the manifest of a module package.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidModuleManifest {
    /// The media type is not that of an OCI image manifest.
    #[error("this is {found}, not a module package: expected an OCI image manifest and not an index")]
    NotAnImageManifest { found: DocumentKind },
    /// The bytes cannot be read as a manifest.
    #[error(transparent)]
    Document(LayoutError),
    /// The manifest does not say that it is a module package.
    #[error("this is {found}, not a module package: expected artifactType application/vnd.opentofu.modulepkg")]
    ArtifactType { found: DocumentKind },
    /// The manifest has no layer.
    #[error("the module package {digest} has no layer: expected one of type archive/zip")]
    NoLayer { digest: Digest },
    /// None of the layers is a zip.
    #[error("the module package {digest} has no layer of type archive/zip, only {}", .found.join(", "))]
    NoZipLayer { digest: Digest, found: Vec<String> },
    #[error("the module package {digest} has {count} layers of type archive/zip: expected one")]
    SeveralZipLayers { digest: Digest, count: usize },
    /// The digest of the zip is of an algorithm that verifies nothing.
    #[error("the zip {digest} must have a sha256 or sha512 digest")]
    PackageDigest { digest: Digest },
}

impl InvalidModuleManifest {
    /// A stable kebab-case name of the fault: the name of `OpenTofu`'s reason if it refuses too.
    ///
    /// Spec: `real-tofu-http.md` (measured), §3.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotAnImageManifest { .. } => "not-an-image-manifest",
            Self::Document(LayoutError::Malformed { .. }) => "manifest-not-json",
            Self::Document(LayoutError::TooLarge { .. }) => "manifest-too-large",
            Self::Document(LayoutError::BodyMediaType { .. }) => "body-media-type-missing",
            Self::Document(_) => "bad-layout",
            Self::ArtifactType { .. } => "artifact-type",
            Self::NoLayer { .. } => "no-zip-layer",
            Self::NoZipLayer { .. } => "no-zip-layer-other-format",
            Self::SeveralZipLayers { .. } => "several-zip-layers",
            Self::PackageDigest { .. } => "digest-algorithm",
        }
    }
}

impl From<LayoutError> for InvalidModuleManifest {
    fn from(error: LayoutError) -> Self {
        Self::Document(error)
    }
}

impl ModuleManifest {
    /// Reads a manifest whose bytes have been checked against the digest of `descriptor`, whose media type is the one
    /// that the registry names. At most 4 MiB.
    ///
    /// The manifest names its media type and artifact type itself, and exactly one of its layers is `archive/zip`,
    /// with a `sha256` or `sha512` digest. It needs no config. `schemaVersion`, other layers and members that this
    /// reader does not know have no meaning.
    ///
    /// Stricter than `OpenTofu`: it refuses JSON with a member twice, and `manifests` beside `layers`.
    ///
    /// Spec: `OpenTofu` 1.12, getmodules `oci_getter.go`; `real-tofu-http.md` (measured), §3.
    pub fn parse(descriptor: &Descriptor, bytes: &[u8]) -> Result<Self, InvalidModuleManifest> {
        let digest = &descriptor.digest;
        if descriptor.media_type != media_type::OCI_MANIFEST {
            let found = match ManifestDocument::parse(descriptor, bytes).map(|document| document.kind(descriptor)) {
                Ok(DocumentKind::ProviderIndex) => DocumentKind::ProviderIndex,
                _ => DocumentKind::of(descriptor),
            };
            return Err(InvalidModuleManifest::NotAnImageManifest { found });
        }
        document::require_size(descriptor)?;
        let document = ManifestDocument::parse(descriptor, bytes)?;
        document.require_media_type(descriptor)?;
        if document.artifact_type.as_deref() != Some(artifact_type::MODULE) {
            // What the descriptor says does not count.
            let plain = Descriptor { artifact_type: None, ..descriptor.clone() };
            return Err(InvalidModuleManifest::ArtifactType { found: document.kind(&plain) });
        }
        let layers: Vec<Descriptor> = document.member(digest, "layers")?;
        if layers.len() > MAX_ENTRIES {
            let (count, limit) = (layers.len(), MAX_ENTRIES);
            return Err(LayoutError::TooMany { digest: digest.clone(), what: "layers", count, limit }.into());
        }
        let package = only_zip(digest, layers)?;
        let config = document.members.get("config").filter(|config| !config.is_null());
        let config = config.and_then(|config: &Value| Descriptor::deserialize(config).ok());
        let annotations = document.member(digest, "annotations")?;
        Ok(Self { package, config, annotations })
    }

    /// The zip.
    pub fn package(&self) -> &Descriptor {
        &self.package
    }

    /// The config, if the manifest has a readable one. It need not exist: no client reads it.
    pub fn config(&self) -> Option<&Descriptor> {
        self.config.as_ref()
    }

    /// The annotations, sorted by key.
    pub fn annotations(&self) -> &BTreeMap<String, String> {
        &self.annotations
    }

    /// The module of a registry that it says it was packed as; `None` if it does not say.
    ///
    /// # Errors
    /// If the text is not an address: then the package could be of any module.
    pub fn address(&self) -> Result<Option<ModuleAddr>, InvalidModuleManifest> {
        Ok(said_address(&self.annotations, annotation::MODULE_ADDRESS)?)
    }

    /// When it was made, by its annotation.
    pub fn created(&self) -> Option<CreationTime> {
        self.annotations.get(annotation::CREATED).and_then(|text| CreationTime::read(text))
    }
}

fn only_zip(digest: &Digest, layers: Vec<Descriptor>) -> Result<Descriptor, InvalidModuleManifest> {
    let digest = || digest.clone();
    let found: Vec<String> = layers.iter().map(|layer| layer.media_type.clone()).collect();
    let mut zips: Vec<Descriptor> =
        layers.into_iter().filter(|layer| layer.media_type == media_type::ARCHIVE_ZIP).collect();
    let count = zips.len();
    match (zips.pop(), count) {
        (Some(zip), 1) if zip.digest.algorithm() == Algorithm::Other => {
            Err(InvalidModuleManifest::PackageDigest { digest: zip.digest })
        }
        (Some(zip), 1) => Ok(zip),
        (Some(_), count) => Err(InvalidModuleManifest::SeveralZipLayers { digest: digest(), count }),
        (None, _) if found.is_empty() => Err(InvalidModuleManifest::NoLayer { digest: digest() }),
        (None, _) => Err(InvalidModuleManifest::NoZipLayer { digest: digest(), found }),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const MANIFEST: &str = media_type::OCI_MANIFEST;

    fn layer(media_type: &str) -> Value {
        json!({ "mediaType": media_type, "digest": Digest::sha256(b""), "size": 0 })
    }

    fn good() -> Value {
        json!({ "schemaVersion": 2, "mediaType": MANIFEST, "artifactType": artifact_type::MODULE,
            "layers": [layer("archive/zip")] })
    }

    fn read(media_type: &str, bytes: &[u8]) -> Result<ModuleManifest, InvalidModuleManifest> {
        ModuleManifest::parse(&Descriptor::of(media_type, bytes), bytes)
    }

    /// Reads the good manifest with these members in the place of its own; null removes one.
    #[track_caller]
    fn check(members: &Value, want: &str) {
        let mut manifest = good();
        for (name, value) in members.as_object().unwrap() {
            manifest[name] = value.clone();
        }
        manifest.as_object_mut().unwrap().retain(|_, value| !value.is_null());
        let bytes = serde_json::to_vec(&manifest).unwrap();
        let got = read(MANIFEST, &bytes).map_or_else(|error| error.code(), |_| "ok");
        assert_eq!(got, want, "{members}");
    }

    #[test]
    fn what_opentofu_accepts_is_read() {
        check(&json!({}), "ok");
        check(&json!({ "schemaVersion": 1 }), "ok");
        check(&json!({ "schemaVersion": null }), "ok");
        check(&json!({ "config": layer(media_type::OCI_EMPTY) }), "ok");
        check(&json!({ "config": {} }), "ok");
        check(&json!({ "subject": layer(MANIFEST), "annotations": { "a": "b" }, "other": [1] }), "ok");
        check(&json!({ "layers": [layer("application/spdx+json"), layer("archive/zip")] }), "ok");
        let mut long = layer("archive/zip");
        long["digest"] = json!(format!("sha512:{}", "0".repeat(128)));
        long["platform"] = json!({ "os": "linux", "architecture": "amd64" });
        check(&json!({ "layers": [long] }), "ok");
    }

    #[test]
    fn each_fault_has_the_reason_of_opentofu() {
        check(&json!({ "mediaType": null }), "body-media-type-missing");
        check(&json!({ "mediaType": media_type::OCI_INDEX }), "body-media-type-missing");
        check(&json!({ "artifactType": null }), "artifact-type");
        check(&json!({ "artifactType": artifact_type::PROVIDER_TARGET }), "artifact-type");
        check(&json!({ "artifactType": null, "config": layer(artifact_type::MODULE) }), "artifact-type");
        check(&json!({ "layers": null }), "no-zip-layer");
        check(&json!({ "layers": [] }), "no-zip-layer");
        check(&json!({ "layers": [layer("archive/zip; x=y")] }), "no-zip-layer-other-format");
        check(&json!({ "layers": [layer("archive/zip"), layer("archive/zip")] }), "several-zip-layers");
        check(&json!({ "layers": 1 }), "manifest-not-json");
        check(&json!({ "annotations": { "a": 1 } }), "manifest-not-json");
        check(
            &json!({ "layers": [{ "mediaType": "archive/zip", "digest": "blake3:00", "size": 1 }] }),
            "digest-algorithm",
        );
        let code = |media: &str, bytes: &[u8]| read(media, bytes).map_or_else(|error| error.code(), |_| "ok");
        let bytes = serde_json::to_vec(&good()).unwrap();
        assert_eq!(code(media_type::DOCKER_MANIFEST, &bytes), "not-an-image-manifest");
        assert_eq!(code(media_type::OCI_INDEX, &bytes), "not-an-image-manifest");
        assert_eq!(code("", &bytes), "not-an-image-manifest");
        assert_eq!(code(MANIFEST, b"not json"), "manifest-not-json");
        assert_eq!(code(MANIFEST, b"[]"), "manifest-not-json");
        let large = Descriptor::new(MANIFEST, Digest::sha256(b""), document::MAX_DOCUMENT + 1);
        assert_eq!(ModuleManifest::parse(&large, b"").expect_err("too large").code(), "manifest-too-large");
    }

    #[test]
    fn the_artifact_type_of_the_descriptor_does_not_count() {
        let mut manifest = good();
        manifest.as_object_mut().unwrap().remove("artifactType");
        let bytes = serde_json::to_vec(&manifest).unwrap();
        let descriptor =
            Descriptor { artifact_type: Some(artifact_type::MODULE.to_owned()), ..Descriptor::of(MANIFEST, &bytes) };
        let error = ModuleManifest::parse(&descriptor, &bytes).expect_err("no artifactType");
        insta::assert_snapshot!(error, @"this is a single manifest, not a module package: expected artifactType application/vnd.opentofu.modulepkg");
    }

    #[test]
    fn the_reader_gives_package_config_and_annotations() {
        let mut manifest = good();
        manifest["config"] = layer(media_type::OCI_EMPTY);
        manifest["annotations"] = json!({ annotation::CREATED: "2026-03-01T12:00:00Z" });
        let read = read(MANIFEST, &serde_json::to_vec(&manifest).unwrap()).expect("a module");
        assert_eq!(read.package().media_type, "archive/zip");
        assert_eq!(read.config().map(|config| config.media_type.as_str()), Some(media_type::OCI_EMPTY));
        assert_eq!(read.created().map(|created| created.to_string()).as_deref(), Some("2026-03-01T12:00:00Z"));
        assert_eq!(read.annotations().len(), 1);
    }

    #[test]
    fn refusals_say_what_was_found() {
        let bytes = serde_json::to_vec(&json!({ "manifests": [] })).unwrap();
        let error = read(media_type::OCI_INDEX, &bytes).expect_err("an index");
        insta::assert_snapshot!(error, @"this is a multi-platform container image, not a module package: expected an OCI image manifest and not an index");
        let mut manifest = good();
        manifest["artifactType"] = json!(artifact_type::PROVIDER_TARGET);
        let error = read(MANIFEST, &serde_json::to_vec(&manifest).unwrap()).expect_err("a leaf");
        insta::assert_snapshot!(error, @"this is a single platform's provider package, not a module package: expected artifactType application/vnd.opentofu.modulepkg");
    }
}
