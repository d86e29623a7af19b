//! The manifest of a module package.

use std::collections::BTreeMap;

use serde::Serialize;
use tofu_oci_types::{Descriptor, Digest};

use super::Planned;
use crate::{annotation, artifact_type, media_type};

/// A module's zip, ready to be described.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleZip {
    pub digest: Digest,
    /// Bytes of the zip.
    pub size: u64,
    /// The file name under which other tools save it.
    pub filename: String,
}

/// A module package: push the blob and the config, then the manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModulePlan {
    /// The empty object.
    pub config: Planned,
    pub manifest: Planned,
    /// The zip: content that the caller has.
    pub layer: Descriptor,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PackageManifest<'a> {
    schema_version: u8,
    media_type: &'a str,
    artifact_type: &'a str,
    config: &'a Descriptor,
    layers: [&'a Descriptor; 1],
    annotations: &'a BTreeMap<String, String>,
}

/// The manifest over this zip, with these annotations.
///
/// `OpenTofu` takes one image manifest, not an index: with `mediaType` and `artifactType` in its body, and one layer
/// `archive/zip`. It does not read the config or the annotations.
///
/// Spec: `OpenTofu` 1.12, getmodules `oci_getter.go`; OCI image-spec 1.1.1, manifest.md, "Guidelines for Artifact Usage".
pub fn plan_module(zip: &ModuleZip, annotations: &BTreeMap<String, String>) -> ModulePlan {
    let config = Planned::json(media_type::OCI_EMPTY, &serde_json::Map::new());
    let mut layer = Descriptor::new(media_type::ARCHIVE_ZIP, zip.digest.clone(), zip.size);
    layer.annotations.insert(annotation::TITLE.to_owned(), zip.filename.clone());
    let mut manifest = Planned::json(
        media_type::OCI_MANIFEST,
        &PackageManifest {
            schema_version: 2,
            media_type: media_type::OCI_MANIFEST,
            artifact_type: artifact_type::MODULE,
            config: &config.descriptor,
            layers: [&layer],
            annotations,
        },
    );
    manifest.descriptor.artifact_type = Some(artifact_type::MODULE.to_owned());
    ModulePlan { config, manifest, layer }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_is_one_manifest_with_one_zip_and_an_empty_config() {
        let zip = ModuleZip { digest: Digest::sha256(b"zip"), size: 3, filename: "network_1.0.0.zip".to_owned() };
        let annotations = BTreeMap::from([("b".to_owned(), "2".to_owned()), ("a".to_owned(), "1".to_owned())]);
        let plan = plan_module(&zip, &annotations);
        assert_eq!(plan.config.bytes, b"{}");
        let text = String::from_utf8(plan.manifest.bytes.clone()).unwrap();
        insta::assert_snapshot!(text.replace(",\"", ",\n\""), @r#"
        {"schemaVersion":2,
        "mediaType":"application/vnd.oci.image.manifest.v1+json",
        "artifactType":"application/vnd.opentofu.modulepkg",
        "config":{"mediaType":"application/vnd.oci.empty.v1+json",
        "digest":"sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
        "size":2},
        "layers":[{"mediaType":"archive/zip",
        "digest":"sha256:4a70fe9aa6436e02c2dea340fbd1e352e4ef2d8ce6ca52ad25d4b95471fc8bf2",
        "size":3,
        "annotations":{"org.opencontainers.image.title":"network_1.0.0.zip"}}],
        "annotations":{"a":"1",
        "b":"2"}}
        "#);
        assert_eq!(plan, plan_module(&zip, &annotations));
        assert_eq!(plan.manifest.descriptor.digest, Digest::sha256(&plan.manifest.bytes));
    }
}
