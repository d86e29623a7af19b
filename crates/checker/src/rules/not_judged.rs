//! What no rule judges, because the store did not answer.
//!
//! A rule is about the content of a repository. Faults of the network or the machine and missing access rights leave it
//! unknown: they are listed here instead of in findings, and the program ends with another exit code.

use std::collections::HashSet;

use tofu_oci_store::StoreError;

use super::images::Images;
use super::leaf::IndexEntryKind;
use super::places::{index_place, manifest_place};
use super::referrers::Referring;
use crate::facts::{FoundRelease, ReadFault, RepositoryFacts};
use crate::model::NotJudged;

/// Everything about a repository that is not judged, each once, in the order of the releases.
pub(crate) fn of_check(facts: &RepositoryFacts, images: &Images, referring: &Referring) -> Vec<NotJudged> {
    let mut list = of_facts(facts);
    for release in &facts.releases {
        let version = release.version.to_string();
        let add = |place: String, error: &StoreError| entry(place, Some(&version), error);
        for one in &release.entries {
            if let Some(error) = images.unasked(one) {
                list.push(NotJudged { platform: one.descriptor.platform(), ..add(layers_of(one), error) });
            }
        }
        list.extend(referring.unasked(release).map(|(place, error)| add(place, error)));
    }
    list.extend(referring.unasked_tags().map(|(place, error)| entry(place, None, error)));
    once(list)
}

fn layers_of(entry: &crate::facts::IndexEntry) -> String {
    format!("layers of {}", manifest_place(entry))
}

/// The unjudged parts of the facts: indexes, lists of referrers, leaves, configs and layers.
pub fn of_facts(facts: &RepositoryFacts) -> Vec<NotJudged> {
    once(facts.releases.iter().flat_map(of_release).collect())
}

fn of_release(release: &FoundRelease) -> Vec<NotJudged> {
    let version = release.version.to_string();
    let mut list = Vec::new();
    let unasked = |fault: Option<&ReadFault>| fault.and_then(ReadFault::unasked).cloned();
    if let Some(error) = unasked(release.index.found.as_ref().err()) {
        list.push(entry(index_place(release), Some(&version), &error));
    }
    if let Some(error) = unasked(release.referrers.as_ref().err()) {
        list.push(entry(referrers_of(release), Some(&version), &error));
    }
    for one in &release.entries {
        if !matches!(IndexEntryKind::of(one), IndexEntryKind::Provider | IndexEntryKind::Image) {
            continue;
        }
        let platform = one.descriptor.platform();
        let mut add = |place: String, fault: Option<&ReadFault>| {
            if let Some(error) = unasked(fault) {
                list.push(NotJudged { platform: platform.clone(), ..entry(place, Some(&version), &error) });
            }
        };
        add(manifest_place(one), one.leaf.manifest.found.as_ref().err());
        for part in one.leaf.config.iter().chain(&one.leaf.layers) {
            add(format!("blob {}", part.descriptor.digest), part.blob.content.as_ref().err());
        }
    }
    list
}

/// The place of the list of a release's referrers.
pub(super) fn referrers_of(release: &FoundRelease) -> String {
    format!("referrers of {}", index_place(release))
}

fn entry(place: String, version: Option<&str>, error: &StoreError) -> NotJudged {
    NotJudged { place, version: version.map(str::to_owned), platform: None, error: error.clone() }
}

/// The list without repetitions.
fn once(mut list: Vec<NotJudged>) -> Vec<NotJudged> {
    let mut seen = HashSet::new();
    list.retain(|one| seen.insert((one.place.clone(), one.version.clone(), one.platform.clone())));
    list
}
