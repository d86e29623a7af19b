//! Rules about annotations.

use std::collections::BTreeMap;

use serde_json::Value;
use tofu_oci_layout::annotation;
use tofu_oci_types::{PackageHash, Platform, ProviderAddr, Scheme, Version};

use super::catalogue::annotations::{
    ANNOTATION_ADDRESS, ANNOTATION_FILENAME, ANNOTATION_H1, ANNOTATION_MALFORMED, ANNOTATION_SIZE, ANNOTATION_SMALL,
    ANNOTATION_VERSION, ANNOTATION_ZH, ANNOTATIONS_MISSING, NAMESPACE_UNDERSCORE,
};
use super::leaf::{IndexEntryKind, small_layer};
use super::package;
use super::places::{Findings, index_place, manifest_place};
use super::subject::CheckSubject;
use crate::facts::{BlobContent, FoundRelease, IndexEntry};
use crate::model::Finding;

fn of<'a>(document: &'a Value, name: &str) -> Option<&'a str> {
    document.get("annotations")?.get(name)?.as_str()
}

pub(super) fn check(subject: &CheckSubject<'_>, release: &FoundRelease) -> Findings {
    let mut found = Findings::new();
    let document = release.index.found.as_ref().ok().and_then(|document| document.value());
    let Some(document) = document.filter(|_| !release.entries.is_empty()) else { return found };
    let place = index_place(release);
    found.extend(address(subject, document, &place));
    found.extend(underscore(subject, document, &place));
    found.extend(version(release, document, &place));
    let leaves = release.entries.iter().filter(|entry| IndexEntryKind::of(entry) == IndexEntryKind::Provider);
    let bare =
        leaves.filter(|entry| of(&entry.raw, annotation::H1).is_none() || of(&entry.raw, annotation::ZH).is_none());
    let bare = bare.count();
    if bare > 0 {
        let leaves = if bare == 1 { "leaf has" } else { "leaves have" };
        found.push(ANNOTATIONS_MISSING.at(&place, format!("{bare} {leaves} no h1: or no zh: in the index")));
    }
    let sizes = zip_sizes(release);
    for entry in &release.entries {
        if matches!(IndexEntryKind::of(entry), IndexEntryKind::Provider | IndexEntryKind::Image) {
            let of_entry = leaf(subject, release, entry, &sizes);
            found.extend(of_entry.into_iter().map(|finding| finding.of_platform(entry.descriptor.platform().as_ref())));
        }
    }
    found
}

fn address(subject: &CheckSubject<'_>, document: &Value, place: &str) -> Findings {
    let Some(said) = of(document, annotation::ADDRESS) else { return Findings::new() };
    match (said.parse::<ProviderAddr>(), subject.address) {
        (Err(_), _) => {
            vec![ANNOTATION_MALFORMED.at(place, format!("{} is `{said}`, no provider address", annotation::ADDRESS))]
        }
        (Ok(own), Some(address)) if !subject.predecessors.same_provider(&own, address) => {
            vec![ANNOTATION_ADDRESS.at(place, format!("it says that it is {own}, and it is kept for {address}"))]
        }
        _ => Findings::new(),
    }
}

fn underscore(subject: &CheckSubject<'_>, document: &Value, place: &str) -> Option<Finding> {
    let said = of(document, annotation::ADDRESS).and_then(|said| said.parse().ok());
    let error = said.or_else(|| subject.address.cloned())?.for_opentofu().err()?;
    Some(NAMESPACE_UNDERSCORE.at(place, error.to_string()))
}

fn version(release: &FoundRelease, document: &Value, place: &str) -> Findings {
    let Some(said) = of(document, annotation::VERSION) else { return Findings::new() };
    match said.parse::<Version>() {
        Err(_) => vec![ANNOTATION_MALFORMED.at(place, format!("{} is `{said}`, no version", annotation::VERSION))],
        Ok(own) if own != release.version => {
            vec![
                ANNOTATION_VERSION
                    .at(place, format!("it says that it is {own}, and its tag that it is {}", release.version)),
            ]
        }
        Ok(_) => Findings::new(),
    }
}

/// The findings about the annotations of one entry.
fn leaf(
    subject: &CheckSubject<'_>,
    release: &FoundRelease,
    entry: &IndexEntry,
    sizes: &BTreeMap<Platform, u64>,
) -> Findings {
    let place = manifest_place(entry);
    let mut found = Findings::new();
    let claim = |name: &str| of(&entry.raw, name);
    for (name, scheme) in [(annotation::H1, Scheme::H1), (annotation::ZH, Scheme::Zh)] {
        let Some(claimed) = claim(name) else { continue };
        let well_formed =
            claimed.parse::<PackageHash>().is_ok_and(|hash| hash.scheme() == scheme && hash.is_well_formed());
        if !well_formed {
            found.push(ANNOTATION_MALFORMED.at(&place, format!("{name} is `{claimed}`, no such checksum")));
            continue;
        }
        match scheme {
            Scheme::H1 => found.extend(h1(subject, entry, claimed, &place)),
            _ => found.extend(zh(entry, claimed, &place)),
        }
    }
    found.extend(size(sizes, entry, claim(annotation::SIZE), &place));
    found.extend(filename(subject, release, entry, claim(annotation::FILENAME), &place));
    found.extend(claim(annotation::SMALL).and_then(|claimed| small(entry, claimed, &place)));
    found
}

fn h1(subject: &CheckSubject<'_>, entry: &IndexEntry, claimed: &str, place: &str) -> Findings {
    let contents = match IndexEntryKind::of(entry) {
        IndexEntryKind::Image => subject.images.of(entry).and_then(|union| Some(union.as_ref().ok()?.contents.h1())),
        _ => package::zip(entry).and_then(|(_, package)| package.h1()),
    };
    contents
        .filter(|h1| h1.as_str() != claimed)
        .map(|h1| ANNOTATION_H1.at(place, format!("it is annotated {claimed}, its files have {h1}")))
        .into_iter()
        .collect()
}

/// The manifest says which layer is the small one, so this needs no bytes.
fn small(entry: &IndexEntry, claimed: &str, place: &str) -> Option<crate::Finding> {
    entry.leaf.manifest.found.as_ref().ok()?;
    let said = match small_layer(entry) {
        Some(layer) if layer.descriptor.digest == claimed => return None,
        Some(layer) => format!("it is annotated `{claimed}`, its small layer is {}", layer.descriptor.digest),
        None => format!("it is annotated `{claimed}`, and has no small layer"),
    };
    Some(ANNOTATION_SMALL.at(place, said))
}

/// The digest of a zip layer is its `zh:`, so this needs no bytes.
fn zh(entry: &IndexEntry, claimed: &str, place: &str) -> Findings {
    let zip = |part: &&crate::facts::LeafPart| part.descriptor.media_type == tofu_oci_layout::media_type::ARCHIVE_ZIP;
    let Some(part) = entry.leaf.layers.iter().find(zip) else { return Findings::new() };
    let Some(zh) = part.descriptor.parsed_digest().and_then(|digest| PackageHash::zh(&digest)) else {
        return Findings::new();
    };
    if zh.as_str() == claimed {
        return Findings::new();
    }
    vec![ANNOTATION_ZH.at(place, format!("it is annotated {claimed}, its zip is {zh}"))]
}

/// The annotation is the size of the zip, also on an image, so an image is compared with the zip of its platform. It is
/// not checked if the release has no zip.
fn size(sizes: &BTreeMap<Platform, u64>, entry: &IndexEntry, claimed: Option<&str>, place: &str) -> Findings {
    let Some(claimed) = claimed else { return Findings::new() };
    let Ok(bytes) = claimed.parse::<u64>() else {
        return vec![
            ANNOTATION_MALFORMED.at(place, format!("{} is `{claimed}`, no number of bytes", annotation::SIZE)),
        ];
    };
    let of_platform = || sizes.get(&entry.descriptor.platform()?).copied();
    match zip_size(entry).or_else(of_platform) {
        Some(actual) if actual != bytes => {
            vec![ANNOTATION_SIZE.at(place, format!("it is annotated {bytes} bytes, its zip has {actual}"))]
        }
        _ => Findings::new(),
    }
}

/// The size of the first zip of each platform.
fn zip_sizes(release: &FoundRelease) -> BTreeMap<Platform, u64> {
    let mut sizes = BTreeMap::new();
    for entry in &release.entries {
        if let (Some(platform), Some(size)) = (entry.descriptor.platform(), zip_size(entry)) {
            sizes.entry(platform).or_insert(size);
        }
    }
    sizes
}

/// The size of the zip of a leaf, if it has one.
fn zip_size(entry: &IndexEntry) -> Option<u64> {
    let zip = |part: &&crate::facts::LeafPart| part.descriptor.media_type == tofu_oci_layout::media_type::ARCHIVE_ZIP;
    let part = entry.leaf.layers.iter().find(zip)?;
    match &part.blob.content {
        Ok(BlobContent::Package(package)) => Some(package.size),
        _ => u64::try_from(part.descriptor.size).ok(),
    }
}

/// The file name that mirrors give the zip.
fn filename(
    subject: &CheckSubject<'_>,
    release: &FoundRelease,
    entry: &IndexEntry,
    claimed: Option<&str>,
    place: &str,
) -> Findings {
    let (Some(claimed), Some(platform)) = (claimed, entry.descriptor.platform()) else { return Findings::new() };
    let end = format!("_{}_{platform}.zip", release.version);
    let fits = match subject.provider_type {
        Some(provider_type) => claimed == format!("terraform-provider-{provider_type}{end}"),
        None => claimed.strip_prefix("terraform-provider-").is_some_and(|rest| rest.ends_with(&end)),
    };
    if fits {
        return Findings::new();
    }
    let wanted = format!("terraform-provider-{}{end}", subject.provider_type.unwrap_or("TYPE"));
    vec![ANNOTATION_FILENAME.at(place, format!("it is annotated `{claimed}`, which mirrors do not take for {wanted}"))]
}
