//! Released `OpenTofu`'s own decisions, as data.

use serde::Deserialize;
use serde_json::{Value, json};
use tofu_oci_types::{Descriptor, Digest};
use tofu_oci_vectors::Vectors;

use super::{parse_artifact_leaf, parse_index};
use crate::{DocumentKind, LayoutError, artifact_type, check_release, media_type, select};

#[derive(Deserialize)]
struct Resolved {
    descriptor: Value,
    error: Option<String>,
}

#[derive(Deserialize)]
struct Body {
    body: Value,
    error: Option<String>,
}

#[derive(Deserialize)]
struct Selection {
    name: String,
    manifests: Value,
    selected_index: Option<usize>,
    error: Option<String>,
}

#[derive(Deserialize)]
struct Layers {
    name: String,
    layer_media_types: Vec<String>,
    selected_index: Option<usize>,
    error: Option<String>,
}

/// Every case of a section. A case of another form fails alone.
#[track_caller]
fn each<T: for<'de> Deserialize<'de>>(section: &str, check: impl Fn(T)) {
    let table = Vectors::open("oci_selection.json");
    table.each(section, |case| check(T::deserialize(case).unwrap_or_else(|error| panic!("unreadable case: {error}"))));
}

/// The vectors' name for one of our errors.
fn name(error: &LayoutError) -> &'static str {
    match error {
        LayoutError::PlatformNotOffered { .. } => "platform-not-supported",
        LayoutError::AmbiguousPlatform { .. } | LayoutError::SeveralPackageLayers { .. } => "ambiguous",
        LayoutError::LeafMediaType { .. } => "unsupported-media-type",
        LayoutError::NoProviderPackages { found } if found.is_empty() => "maybe-container-image",
        LayoutError::NoProviderPackages { .. } => "unsupported-artifact-type",
        LayoutError::NoPackageLayer { found, .. } if found.is_empty() => "no-zip-layer",
        LayoutError::NoPackageLayer { .. } => "no-zip-layer-but-others",
        LayoutError::BodyMediaType { .. } => "unexpected-media-type",
        LayoutError::NotAProviderIndex { found } => match found {
            DocumentKind::SingleManifest => "is-image-manifest",
            DocumentKind::ProviderTarget => "is-provider-target",
            DocumentKind::ModulePackage => "is-module-package",
            DocumentKind::Artifact(_) => "unsupported-artifact-type",
            _ => "unsupported-media-type",
        },
        _ => "other",
    }
}

#[test]
fn what_a_tag_resolves_to() {
    each("resolved_descriptor", |case: Resolved| {
        let mut value = case.descriptor.clone();
        value["digest"] = json!(Digest::sha256(b""));
        value["size"] = json!(1);
        let descriptor: Descriptor = serde_json::from_value(value).unwrap();
        let ours = check_release(&descriptor).err();
        if descriptor.media_type == media_type::DOCKER_LIST {
            // Our decision: the image layout is read from Docker manifest lists too, because older builders write them.
            assert_eq!(ours, None);
        } else {
            assert_eq!(ours.as_ref().map(name), case.error.as_deref(), "{}", case.descriptor);
        }
    });
}

#[test]
fn what_the_index_says_of_itself() {
    each("index_manifest_body", |case: Body| {
        let mut body = case.body.clone();
        body["manifests"] = json!([]);
        let bytes = serde_json::to_vec(&body).unwrap();
        let descriptor = Descriptor::of(media_type::OCI_INDEX, &bytes);
        let ours = crate::ReleaseIndex::parse(&descriptor, &bytes).err();
        if case.error.as_deref() == Some("unexpected-artifact-type") && body.get("artifactType").is_none() {
            // Our decision: an index without an artifact type may hold images; the label decides.
            assert_eq!(ours, None);
        } else {
            assert_eq!(ours.as_ref().map(name), case.error.as_deref(), "{}", case.body);
        }
    });
}

#[test]
fn which_entry_is_the_platforms() {
    each("platform_selection", |case: Selection| {
        // The vectors give all entries one digest; here each has its own, to see which was chosen.
        let mut manifests = case.manifests.clone();
        for (at, entry) in manifests.as_array_mut().unwrap().iter_mut().enumerate() {
            entry["digest"] = json!(Digest::sha256(&[u8::try_from(at).unwrap()]));
        }
        let index = parse_index(&json!({
            "mediaType": media_type::OCI_INDEX, "artifactType": artifact_type::PROVIDER, "manifests": manifests,
        }));
        let ours = select(&index.unwrap(), &super::linux());
        let chosen = ours.as_ref().ok().map(|selected| selected.descriptor.digest.clone());
        let wanted = case.selected_index.map(|at| Digest::sha256(&[u8::try_from(at).unwrap()]));
        assert_eq!(chosen, wanted, "{}", case.name);
        assert_eq!(ours.as_ref().err().map(name), case.error.as_deref(), "{}", case.name);
    });
}

#[test]
fn which_layer_is_the_package() {
    each("layer_selection", |case: Layers| {
        let layer = |(at, media_type): (usize, &String)| {
            let digest = Digest::sha256(&[u8::try_from(at).unwrap()]);
            json!({ "mediaType": media_type, "digest": digest, "size": 1 })
        };
        let layers: Vec<Value> = case.layer_media_types.iter().enumerate().map(layer).collect();
        let ours = parse_artifact_leaf(&json!({
            "mediaType": media_type::OCI_MANIFEST,
            "artifactType": artifact_type::PROVIDER_TARGET,
            "config": { "mediaType": media_type::OCI_EMPTY, "digest": Digest::sha256(b"{}"), "size": 2 },
            "layers": layers,
        }));
        let chosen = ours.as_ref().ok().and_then(|leaf| leaf.package_layer()).map(|layer| layer.digest.clone());
        let wanted = case.selected_index.map(|at| Digest::sha256(&[u8::try_from(at).unwrap()]));
        assert_eq!(chosen, wanted, "{}", case.name);
        assert_eq!(ours.as_ref().err().map(name), case.error.as_deref(), "{}", case.name);
    });
}
