//! The JSON of releases and modules in OCI: the first byte says which document the rest is.

use tofu_oci_layout::{ImageConfig, Leaf, ModuleManifest, ReleaseIndex, media_type, select};
use tofu_oci_types::{Descriptor, Platform};

use crate::seeds;

/// Reads the document.
pub fn run(bytes: &[u8]) {
    let Some((kind, document)) = bytes.split_first() else { return };
    let descriptor = |media_type| Descriptor::of(media_type, document);
    match kind % 4 {
        0 => match ReleaseIndex::parse(&descriptor(media_type::OCI_INDEX), document) {
            Ok(index) => index_is_sound(&index),
            Err(error) => assert!(!error.to_string().is_empty()),
        },
        1 => match Leaf::parse(&descriptor(media_type::OCI_MANIFEST), document) {
            Ok(leaf) => {
                assert!(
                    leaf.package_layer().into_iter().chain(leaf.small_layer()).all(|one| leaf.layers().contains(one))
                );
                assert!(leaf.parts().iter().all(|part| leaf.layers().contains(part)));
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        },
        2 => match ModuleManifest::parse(&descriptor(media_type::OCI_MANIFEST), document) {
            Ok(module) => assert!(!module.package().media_type.is_empty()),
            Err(error) => assert!(!error.code().is_empty() && !error.to_string().is_empty()),
        },
        _ => {
            if let Ok(config) = ImageConfig::parse(document)
                && let Some(platform) = config.platform()
            {
                assert_eq!((platform.os(), platform.arch()), (config.os(), config.architecture()));
            }
        }
    }
}

fn index_is_sound(index: &ReleaseIndex) {
    let platforms = index.platforms();
    assert!(platforms.is_sorted_by(|one, next| one < next), "{platforms:?}");
    let all = index.all_candidates();
    let other: Platform = "plan9_mips".parse().expect("a platform");
    for platform in platforms.iter().chain([&other]) {
        let candidates = index.candidates(platform);
        let listed: Vec<Descriptor> = all.get(platform).into_iter().flatten().map(|one| (*one).clone()).collect();
        assert_eq!(candidates, listed, "{platform}");
        match select(index, platform) {
            Ok(selected) => {
                assert!(candidates.contains(&selected.descriptor) && platforms.contains(platform), "{platform}");
                assert_eq!(index.kind(&selected.descriptor), selected.kind);
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
    let _ = (index.layout(), index.claims(), index.created());
}

/// The documents of the small repositories that were measured.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    for (path, bytes) in seeds::files("testrepos", "").into_iter().chain(seeds::files("testrepos-modules", "")) {
        let is_blob = path.components().any(|part| part.as_os_str() == "blobs");
        if is_blob && bytes.first() == Some(&b'{') && bytes.len() < 8192 {
            let text = String::from_utf8_lossy(&bytes);
            let kind = match () {
                () if text.contains("\"manifests\"") => 0,
                () if text.contains("rootfs") => 3,
                () if text.contains("module") => 2,
                () => 1,
            };
            found.push([&[kind][..], &bytes].concat());
        }
    }
    found.sort();
    found.dedup();
    found
}
