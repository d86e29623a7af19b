//! The leaf manifests and image configs are the bytes that `oci-spec` writes for the same values.
//!
//! Our own documents stay because `oci-spec` 0.10 loses `os.version`, refuses a whole index for one descriptor without
//! `mediaType`, and keeps annotations in a `HashMap`, so that an index has other bytes with each run (20 builds, 20 texts).
//! `the_other_library_does_not_read_every_index_yet` fails on the day on which the first two are fixed.

use std::collections::HashMap;

use oci_spec::image::{
    ConfigBuilder, Descriptor, DescriptorBuilder, Digest, ImageConfigurationBuilder, ImageManifestBuilder, MediaType,
    RootFsBuilder,
};

use super::planning::plan;
use crate::{LABEL, LABEL_PROVIDER, Leaf, LeafKind, LeafPlan, PackageLayout, artifact_type};

/// Our descriptor, in the types of the other library.
fn descriptor(ours: &tofu_oci_types::Descriptor) -> Descriptor {
    let digest: Digest = ours.digest.to_string().parse().expect("a digest");
    let media_type = MediaType::from(ours.media_type.as_str());
    let mut builder = DescriptorBuilder::default().media_type(media_type).digest(digest).size(ours.size);
    if !ours.annotations.is_empty() {
        builder = builder.annotations(ours.annotations.clone().into_iter().collect::<HashMap<_, _>>());
    }
    builder.build().expect("a descriptor")
}

fn manifest(plan: &LeafPlan) -> Vec<u8> {
    let leaf = Leaf::parse(&plan.manifest.descriptor, &plan.manifest.bytes).expect("a leaf of ours");
    let mut builder = ImageManifestBuilder::default()
        .schema_version(2_u32)
        .media_type(MediaType::ImageManifest)
        .config(descriptor(leaf.config()))
        .layers(leaf.layers().iter().map(descriptor).collect::<Vec<_>>());
    if plan.kind == LeafKind::Artifact {
        builder = builder.artifact_type(MediaType::from(artifact_type::PROVIDER_TARGET));
    }
    serde_json::to_vec(&builder.build().expect("a manifest")).expect("it can be written")
}

fn config(plan: &LeafPlan, diff_ids: Vec<String>) -> Vec<u8> {
    let labels = HashMap::from([(LABEL.to_owned(), LABEL_PROVIDER.to_owned())]);
    let config = ImageConfigurationBuilder::default()
        .architecture(plan.platform.arch())
        .os(plan.platform.os())
        .config(ConfigBuilder::default().labels(labels).build().expect("a config"))
        .rootfs(RootFsBuilder::default().typ("layers").diff_ids(diff_ids).build().expect("a file system"))
        .build();
    serde_json::to_vec(&config.expect("an image")).expect("it can be written")
}

#[test]
fn leaves_and_configs_are_what_another_library_writes() {
    let (leaves, _) = plan(&["darwin_arm64", "linux_amd64"], PackageLayout::Both);
    assert_eq!(leaves.len(), 4);
    for leaf in leaves {
        let shown = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert_eq!(shown(&leaf.manifest.bytes), shown(&manifest(&leaf)), "{:?}", leaf.kind);
        let ours = crate::ImageConfig::parse(&leaf.config.bytes).expect("a config of ours");
        let diff_ids = ours.diff_ids().iter().map(ToString::to_string).collect();
        assert_eq!(shown(&leaf.config.bytes), shown(&config(&leaf, diff_ids)), "{:?}", leaf.kind);
    }
}

/// Fails on the day on which `oci-spec` could read every index that we read: then our documents are to be weighed anew.
#[test]
fn the_other_library_does_not_read_every_index_yet() {
    let windows = r#"{"architecture":"amd64","os":"windows","os.version":"10.0.20348"}"#;
    let platform: oci_spec::image::Platform = serde_json::from_str(windows).expect("a platform");
    assert_eq!(platform.os_version(), &None, "it keeps `os.version` now");

    let entry = format!(r#"{{"digest":"sha256:{}","size":2}}"#, "0".repeat(64));
    let index = format!(r#"{{"schemaVersion":2,"manifests":[{entry}]}}"#);
    let read = serde_json::from_str::<oci_spec::image::ImageIndex>(&index);
    assert!(read.is_err(), "an entry without a media type does not spoil the index any more");
}
