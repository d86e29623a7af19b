//! Rules about the index of a release.

use serde_json::Value;
use tofu_oci_layout::{artifact_type, media_type};
use tofu_oci_types::{Tag, Version};

use super::catalogue::index::{
    ATTESTATION_ENTRY, INDEX_ARTIFACT_TYPE, INDEX_EMPTY, INDEX_MEDIA_TYPE, NESTED_INDEX, NOT_AN_INDEX,
};
use super::catalogue::leaf::{IMAGE_ONLY, NO_LEAVES, NO_PROVIDER_LEAF};
use super::catalogue::tags::{TAG_UNREADABLE, VERSION_NOT_LISTED};
use super::document::{self, has, text};
use super::leaf::IndexEntryKind;
use super::places::{Findings, index_place, quoted};
use crate::facts::FoundRelease;

/// How many versions are named that a repository has in the place of one that it lacks.
const MOST_LISTED: usize = 10;

pub(super) fn check(release: &FoundRelease, tags: &[String]) -> Findings {
    let place = index_place(release);
    let document = match &release.index.found {
        Ok(document) => document,
        Err(fault) => {
            if release.read_from.is_empty() {
                let mut listed: Vec<Version> =
                    tags.iter().filter_map(|tag| tag.parse::<Tag>().ok()?.version()).collect();
                listed.sort_by(|a, b| b.precedence(a));
                let listed: Vec<String> = listed.iter().take(MOST_LISTED).map(ToString::to_string).collect();
                let has = if listed.is_empty() { String::new() } else { format!("; it has {}", listed.join(", ")) };
                let missing = || format!("no tag of the repository reads as version {}", release.version);
                let said = release.withdrawn.clone().unwrap_or_else(missing);
                return vec![VERSION_NOT_LISTED.at(place, format!("{said}{has}"))];
            }
            if fault.unasked().is_some() {
                return Findings::new();
            }
            // A version whose canonical tag is not in the list has been reported as a tag.
            if release.tag.as_ref().is_some_and(|tag| release.read_from.iter().any(|one| one == tag.as_str())) {
                return vec![TAG_UNREADABLE.at(place, fault.text.clone())];
            }
            return Findings::new();
        }
    };
    let body = document.value().cloned().unwrap_or(Value::Null);
    let own = text(&body, "mediaType");
    let served = document.media_type.as_deref().filter(|served| !served.is_empty()).unwrap_or(own);
    let mut found = document::check(&place, document, served, None);
    match served {
        media_type::OCI_INDEX => {}
        media_type::OCI_MANIFEST | media_type::DOCKER_MANIFEST => {
            found.push(NOT_AN_INDEX.at(&place, format!("the tag names a manifest of one platform, `{served}`")));
            return found;
        }
        other => found.push(INDEX_MEDIA_TYPE.at(&place, format!("its media type is {}", quoted(other)))),
    }
    if body.is_null() {
        return found;
    }
    if release.entries.is_empty() {
        let said = if has(&body, "manifests") { "it lists nothing" } else { "it has no member `manifests`" };
        found.push(INDEX_EMPTY.at(&place, said));
    }
    found.extend(entries(release, &place));
    found.extend(kinds(release, &body, &place));
    found
}

/// Entries that do not lead to a package.
fn entries(release: &FoundRelease, place: &str) -> Findings {
    let mut found = Findings::new();
    for entry in &release.entries {
        let said = |what: &str| format!("entry {}, {}, is {what}", entry.position, quoted(&entry.descriptor.digest));
        match IndexEntryKind::of(entry) {
            IndexEntryKind::Attestation => found.push(ATTESTATION_ENTRY.at(place, said("a build attestation"))),
            IndexEntryKind::Nested => found.push(NESTED_INDEX.at(place, said("itself an index"))),
            _ => {}
        }
    }
    if release.entries_left_out > 0 {
        let said = format!("{} entries beyond the first {}", release.entries_left_out, release.entries.len());
        found.push(super::catalogue::index::TOO_MANY_ENTRIES.at(place, said));
    }
    found
}

/// The findings about the release as a whole.
fn kinds(release: &FoundRelease, body: &Value, place: &str) -> Findings {
    let mut found = Findings::new();
    let has_kind = |kind: IndexEntryKind| release.entries.iter().any(|entry| IndexEntryKind::of(entry) == kind);
    let provider = has_kind(IndexEntryKind::Provider);
    let labelled = release.entries.iter().any(super::image_config::is_labelled);
    let own = text(body, "artifactType");
    // The config says whether an image is a package, so this is unknown if the store did not answer for a config.
    let unsure = !labelled && release.entries.iter().any(super::image_config::is_label_unasked);
    if own.is_empty() && !provider && unsure {
        return found;
    }
    if own == artifact_type::PROVIDER {
        if !provider && !release.entries.is_empty() {
            let said = format!("no entry has the artifactType {}", artifact_type::PROVIDER_TARGET);
            found.push(NO_PROVIDER_LEAF.at(place, said));
        }
    } else if labelled && !provider && own.is_empty() {
        found.push(IMAGE_ONLY.at(place, "it lists labelled container images, and no leaf of provider type"));
        return found;
    } else {
        let said = match own {
            artifact_type::MODULE => "its artifactType is that of a module package".to_owned(),
            _ => format!("its artifactType is {}", quoted(own)),
        };
        found.push(INDEX_ARTIFACT_TYPE.at(place, said));
    }
    if !provider && !labelled && !release.entries.is_empty() {
        found.push(NO_LEAVES.at(place, "none of its entries is a provider package"));
    }
    found
}
