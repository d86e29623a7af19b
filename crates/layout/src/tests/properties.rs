//! What holds for every input.

use proptest::prelude::*;
use tofu_oci_types::Descriptor;

use super::linux;
use super::planning::plan;
use crate::{ImageConfig, Leaf, PackageLayout, ReleaseIndex, media_type, select};

const PLATFORMS: &[&str] =
    &["darwin_amd64", "darwin_arm64", "freebsd_386", "linux_amd64", "linux_arm", "windows_arm64"];

/// Text that is nearly an index or manifest: JSON members that the readers look at, with values of all kinds.
fn nearly() -> impl Strategy<Value = String> {
    let value = prop_oneof![
        Just("null".to_owned()),
        Just("[]".to_owned()),
        Just("[{}]".to_owned()),
        Just("{}".to_owned()),
        Just("-1".to_owned()),
        Just(r#""application/vnd.oci.image.index.v1+json""#.to_owned()),
        Just(r#""application/vnd.opentofu.provider""#.to_owned()),
        Just(r#"[{"mediaType":"","digest":"sha256:","size":1}]"#.to_owned()),
        Just(
            r#"[{"mediaType":"archive/zip","digest":"md5:00","size":18446744073709551615,"platform":{},"annotations":null}]"#
                .to_owned()
        ),
    ];
    let name = prop_oneof![
        Just("mediaType"),
        Just("artifactType"),
        Just("manifests"),
        Just("layers"),
        Just("config"),
        Just("rootfs"),
        Just("annotations"),
        Just("os"),
    ];
    proptest::collection::btree_map(name, value, 0..6).prop_map(|members| {
        let members: Vec<String> = members.iter().map(|(name, value)| format!("{name:?}:{value}")).collect();
        format!("{{{}}}", members.join(","))
    })
}

fn read_everything(bytes: &[u8]) {
    let media_types = [media_type::OCI_INDEX, media_type::DOCKER_LIST, media_type::OCI_MANIFEST, "", "text/plain"];
    for media in media_types {
        let mut descriptor = Descriptor::of(media, bytes);
        for artifact in [None, Some(crate::artifact_type::PROVIDER_TARGET)] {
            descriptor.artifact_type = artifact.map(ToOwned::to_owned);
            // Only that none of this panics: the answers are tested elsewhere.
            if let Ok(index) = ReleaseIndex::parse(&descriptor, bytes) {
                let _ = (select(&index, &linux()), index.claims(), index.platforms(), index.unread(&linux()));
                for (platform, entries) in index.all_candidates() {
                    let entries: Vec<Descriptor> = entries.into_iter().cloned().collect();
                    assert_eq!(entries, index.candidates(&platform));
                }
            }
            if let Ok(leaf) = Leaf::parse(&descriptor, bytes) {
                let _ = (leaf.package_layer(), leaf.parts());
            }
        }
    }
    if let Ok(config) = ImageConfig::parse(bytes) {
        let _ = (config.platform(), config.require_provider_label());
    }
}

proptest! {
    #[test]
    fn reading_never_panics_on_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        read_everything(&bytes);
    }

    #[test]
    fn reading_never_panics_on_what_is_nearly_right(text in nearly()) {
        read_everything(text.as_bytes());
    }

    #[test]
    fn every_plan_reads_back_and_does_not_depend_on_order(
        platforms in proptest::sample::subsequence(PLATFORMS, 1..=PLATFORMS.len()).prop_shuffle(),
        layout in prop_oneof![Just(PackageLayout::Artifact), Just(PackageLayout::Image), Just(PackageLayout::Both)],
    ) {
        let (_, planned) = plan(&platforms, layout);
        let mut sorted = platforms.clone();
        sorted.sort_unstable();
        prop_assert_eq!(&plan(&sorted, layout).1, &planned);
        let index = ReleaseIndex::parse(&planned.descriptor, &planned.bytes).unwrap();
        prop_assert_eq!(index.layout(), layout);
        let offered: Vec<String> = index.platforms().iter().map(ToString::to_string).collect();
        prop_assert_eq!(offered, sorted);
        for platform in platforms {
            prop_assert!(select(&index, &platform.parse().unwrap()).is_ok());
        }
    }
}
