//! Rules about leaves that are container images, and about image configs.

use std::collections::BTreeMap;

use tofu_oci_layout::{LABEL, LABEL_PROVIDER, media_type};
use tofu_oci_types::{PackageHash, Platform};

use super::catalogue::leaf::{CONFIG_PLATFORM, CONFIG_UNREADABLE, DIFF_IDS, DIFF_IDS_MISSING, IMAGE_LABEL};
use super::catalogue::package::{LAYER_ARCHIVE, NO_EXECUTABLE, PACKAGES_DIFFER};
use super::document::text;
use super::image_config::{config, diff_ids, label};
use super::images::ImageFault;
use super::leaf::{IndexEntryKind, is_package_leaf};
use super::places::{Findings, manifest_place, quoted};
use super::subject::CheckSubject;
use crate::facts::{BlobContent, FoundRelease, IndexEntry};

/// The findings about one image, and about the image config of any leaf.
pub(super) fn check(subject: &CheckSubject<'_>, entry: &IndexEntry) -> Findings {
    let kind = IndexEntryKind::of(entry);
    if !matches!(kind, IndexEntryKind::Image | IndexEntryKind::Provider) || entry.leaf.manifest.found.is_err() {
        return Findings::new();
    }
    let place = manifest_place(entry);
    let mut found = config_platform(entry, &place);
    if kind == IndexEntryKind::Image && !is_package_leaf(entry) {
        found.extend(image(subject, entry, &place));
    }
    found.into_iter().map(|finding| finding.of_platform(entry.descriptor.platform().as_ref())).collect()
}

fn config_platform(entry: &IndexEntry, place: &str) -> Findings {
    let named = entry.leaf.config.as_ref().map(|config| config.descriptor.media_type.as_str());
    if !named.is_some_and(media_type::is_image_config) {
        return Findings::new();
    }
    let Some((config, of_entry)) = config(entry).zip(entry.descriptor.platform.as_ref()) else {
        return Findings::new();
    };
    let (os, architecture) = (text(config, "os"), text(config, "architecture"));
    if os.is_empty() && architecture.is_empty() || (os, architecture) == (&of_entry.os, &of_entry.architecture) {
        return Findings::new();
    }
    let said = format!(
        "its config says {os}_{architecture}, its entry in the index {}_{}",
        of_entry.os, of_entry.architecture
    );
    vec![CONFIG_PLATFORM.at(place, said)]
}

fn image(subject: &CheckSubject<'_>, entry: &IndexEntry, place: &str) -> Findings {
    let mut found = Findings::new();
    let Some(part) = &entry.leaf.config else {
        return vec![CONFIG_UNREADABLE.at(place, "it names no config")];
    };
    if config(entry).is_none() {
        let why = match &part.blob.content {
            Err(fault) if fault.unasked().is_some() => return found,
            Err(fault) => fault.text.clone(),
            Ok(BlobContent::Document { intact: false, .. }) => {
                "its bytes do not have the digest that names it".to_owned()
            }
            Ok(_) => "it is not a JSON document".to_owned(),
        };
        return vec![CONFIG_UNREADABLE.at(place, format!("its config {}: {why}", part.descriptor.digest))];
    }
    match label(entry) {
        Some(LABEL_PROVIDER) => {}
        Some(other) => found.push(IMAGE_LABEL.at(place, format!("its label {LABEL} is {}", quoted(other)))),
        None => {
            found.push(IMAGE_LABEL.at(place, format!("its config has no label {LABEL}")));
            return found;
        }
    }
    for layer in &entry.leaf.layers {
        if media_type::layer_format(&layer.descriptor.media_type).is_none() {
            let said = format!("layer {} is of type {}", layer.position, quoted(&layer.descriptor.media_type));
            found.push(LAYER_ARCHIVE.at(place, format!("{said}, which is not an image layer")));
        }
    }
    let (layers, ids) = (entry.leaf.layers.len(), diff_ids(entry).len());
    if ids == 0 && layers > 0 {
        found.push(DIFF_IDS_MISSING.at(place, "its config has no diff_ids"));
    } else if layers != ids {
        found.push(DIFF_IDS.at(place, format!("it has {layers} layers, and its config {ids} diff_ids")));
    }
    match subject.images.of(entry) {
        Some(Err(ImageFault::DiffId(problem))) => found.push(DIFF_IDS.at(place, problem.clone())),
        Some(Err(ImageFault::Layer(problem))) => found.push(LAYER_ARCHIVE.at(place, problem.clone())),
        Some(Ok(union)) => {
            let contents = &union.contents;
            let fits = |name: &str| super::package::is_executable(name, subject.provider_type);
            if !contents.files().iter().any(|file| fits(&file.name)) {
                found.push(NO_EXECUTABLE.at(place, super::package::no_executable(subject.provider_type)));
            }
            found.extend(super::package::program(subject, entry, place, &union.programs));
        }
        Some(Err(ImageFault::Unasked(_))) | None => {}
    }
    found
}

/// The findings about the images and the zips of a release together.
pub(super) fn together(subject: &CheckSubject<'_>, release: &FoundRelease) -> Findings {
    let mut found = Findings::new();
    let mut zips: Option<BTreeMap<Platform, Vec<(&IndexEntry, PackageHash)>>> = None;
    for entry in &release.entries {
        let (Some(Ok(union)), Some(platform)) = (subject.images.of(entry), entry.descriptor.platform()) else {
            continue;
        };
        let zips = zips.get_or_insert_with(|| self::zips(release));
        for (zip, h1) in zips.get(&platform).into_iter().flatten() {
            let of_union = union.contents.h1();
            if *h1 != of_union {
                let said =
                    format!("the image's files have {of_union}, those of the zip in {} have {h1}", manifest_place(zip));
                found.push(PACKAGES_DIFFER.at(manifest_place(entry), said).of_platform(Some(&platform)));
            }
        }
    }
    found
}

/// The leaves with a readable zip, and its `h1:`, by platform.
fn zips(release: &FoundRelease) -> BTreeMap<Platform, Vec<(&IndexEntry, PackageHash)>> {
    let mut zips: BTreeMap<Platform, Vec<(&IndexEntry, PackageHash)>> = BTreeMap::new();
    for entry in release.entries.iter().filter(|entry| IndexEntryKind::of(entry) == IndexEntryKind::Provider) {
        let h1 = super::package::zip(entry).and_then(|(_, package)| package.h1());
        if let (Some(platform), Some(h1)) = (entry.descriptor.platform(), h1) {
            zips.entry(platform).or_default().push((entry, h1));
        }
    }
    zips
}
