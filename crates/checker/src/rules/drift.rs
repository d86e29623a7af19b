//! Rules about two repositories that should be equal.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use tofu_oci_types::{Place, Version};

use super::catalogue::drift::{
    DRIFT_ANNOTATION, DRIFT_INDEX, DRIFT_PACKAGE, DRIFT_PLATFORM, DRIFT_REFERRER, DRIFT_TAG_MISSING,
};
use super::places::Findings;
use crate::facts::{FoundDocument, FoundManifest, FoundRelease, IndexEntry, RepositoryFacts};
use crate::model::Finding;

/// The differences of two repositories: versions, then indexes, and what makes those differ.
pub fn drift(one: &RepositoryFacts, other: &RepositoryFacts) -> Vec<Finding> {
    let mut found = Findings::new();
    let (here, there) = (by_version(one), by_version(other));
    let more = other.releases.iter().filter(|release| !here.contains_key(&release.version.to_string()));
    for release in one.releases.iter().chain(more) {
        let (version, text) = (&release.version, release.version.to_string());
        let (here, there) = (here.get(&text).copied(), there.get(&text).copied());
        // What one store did not answer for is unknown, so it is not compared.
        if here.into_iter().chain(there).any(|release| is_unasked(&release.index)) {
            continue;
        }
        let readable = |release: Option<&'_ FoundRelease>| release.is_some_and(|release| release.index.found.is_ok());
        match (here.filter(|_| readable(here)), there.filter(|_| readable(there))) {
            (Some(here), Some(there)) => {
                let of_release = releases((&one.place, here), (&other.place, there));
                found.extend(of_release.into_iter().map(|finding| finding.of_version(version)));
            }
            (Some(_), None) => found.push(missing(version, &one.place, &other.place)),
            (None, Some(_)) => found.push(missing(version, &other.place, &one.place)),
            (None, None) => {}
        }
    }
    found
}

/// The releases by their versions; build metadata counts.
fn by_version(facts: &RepositoryFacts) -> BTreeMap<String, &FoundRelease> {
    facts.releases.iter().map(|release| (release.version.to_string(), release)).collect()
}

fn is_unasked(manifest: &FoundManifest) -> bool {
    manifest.found.as_ref().err().is_some_and(|fault| fault.unasked().is_some())
}

fn missing(version: &Version, has: &Place, has_not: &Place) -> Finding {
    DRIFT_TAG_MISSING.at(has_not, format!("it has no {version}, and {has} has it")).of_version(version)
}

fn releases((here, one): (&Place, &FoundRelease), (there, other): (&Place, &FoundRelease)) -> Findings {
    let mut found = referrers((here, one), (there, other));
    let (Ok(index), Ok(other_index)) = (&one.index.found, &other.index.found) else { return found };
    // One may be named by SHA-256 and the other by SHA-512.
    if index.bytes == other_index.bytes {
        return found;
    }
    let is_list = |document: &FoundDocument| document.value().is_some_and(|value| value.get("manifests").is_some());
    let what = if is_list(index) || is_list(other_index) { "index" } else { "manifest" };
    let said = format!("its {what} is {}, that of {there} is {}", index.digest, other_index.digest);
    found.push(DRIFT_INDEX.at(here, said));
    let (entries, other_entries) = (by_name(one), by_name(other));
    for (name, entry) in &entries {
        match other_entries.get(name) {
            None => found.push(DRIFT_PLATFORM.at(there, format!("it has no {name}, and {here} has it"))),
            Some(twin) => found.extend(entry_pair(name, (here, entry), (there, twin))),
        }
    }
    let extra = other_entries.keys().filter(|name| !entries.contains_key(*name));
    found.extend(extra.map(|name| DRIFT_PLATFORM.at(here, format!("it has no {name}, and {there} has it"))));
    let annotations =
        |value: Option<&Value>| value.and_then(|value| value.get("annotations")).cloned().unwrap_or_default();
    let (own, others) = (annotations(index.value()), annotations(other_index.value()));
    found.extend(annotation_names(&own, &others).map(|names| {
        DRIFT_ANNOTATION.at(here, format!("annotations of its {what} differ from those of {there}: {names}"))
    }));
    found
}

/// The entries by platform, and artifact type if they have one.
fn by_name(release: &FoundRelease) -> BTreeMap<String, &IndexEntry> {
    let mut entries = BTreeMap::new();
    let mut equals: BTreeMap<String, usize> = BTreeMap::new();
    for entry in &release.entries {
        let platform = entry.descriptor.platform.as_ref();
        let platform =
            platform.map_or_else(|| "no platform".to_owned(), |one| format!("{}_{}", one.os, one.architecture));
        let kind = match entry.descriptor.artifact_type.as_str() {
            "" => "image",
            tofu_oci_layout::artifact_type::PROVIDER_TARGET => "package",
            other => other,
        };
        let name = format!("{platform} ({kind})");
        // Stars distinguish entries of one name, in their order.
        let before = equals.entry(name.clone()).or_default();
        entries.insert(format!("{name}{}", "*".repeat(*before)), entry);
        *before += 1;
    }
    entries
}

fn entry_pair(name: &str, (here, one): (&Place, &IndexEntry), (there, other): (&Place, &IndexEntry)) -> Findings {
    let mut found = Findings::new();
    let layers = |entry: &IndexEntry| -> Vec<String> {
        entry.leaf.layers.iter().map(|layer| layer.descriptor.digest.clone()).collect()
    };
    let platform = one.descriptor.platform();
    let (own, others) = (layers(one), layers(other));
    let unasked = [one, other].into_iter().any(|entry| is_unasked(&entry.leaf.manifest));
    if own != others && !unasked {
        let said = format!("{name} is {}, in {there} it is {}", list(&own), list(&others));
        found.push(DRIFT_PACKAGE.at(here, said));
    } else if one.descriptor.digest != other.descriptor.digest {
        let said = format!(
            "the manifest of {name} is {}, in {there} it is {}; the packages are equal",
            one.descriptor.digest, other.descriptor.digest
        );
        found.push(DRIFT_ANNOTATION.at(here, said));
    }
    let annotations = |entry: &IndexEntry| entry.raw.get("annotations").cloned().unwrap_or_default();
    found.extend(annotation_names(&annotations(one), &annotations(other)).map(|names| {
        DRIFT_ANNOTATION.at(here, format!("annotations of {name} differ from those of {there}: {names}"))
    }));
    found.into_iter().map(|finding| finding.of_platform(platform.as_ref())).collect()
}

fn list(digests: &[String]) -> String {
    if digests.is_empty() { "empty".to_owned() } else { digests.join(", ") }
}

/// The names of annotations that only one of the two has, or that differ.
fn annotation_names(one: &Value, other: &Value) -> Option<String> {
    let names = |value: &Value| -> BTreeSet<String> {
        value.as_object().map(|members| members.keys().cloned().collect()).unwrap_or_default()
    };
    let all: BTreeSet<String> = names(one).union(&names(other)).cloned().collect();
    let differ: Vec<String> = all.into_iter().filter(|name| one.get(name) != other.get(name)).collect();
    (!differ.is_empty()).then(|| differ.join(", "))
}

/// The differences of referrers, if both indexes have the same digest.
fn referrers((here, one): (&Place, &FoundRelease), (there, other): (&Place, &FoundRelease)) -> Findings {
    let digests = |release: &FoundRelease| -> BTreeMap<String, String> {
        let referrers = release.referrers.iter().flatten();
        let named = referrers.map(|one| (one.digest.to_string(), one.artifact_type.clone().unwrap_or_default()));
        named.collect()
    };
    let same = matches!((&one.index.found, &other.index.found), (Ok(one), Ok(other)) if one.digest == other.digest);
    if !same || one.referrers.is_err() || other.referrers.is_err() {
        return Findings::new();
    }
    let (own, others) = (digests(one), digests(other));
    let lacks = |place: &Place, has: &Place, (digest, kind): (&String, &String)| {
        DRIFT_REFERRER.at(place, format!("it has no referrer {digest} ({kind}), and {has} has it"))
    };
    let gone = own.iter().filter(|(digest, _)| !others.contains_key(*digest)).map(|one| lacks(there, here, one));
    let more = others.iter().filter(|(digest, _)| !own.contains_key(*digest)).map(|one| lacks(here, there, one));
    gone.chain(more).collect()
}
