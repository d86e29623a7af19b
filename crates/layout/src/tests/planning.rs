//! What is written, read by ourselves and by `oci-spec`.

use std::collections::BTreeMap;

use oci_spec::image::{ImageConfiguration, ImageIndex, ImageManifest};
use tofu_oci_types::{Descriptor, Digest, PackageHash};

use super::{package, small_package};
use crate::{
    ImageConfig, IndexFacts, Leaf, LeafKind, LeafPlan, PackageLayout, Planned, PlatformHashes, ReleaseIndex,
    plan_index, plan_leaves, select,
};

pub(super) fn facts(platforms: &[&str]) -> IndexFacts {
    let hashes = |platform: &&str| {
        let zip = Digest::sha256(format!("zip {platform}").as_bytes());
        let hashes = PlatformHashes {
            h1: Some(PackageHash::h1(&[7; 32])),
            zh: PackageHash::zh(&zip),
            size: 1000,
            filename: format!("terraform-provider-widget_1.4.0_{platform}.zip"),
        };
        (platform.parse().unwrap(), hashes)
    };
    IndexFacts {
        address: "registry.example.test/acme/widget".parse().unwrap(),
        version: "1.4.0".parse().unwrap(),
        protocols: vec!["5.0".to_owned(), "6.0".to_owned()],
        hashes: platforms.iter().map(hashes).collect::<BTreeMap<_, _>>(),
    }
}

pub(super) fn plan(platforms: &[&str], layout: PackageLayout) -> (Vec<LeafPlan>, Planned) {
    let leaves: Vec<LeafPlan> =
        platforms.iter().flat_map(|platform| plan_leaves(&package(platform), layout).unwrap()).collect();
    let index = plan_index(&leaves, &facts(platforms), layout);
    (leaves, index)
}

fn text(planned: &Planned) -> &str {
    std::str::from_utf8(&planned.bytes).unwrap()
}

#[test]
fn an_artifact_leaf_is_these_bytes() {
    let (leaves, _) = plan(&["linux_amd64"], PackageLayout::Artifact);
    insta::assert_snapshot!(text(&leaves[0].manifest), @r#"{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","artifactType":"application/vnd.opentofu.provider-target","config":{"mediaType":"application/vnd.oci.image.config.v1+json","digest":"sha256:f0134307ae83d4bedce47829e2c732903c5544dc028dd35292b4775f22a37734","size":219},"layers":[{"mediaType":"archive/zip","digest":"sha256:7255baaabadae0d3a24d458c0dd6486095083c5f7092c0ef8c27099ccb771912","size":1000,"annotations":{"org.opencontainers.image.title":"terraform-provider-widget_1.4.0_linux_amd64.zip"}}]}"#);
    insta::assert_snapshot!(text(&leaves[0].config), @r#"{"architecture":"amd64","os":"linux","config":{"Labels":{"org.opentofu.package-type":"provider_binary"}},"rootfs":{"type":"layers","diff_ids":["sha256:7255baaabadae0d3a24d458c0dd6486095083c5f7092c0ef8c27099ccb771912"]}}"#);
}

#[test]
fn an_image_leaf_is_these_bytes() {
    let (leaves, _) = plan(&["linux_amd64"], PackageLayout::Image);
    insta::assert_snapshot!(text(&leaves[0].manifest), @r#"{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{"mediaType":"application/vnd.oci.image.config.v1+json","digest":"sha256:dbad03eebe3d43102c090ffde70f5e9d25e58009130462663ff0e1c9a59765bb","size":219},"layers":[{"mediaType":"application/vnd.oci.image.layer.v1.tar+gzip","digest":"sha256:20f7b30e81f4356c188362d7f56de1b7acd8f2e98c1d25014c5a84bf30eb274f","size":1100}]}"#);
    insta::assert_snapshot!(text(&leaves[0].config), @r#"{"architecture":"amd64","os":"linux","config":{"Labels":{"org.opentofu.package-type":"provider_binary"}},"rootfs":{"type":"layers","diff_ids":["sha256:d6488160b74036c4d20934ac1a73db5a61ba62caea46dce018cda552062feade"]}}"#);
}

#[test]
fn an_index_of_both_is_these_bytes() {
    let (_, index) = plan(&["linux_amd64"], PackageLayout::Both);
    insta::assert_snapshot!(text(&index), @r#"{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","artifactType":"application/vnd.opentofu.provider","manifests":[{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":"sha256:273af8fb76dff793e94febefb5542d4d0afe23baba0186eb5a1727e5772ccc68","size":402,"platform":{"architecture":"amd64","os":"linux"},"annotations":{"org.opentofu.provider.filename":"terraform-provider-widget_1.4.0_linux_amd64.zip","org.opentofu.provider.h1":"h1:BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=","org.opentofu.provider.package-size":"1000","org.opentofu.provider.zh":"zh:7255baaabadae0d3a24d458c0dd6486095083c5f7092c0ef8c27099ccb771912"}},{"mediaType":"application/vnd.oci.image.manifest.v1+json","artifactType":"application/vnd.opentofu.provider-target","digest":"sha256:b9dbb2f37f6efc77597924a292461c46ff8808d8247a3c25d72db20c41747c70","size":527,"platform":{"architecture":"amd64","os":"linux"},"annotations":{"org.opentofu.provider.filename":"terraform-provider-widget_1.4.0_linux_amd64.zip","org.opentofu.provider.h1":"h1:BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=","org.opentofu.provider.package-size":"1000","org.opentofu.provider.zh":"zh:7255baaabadae0d3a24d458c0dd6486095083c5f7092c0ef8c27099ccb771912"}}],"annotations":{"org.opencontainers.image.title":"terraform-provider-widget","org.opencontainers.image.version":"1.4.0","org.opentofu.provider.address":"registry.example.test/acme/widget","org.opentofu.provider.protocols":"5.0,6.0","org.opentofu.provider.version":"1.4.0"}}"#);
}

#[test]
fn images_come_first_and_platforms_are_sorted_whatever_the_order_of_the_leaves() {
    let (mut leaves, index) = plan(&["windows_amd64", "darwin_arm64", "linux_amd64"], PackageLayout::Both);
    leaves.reverse();
    let again = plan_index(&leaves, &facts(&["windows_amd64", "darwin_arm64", "linux_amd64"]), PackageLayout::Both);
    assert_eq!(index, again);
    let document: ImageIndex = serde_json::from_slice(&index.bytes).unwrap();
    let order: Vec<String> = document
        .manifests()
        .iter()
        .map(|entry| {
            let kind = if entry.artifact_type().is_some() { "artifact" } else { "image" };
            format!("{kind} {}", entry.platform().as_ref().unwrap().os())
        })
        .collect();
    let wanted =
        ["image darwin", "image linux", "image windows", "artifact darwin", "artifact linux", "artifact windows"];
    assert_eq!(order, wanted);
}

#[test]
fn a_missing_zip_or_layer_is_named() {
    let mut without = package("linux_amd64");
    (without.zip, without.layer) = (None, None);
    let error = |layout| plan_leaves(&without, layout).unwrap_err().to_string();
    insta::assert_snapshot!(error(PackageLayout::Artifact), @"the artifact layout needs the zip of linux_amd64");
    insta::assert_snapshot!(error(PackageLayout::Both), @"the image layout needs the layer of linux_amd64");
}

#[test]
fn a_zip_must_have_the_digest_that_released_opentofu_takes() {
    let mut other = package("linux_amd64");
    other.zip = Some((format!("sha512:{}", "0".repeat(128)).parse().unwrap(), 1));
    let error = plan_leaves(&other, PackageLayout::Artifact).unwrap_err().to_string();
    assert!(error.ends_with("must have a sha256 digest"), "{error}");
}

#[test]
fn another_library_reads_what_is_written() {
    let (leaves, index) = plan(&["linux_amd64", "darwin_arm64"], PackageLayout::Both);
    let document: ImageIndex = serde_json::from_slice(&index.bytes).unwrap();
    assert_eq!(document.manifests().len(), 4);
    assert_eq!(document.artifact_type().as_ref().unwrap().to_string(), crate::artifact_type::PROVIDER);
    for leaf in leaves {
        let manifest: ImageManifest = serde_json::from_slice(&leaf.manifest.bytes).unwrap();
        assert_eq!(manifest.config().digest().to_string(), leaf.config.descriptor.digest.to_string());
        assert_eq!(manifest.layers().len(), 1);
        let config: ImageConfiguration = serde_json::from_slice(&leaf.config.bytes).unwrap();
        assert_eq!(config.os().to_string(), leaf.platform.os());
        assert_eq!(config.rootfs().diff_ids().len(), 1);
        let labels = config.config().as_ref().unwrap().labels().clone().unwrap();
        assert_eq!(labels.get(crate::LABEL).map(String::as_str), Some(crate::LABEL_PROVIDER));
    }
}

#[test]
fn what_is_written_is_read_back() {
    for layout in [PackageLayout::Artifact, PackageLayout::Image, PackageLayout::Both] {
        let platforms = ["darwin_arm64", "linux_amd64"];
        let (leaves, planned) = plan(&platforms, layout);
        let index = ReleaseIndex::parse(&planned.descriptor, &planned.bytes).unwrap();
        assert_eq!(index.layout(), layout);
        assert_eq!(index.platforms().iter().map(ToString::to_string).collect::<Vec<_>>(), platforms);
        let claims = index.claims();
        assert_eq!(claims.address, Some(facts(&platforms).address));
        assert_eq!(claims.protocols, ["5.0", "6.0"]);
        for (platform, hashes) in facts(&platforms).hashes {
            let claim = &claims.platforms[&platform];
            assert_eq!((&claim.h1, &claim.zh), (&hashes.h1, &hashes.zh));
            assert_eq!((claim.size, claim.filename.as_ref()), (Some(hashes.size), Some(&hashes.filename)));
            let selected = select(&index, &platform).unwrap();
            let wanted = if layout == PackageLayout::Image { LeafKind::Image } else { LeafKind::Artifact };
            assert_eq!(selected.kind, wanted);
            let leaf =
                leaves.iter().find(|leaf| leaf.manifest.descriptor.digest == selected.descriptor.digest).unwrap();
            check_leaf(leaf, &selected.descriptor);
        }
    }
}

#[test]
fn a_small_layer_comes_after_the_zip_and_an_image_has_none() {
    let package = small_package("linux_amd64");
    let [image, artifact] = plan_leaves(&package, PackageLayout::Both).unwrap().try_into().unwrap();
    assert_eq!(image, plan_leaves(&super::package("linux_amd64"), PackageLayout::Image).unwrap()[0]);
    let leaf = Leaf::parse(&artifact.manifest.descriptor, &artifact.manifest.bytes).unwrap();
    let titles: Vec<&str> =
        leaf.layers().iter().map(|layer| layer.annotations[crate::annotation::TITLE].as_str()).collect();
    assert_eq!(
        titles,
        ["terraform-provider-widget_1.4.0_linux_amd64.zip", "terraform-provider-widget_1.4.0_linux_amd64.tar.zst"]
    );
    let small = package.small.unwrap();
    let found = leaf.small_layer().unwrap();
    assert_eq!((&found.digest, found.size), (&small.digest, small.size));
    assert_eq!(leaf.parts(), artifact.blobs[..1]);
    assert_eq!(leaf.layers(), artifact.blobs);
    let config = ImageConfig::parse(&artifact.config.bytes).unwrap();
    assert_eq!(config.diff_ids(), [artifact.blobs[0].digest.clone(), small.diff_id]);
    let index = plan_index(&[image, artifact], &facts(&["linux_amd64"]), PackageLayout::Both);
    let index: ImageIndex = serde_json::from_slice(&index.bytes).unwrap();
    let claimed =
        |entry: &oci_spec::image::Descriptor| entry.annotations().as_ref()?.get(crate::annotation::SMALL).cloned();
    assert_eq!(index.manifests().iter().map(claimed).collect::<Vec<_>>(), [None, Some(small.digest.to_string())]);
}

fn check_leaf(plan: &LeafPlan, entry: &Descriptor) {
    let leaf = Leaf::parse(entry, &plan.manifest.bytes).unwrap();
    assert_eq!(leaf.kind(), plan.kind);
    assert_eq!(leaf.parts(), plan.blobs);
    assert_eq!(leaf.config(), &plan.config.descriptor);
    let config = ImageConfig::parse(&plan.config.bytes).unwrap();
    assert_eq!(config.require_provider_label(), Ok(()));
    assert_eq!(config.platform().as_ref(), Some(&plan.platform));
    assert_eq!(config.diff_ids().len(), leaf.layers().len());
}
