//! What is refused, and in which words.

use serde_json::{Value, json};
use tofu_oci_types::{Descriptor, Digest};

use super::{descriptor_of, parse_artifact_leaf, parse_index, parse_leaf, refusal, select_linux};
use crate::{ImageConfig, MAX_DOCUMENT, ReleaseIndex, artifact_type, media_type};

fn descriptor(media_type: &str) -> Value {
    json!({ "mediaType": media_type, "digest": Digest::sha256(b""), "size": 0 })
}

/// A manifest with this config, these layers, and this artifact type unless it is empty.
fn manifest(artifact: &str, config: &str, layers: &[&str]) -> Value {
    let layers: Vec<Value> = layers.iter().map(|layer| descriptor(layer)).collect();
    let mut manifest = json!({ "schemaVersion": 2, "mediaType": media_type::OCI_MANIFEST,
        "config": descriptor(config), "layers": layers });
    if !artifact.is_empty() {
        manifest["artifactType"] = json!(artifact);
    }
    manifest
}

const HELM: &str = "application/vnd.cncf.helm.config.v1+json";
const COSIGN: &str = "application/vnd.dev.cosign.simplesigning.v1+json";

#[test]
fn a_tag_that_names_no_release_says_what_it_names() {
    let check = |document: &Value| refusal(parse_index(document));
    insta::assert_snapshot!(check(&manifest("", HELM, &[])), @"this is a Helm chart, not a provider release: expected an image index with a package for each platform");
    insta::assert_snapshot!(check(&manifest("", media_type::OCI_CONFIG, &[COSIGN])), @"this is a signature, not a provider release: expected an image index with a package for each platform");
    insta::assert_snapshot!(check(&manifest("", media_type::OCI_CONFIG, &[media_type::LAYER_TAR])), @"this is a container image, not a provider release: expected an image index with a package for each platform");
    insta::assert_snapshot!(check(&manifest("", media_type::OCI_CONFIG, &["application/vnd.in-toto+json"])), @"this is a build attestation, not a provider release: expected an image index with a package for each platform");
    insta::assert_snapshot!(check(&manifest("application/vnd.dev.sigstore.bundle.v0.3+json", media_type::OCI_EMPTY, &[])), @"this is a signature, not a provider release: expected an image index with a package for each platform");
    insta::assert_snapshot!(check(&manifest(artifact_type::MODULE, media_type::OCI_EMPTY, &[media_type::ARCHIVE_ZIP])), @"this is a module package, not a provider release: expected an image index with a package for each platform");
    insta::assert_snapshot!(check(&manifest(artifact_type::PROVIDER_TARGET, media_type::OCI_EMPTY, &[])), @"this is a single platform's provider package, not a provider release: expected an image index with a package for each platform");
    insta::assert_snapshot!(check(&json!({ "mediaType": media_type::OCI_INDEX, "artifactType": artifact_type::MODULE, "manifests": [] })), @"this is a module package, not a provider release: expected an image index with a package for each platform");
    insta::assert_snapshot!(check(&json!({ "mediaType": media_type::OCI_INDEX, "artifactType": "application/x", "manifests": [] })), @"this is an artifact of type `application/x`, not a provider release: expected an image index with a package for each platform");
    insta::assert_snapshot!(check(&json!({ "schemaVersion": 1, "mediaType": media_type::DOCKER_SCHEMA1_SIGNED })), @"this is a Docker image of the abandoned manifest schema 1, not a provider release: expected an image index with a package for each platform");
    insta::assert_snapshot!(check(&json!({ "mediaType": "text/html" })), @"this is something of media type `text/html`, not a provider release: expected an image index with a package for each platform");
}

#[test]
fn a_document_that_can_be_read_in_two_ways_is_refused() {
    let check = |document: &Value| refusal(parse_index(document));
    insta::assert_snapshot!(check(&json!({ "mediaType": media_type::OCI_INDEX, "manifests": [], "layers": [] })), @"sha256: is ambiguous: it has both `manifests` and `layers`");
    insta::assert_snapshot!(check(&json!({ "manifests": [], "config": {} })), @"sha256: is ambiguous: it has both `manifests` and `config`");
    let bytes = br#"{"manifests":[],"manifests":[]}"#;
    insta::assert_snapshot!(refusal(ReleaseIndex::parse(&Descriptor::of(media_type::OCI_INDEX, bytes), bytes)), @r#"sha256: is malformed: the member "manifests" is there twice at line 1 column 27"#);
    let (_, bytes) = descriptor_of(&json!({ "mediaType": media_type::OCI_MANIFEST, "manifests": [] }), "");
    insta::assert_snapshot!(refusal(ReleaseIndex::parse(&Descriptor::of(media_type::OCI_INDEX, &bytes), &bytes)), @"sha256: has mediaType `application/vnd.oci.image.manifest.v1+json`: expected `application/vnd.oci.image.index.v1+json`");
}

#[test]
fn what_is_too_large_or_no_json_is_refused() {
    let read = |bytes: &[u8]| refusal(ReleaseIndex::parse(&Descriptor::of(media_type::OCI_INDEX, bytes), bytes));
    insta::assert_snapshot!(read(b"not json"), @"sha256: is malformed: expected ident at line 1 column 2");
    insta::assert_snapshot!(read(b"[]"), @"sha256: is malformed: it is not a JSON object");
    insta::assert_snapshot!(read(br#"{"manifests":{}}"#), @"sha256: is malformed: manifests: invalid type: map, expected a sequence");
    insta::assert_snapshot!(read(&vec![b' '; usize::try_from(MAX_DOCUMENT).unwrap() + 1]), @"sha256: has 4194305 bytes: at most 4194304 are read");
    let many = vec![descriptor(media_type::OCI_MANIFEST); 1001];
    insta::assert_snapshot!(refusal(parse_index(&json!({ "manifests": many }))), @"sha256: has 1001 entries: at most 1000 are read");
}

#[test]
fn an_index_without_a_package_for_the_platform_says_what_it_has() {
    let entry = |artifact: Option<&str>, platform: Option<&str>, media: &str| {
        let mut entry = descriptor(media);
        if let Some(artifact) = artifact {
            entry["artifactType"] = json!(artifact);
        }
        if let Some((os, architecture)) = platform.and_then(|platform| platform.split_once('_')) {
            entry["platform"] = json!({ "os": os, "architecture": architecture });
        }
        entry
    };
    let check = |artifact: Option<&str>, entries: &[Value]| {
        let mut document = json!({ "mediaType": media_type::OCI_INDEX, "manifests": entries });
        if let Some(artifact) = artifact {
            document["artifactType"] = json!(artifact);
        }
        refusal(select_linux(&document))
    };
    let (marked, target) = (Some(artifact_type::PROVIDER), Some(artifact_type::PROVIDER_TARGET));
    let (linux, manifest) = (Some("linux_amd64"), media_type::OCI_MANIFEST);
    let package = entry(target, linux, manifest);
    insta::assert_snapshot!(check(marked, &[entry(target, Some("darwin_arm64"), manifest)]), @"this release has no package for linux_amd64");
    insta::assert_snapshot!(check(marked, &[package.clone(), package.clone()]), @"this release has 2 packages for linux_amd64");
    insta::assert_snapshot!(check(marked, &[entry(target, None, manifest)]), @"the provider package sha256: has no platform in its index entry");
    insta::assert_snapshot!(check(marked, &[package.clone(), entry(target, linux, media_type::OCI_INDEX)]), @"the provider package sha256: has media type `application/vnd.oci.image.index.v1+json`: expected application/vnd.oci.image.manifest.v1+json");
    insta::assert_snapshot!(check(marked, &[entry(Some("application/x"), linux, manifest)]), @"this index has no provider package, only application/x");
    insta::assert_snapshot!(check(marked, &[]), @"this index has no provider package");
    insta::assert_snapshot!(check(None, &[package]), @"this index has provider packages but no artifactType: expected application/vnd.opentofu.provider on the index");
}

#[test]
fn a_leaf_that_is_no_package_says_what_it_is() {
    let image = |document: &Value| refusal(parse_leaf(document, None));
    insta::assert_snapshot!(image(&manifest("", HELM, &[])), @"sha256: is a Helm chart, not a provider package: expected a container image, or an artifact of type application/vnd.opentofu.provider-target");
    insta::assert_snapshot!(image(&manifest("", media_type::OCI_CONFIG, &[COSIGN])), @"sha256: is a signature, not a provider package: expected a container image, or an artifact of type application/vnd.opentofu.provider-target");
    insta::assert_snapshot!(image(&manifest(artifact_type::MODULE, media_type::OCI_EMPTY, &[media_type::ARCHIVE_ZIP])), @"sha256: is a module package, not a provider package: expected a container image, or an artifact of type application/vnd.opentofu.provider-target");
    insta::assert_snapshot!(image(&manifest("", media_type::OCI_CONFIG, &[media_type::ARCHIVE_ZIP])), @"the image sha256: has a layer of type `archive/zip`, which is not an image layer");
    insta::assert_snapshot!(image(&manifest(artifact_type::PROVIDER_TARGET, media_type::OCI_CONFIG, &[media_type::ARCHIVE_ZIP])), @"sha256: has artifactType none in its index entry and `application/vnd.opentofu.provider-target` in itself");
    insta::assert_snapshot!(image(&json!({ "mediaType": media_type::OCI_INDEX, "manifests": [] })), @"sha256: is a multi-platform container image, not a provider package: expected a container image, or an artifact of type application/vnd.opentofu.provider-target");
    insta::assert_snapshot!(image(&json!({ "mediaType": media_type::DOCKER_SCHEMA1, "schemaVersion": 1 })), @"sha256: is a Docker image of the abandoned manifest schema 1, not a provider package: expected a container image, or an artifact of type application/vnd.opentofu.provider-target");
    insta::assert_snapshot!(image(&json!({ "layers": [] })), @"sha256: is malformed: it has no config");
    let typed = |document: &Value, of: &str| refusal(parse_leaf(document, Some(of)));
    insta::assert_snapshot!(typed(&manifest("application/x", media_type::OCI_EMPTY, &[]), "application/x"), @"sha256: is an artifact of type `application/x`, not a provider package: expected a container image, or an artifact of type application/vnd.opentofu.provider-target");
}

#[test]
fn an_artifact_leaf_must_be_what_released_opentofu_installs() {
    let zip = media_type::ARCHIVE_ZIP;
    let leaf = |layers: &[&str]| manifest(artifact_type::PROVIDER_TARGET, media_type::OCI_EMPTY, layers);
    let check = |document: &Value| refusal(parse_artifact_leaf(document));
    insta::assert_snapshot!(check(&leaf(&[])), @"the provider package sha256: has no layer of type archive/zip");
    insta::assert_snapshot!(check(&leaf(&["application/zip"])), @"the provider package sha256: has no layer of type archive/zip, only application/zip");
    insta::assert_snapshot!(check(&leaf(&[zip, zip])), @"the provider package sha256: has 2 layers of type archive/zip: expected one");
    insta::assert_snapshot!(check(&manifest("", media_type::OCI_EMPTY, &[zip])), @"sha256: has artifactType `application/vnd.opentofu.provider-target` in its index entry and none in itself");
    let mut document = leaf(&[zip]);
    document.as_object_mut().unwrap().remove("mediaType");
    insta::assert_snapshot!(check(&document), @"sha256: has mediaType none: expected `application/vnd.oci.image.manifest.v1+json`");
    let mut document = leaf(&[zip]);
    document["layers"][0]["platform"] = json!({ "os": "darwin", "architecture": "arm64" });
    insta::assert_snapshot!(check(&document), @"the layer sha256: is for darwin_arm64, its package for linux_amd64");
    let mut document = leaf(&[zip]);
    document["layers"][0]["digest"] = json!("blake3:af13");
    insta::assert_snapshot!(check(&document), @"the package blake3:af13 must have a sha256 digest");
    let mut document = leaf(&[zip]);
    document["mediaType"] = json!(media_type::DOCKER_MANIFEST);
    insta::assert_snapshot!(check(&document), @"the provider package sha256: has media type `application/vnd.docker.distribution.manifest.v2+json`: expected application/vnd.oci.image.manifest.v1+json");
}

#[test]
fn an_image_must_carry_the_label() {
    let check = |config: &str| {
        refusal(ImageConfig::parse(config.as_bytes()).and_then(|config| config.require_provider_label()))
    };
    insta::assert_snapshot!(check(r#"{"config":{}}"#), @"this is a plain container image, not a provider package: its config has no label org.opentofu.package-type=provider_binary");
    insta::assert_snapshot!(check(r#"{"config":null,"rootfs":null}"#), @"this is a plain container image, not a provider package: its config has no label org.opentofu.package-type=provider_binary");
    insta::assert_snapshot!(check(r#"{"config":{"Labels":{"org.opentofu.package-type":"module"}}}"#), @"this is a package of type `module`: the label org.opentofu.package-type must be provider_binary");
    insta::assert_snapshot!(check(r#"{"config":{"Labels":[]}}"#), @"the image config is malformed: config: invalid type: sequence, expected a map");
}
