//! Indexes as builders and registries really have them.

use serde_json::{Value, json};
use tofu_oci_types::{Descriptor, Digest};

use super::{descriptor_of, linux, parse_artifact_leaf, parse_index, parse_leaf};
use crate::{LayoutError, Leaf, LeafKind, PackageLayout, ReleaseIndex, artifact_type, media_type, select};

/// An index entry that is told apart by its name.
fn entry(name: &str, media_type: &str, more: &Value) -> Value {
    let mut entry = json!({ "mediaType": media_type, "digest": Digest::sha256(name.as_bytes()), "size": 2 });
    for (key, value) in more.as_object().unwrap() {
        entry[key] = value.clone();
    }
    entry
}

fn image(name: &str, os: &str, arch: &str, variant: Option<&str>) -> Value {
    let mut platform = json!({ "os": os, "architecture": arch });
    if let Some(variant) = variant {
        platform["variant"] = json!(variant);
    }
    entry(name, media_type::OCI_MANIFEST, &json!({ "platform": platform }))
}

fn index(entries: &[Value]) -> Value {
    json!({ "schemaVersion": 2, "mediaType": media_type::OCI_INDEX, "manifests": entries })
}

#[track_caller]
fn check_selected(document: &Value, platform: &str, wanted: &str, passed_over: &[&str]) {
    let selected = select(&parse_index(document).unwrap(), &platform.parse().unwrap()).unwrap();
    assert_eq!(selected.kind, LeafKind::Image);
    assert_eq!(selected.descriptor.digest, Digest::sha256(wanted.as_bytes()));
    let others: Vec<Digest> = selected.passed_over.iter().map(|other| other.digest.clone()).collect();
    let wanted: Vec<Digest> = passed_over.iter().map(|name| Digest::sha256(name.as_bytes())).collect();
    assert_eq!(others, wanted);
}

#[test]
fn a_docker_manifest_list_is_read_as_images() {
    let leaf =
        entry("a", media_type::DOCKER_MANIFEST, &json!({ "platform": { "os": "linux", "architecture": "amd64" } }));
    let list = json!({ "schemaVersion": 2, "mediaType": media_type::DOCKER_LIST, "manifests": [leaf] });
    check_selected(&list, "linux_amd64", "a", &[]);
    assert_eq!(parse_index(&list).unwrap().layout(), PackageLayout::Image);
}

#[test]
fn attestations_of_both_forms_and_unknown_entries_are_passed_over() {
    let unknown = json!({ "os": "unknown", "architecture": "unknown" });
    let old = json!({ "platform": unknown, "annotations": { "vnd.docker.reference.type": "attestation-manifest" } });
    let new = json!({ "platform": unknown, "artifactType": artifact_type::DOCKER_ATTESTATION });
    let linux = json!({ "os": "linux", "architecture": "amd64" });
    let annotated =
        json!({ "platform": linux, "annotations": { "vnd.docker.reference.type": "attestation-manifest" } });
    let document = index(&[
        entry("old", media_type::OCI_MANIFEST, &old),
        entry("new", media_type::OCI_MANIFEST, &new),
        entry("annotated", media_type::OCI_MANIFEST, &annotated),
        entry("what", "application/vnd.example.what+json", &json!({ "platform": linux })),
        entry("typed", media_type::OCI_MANIFEST, &json!({ "platform": linux, "artifactType": "application/x" })),
        image("image", "linux", "amd64", None),
    ]);
    check_selected(&document, "linux_amd64", "image", &[]);
    let platforms = parse_index(&document).unwrap().platforms();
    assert_eq!(platforms, [super::linux()]);
}

#[test]
fn no_variant_is_preferred_and_v6_on_arm() {
    let v5 = image("v5", "linux", "arm", Some("v5"));
    let v6 = image("v6", "linux", "arm", Some("v6"));
    let v7 = image("v7", "linux", "arm", Some("v7"));
    let none = image("none", "linux", "arm", None);
    check_selected(&index(&[v7.clone(), v5.clone(), v6.clone()]), "linux_arm", "v6", &["v5", "v7"]);
    check_selected(&index(&[v7.clone(), v6, none, v5.clone()]), "linux_arm", "none", &["v6", "v5", "v7"]);
    check_selected(&index(&[v7, v5]), "linux_arm", "v5", &["v7"]);
    let first = image("first", "linux", "amd64", None);
    let second = image("second", "linux", "amd64", None);
    check_selected(&index(&[first, second]), "linux_amd64", "first", &["second"]);
}

#[test]
fn an_entry_with_an_os_version_comes_last_among_images() {
    let platform = json!({ "os": "windows", "architecture": "amd64", "os.version": "10.0.17763" });
    let versioned = entry("versioned", media_type::OCI_MANIFEST, &json!({ "platform": platform }));
    check_selected(&index(std::slice::from_ref(&versioned)), "windows_amd64", "versioned", &[]);
    let plain = image("plain", "windows", "amd64", Some("v2"));
    check_selected(&index(&[versioned, plain]), "windows_amd64", "plain", &["versioned"]);
}

#[test]
fn a_nested_index_is_absorbed_and_its_entries_inherit_the_platform() {
    let child = index(&[entry("image", media_type::OCI_MANIFEST, &json!({}))]);
    let (descriptor, bytes) = descriptor_of(&child, media_type::OCI_INDEX);
    let mut own = serde_json::to_value(&descriptor).unwrap();
    own["platform"] = json!({ "os": "linux", "architecture": "amd64" });
    let mut release = parse_index(&index(&[own, image("darwin", "darwin", "arm64", None)])).unwrap();
    assert_eq!(release.unread(&"darwin_arm64".parse().unwrap()), []);
    assert_eq!(release.platforms().len(), 2);
    let unread = release.unread(&linux());
    assert_eq!(unread.len(), 1);
    let child = ReleaseIndex::parse(&Descriptor::of(media_type::OCI_INDEX, &bytes), &bytes).unwrap();
    release.absorb(&unread[0].digest, child).unwrap();
    assert_eq!(release.unread(&linux()), []);
    assert_eq!(select(&release, &linux()).unwrap().descriptor.digest, Digest::sha256(b"image"));
    assert_eq!(release.platforms().len(), 2);
}

#[test]
fn indexes_that_nest_too_deep_are_refused() {
    let deeper = |name: &str| index(&[entry(name, media_type::OCI_INDEX, &json!({}))]);
    let mut release = parse_index(&deeper("0")).unwrap();
    let mut refused = None;
    for level in 1..10 {
        let child = parse_index(&deeper(&level.to_string())).unwrap();
        let unread = release.unread(&linux());
        if let Err(error) = release.absorb(&unread[0].digest, child) {
            refused = Some((level, error));
            break;
        }
    }
    let (level, error) = refused.expect("there must be an end");
    assert_eq!(level, crate::MAX_NESTING);
    assert!(matches!(error, LayoutError::TooMany { what: "levels of nested indexes", .. }), "{error}");
}

#[test]
fn the_artifact_is_taken_before_the_image_and_the_image_where_there_is_no_artifact() {
    let platform = json!({ "os": "linux", "architecture": "amd64" });
    let artifact = entry(
        "artifact",
        media_type::OCI_MANIFEST,
        &json!({ "platform": platform, "artifactType": artifact_type::PROVIDER_TARGET }),
    );
    let mut document =
        index(&[image("image", "linux", "amd64", None), image("darwin", "darwin", "arm64", None), artifact]);
    document["artifactType"] = json!(artifact_type::PROVIDER);
    let release = parse_index(&document).unwrap();
    assert_eq!(release.layout(), PackageLayout::Both);
    assert_eq!(select(&release, &linux()).unwrap().kind, LeafKind::Artifact);
    assert_eq!(select(&release, &"darwin_arm64".parse().unwrap()).unwrap().kind, LeafKind::Image);
    let candidates: Vec<LeafKind> = release.candidates(&linux()).iter().map(|entry| release.kind(entry)).collect();
    assert_eq!(candidates, [LeafKind::Artifact, LeafKind::Image]);
}

#[test]
fn nulls_read_like_absent_members() {
    let document = json!({ "schemaVersion": 2, "mediaType": media_type::OCI_INDEX, "artifactType": null,
        "manifests": null, "annotations": null, "layers": null });
    assert_eq!(parse_index(&document).unwrap().platforms(), []);
}

#[test]
fn image_layers_of_every_packing_are_read() {
    let layer = |media_type: &str| json!({ "mediaType": media_type, "digest": Digest::sha256(b"l"), "size": 1 });
    let config = json!({ "mediaType": media_type::DOCKER_CONFIG, "digest": Digest::sha256(b"c"), "size": 1 });
    let leaf = parse_leaf(
        &json!({ "schemaVersion": 2, "mediaType": media_type::DOCKER_MANIFEST, "config": config, "layers": [
            layer(media_type::LAYER_TAR), layer(media_type::LAYER_TAR_GZIP), layer(media_type::LAYER_TAR_ZSTD),
            layer("application/vnd.docker.image.rootfs.diff.tar.gzip"),
            layer("application/vnd.docker.image.rootfs.foreign.diff.tar.gzip"),
        ]}),
        None,
    );
    assert_eq!(leaf.unwrap().parts().len(), 5);
    let empty = parse_leaf(&json!({ "config": config, "layers": [] }), None).unwrap();
    assert_eq!((empty.kind(), empty.parts().len()), (LeafKind::Image, 0));
}

#[test]
fn the_one_zstd_layer_beside_the_zip_is_the_small_one() {
    let layer = |name: &str, media_type: &str| json!({ "mediaType": media_type, "digest": Digest::sha256(name.as_bytes()), "size": 1 });
    let config = json!({ "mediaType": media_type::OCI_EMPTY, "digest": Digest::sha256(b"{}"), "size": 2 });
    let leaf = |layers: &[Value]| {
        parse_artifact_leaf(&json!({ "schemaVersion": 2, "mediaType": media_type::OCI_MANIFEST, "config": config,
            "artifactType": artifact_type::PROVIDER_TARGET, "layers": layers }))
        .unwrap()
    };
    let (zip, small) = (layer("zip", media_type::ARCHIVE_ZIP), layer("small", media_type::LAYER_TAR_ZSTD));
    let digest = |leaf: &Leaf| leaf.small_layer().map(|layer| layer.digest.clone());
    for layers in [[small.clone(), zip.clone()], [zip.clone(), small.clone()]] {
        assert_eq!(digest(&leaf(&layers)), Some(Digest::sha256(b"small")));
        assert_eq!(leaf(&layers).parts(), [leaf(&layers).package_layer().unwrap().clone()]);
    }
    let other = layer("other", media_type::LAYER_TAR_ZSTD);
    assert_eq!(digest(&leaf(&[zip.clone(), small, other])), None);
    assert_eq!(digest(&leaf(&[zip, layer("text", "text/plain")])), None);
}
