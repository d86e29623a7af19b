//! The provider that each version of a repository names: all must name the same one.

use std::collections::BTreeMap;

use serde_json::Value;
use tofu_oci_layout::annotation;
use tofu_oci_source::{Neighbour, newest_neighbour};
use tofu_oci_store::ReadStore;
use tofu_oci_trust::VersionOf;
use tofu_oci_types::{Predecessors, ProviderAddr, Tag, Version};

use crate::facts::{FoundRelease, RepositoryFacts};
use crate::model::{Finding, NotJudged};
use crate::rules::catalogue::annotations::ADDRESSES_DIFFER;

/// The largest number of versions of one address that a finding names.
const NAMED: usize = 8;

/// A finding if the versions that were read name different providers. When one version was `asked` for, it is compared
/// with the newest other version that names one, for which at most two indexes are read.
///
/// # Errors
/// If the other version cannot be read.
pub(crate) async fn check(
    store: &dyn ReadStore,
    facts: &RepositoryFacts,
    asked: Option<&Version>,
    predecessors: &Predecessors,
) -> Result<Option<Finding>, NotJudged> {
    let mut versions: BTreeMap<ProviderAddr, Vec<Version>> = BTreeMap::new();
    for release in &facts.releases {
        if let Some(address) = of_release(release) {
            versions.entry(address).or_default().push(release.version.clone());
        }
    }
    if let Some(own) = asked.filter(|_| !versions.is_empty()).and_then(|asked| Tag::for_version(asked).ok()) {
        let tags: Vec<Tag> = facts.tags.iter().filter_map(|text| text.parse().ok()).collect();
        let found = newest_neighbour(store, tags.iter().filter(|tag| **tag != own)).await.map_err(|error| {
            let (place, version) = ("provider of the other versions".to_owned(), asked.map(ToString::to_string));
            NotJudged { place, version, platform: None, error }
        })?;
        if let Some(Neighbour { version, of: VersionOf::Provider { address } }) = found {
            versions.entry(address).or_default().push(version);
        }
    }
    let mut addresses = versions.keys();
    let is_one = addresses.next().is_none_or(|one| addresses.all(|other| predecessors.same_provider(one, other)));
    Ok((!is_one).then(|| finding(facts, versions)))
}

/// One finding for the whole repository: the address of most versions comes first.
fn finding(facts: &RepositoryFacts, versions: BTreeMap<ProviderAddr, Vec<Version>>) -> Finding {
    let mut versions: Vec<(ProviderAddr, Vec<Version>)> = versions.into_iter().collect();
    versions.sort_by_key(|(_, versions)| std::cmp::Reverse(versions.len()));
    let reported: Vec<String> =
        versions.iter().map(|(address, versions)| format!("{} of {address}", some(versions))).collect();
    ADDRESSES_DIFFER.at(&facts.place, format!("it has {}", reported.join(", and ")))
}

fn some(versions: &[Version]) -> String {
    let mut reported: Vec<String> = versions.iter().take(NAMED).map(ToString::to_string).collect();
    if versions.len() > NAMED {
        reported.push(format!("{} more", versions.len() - NAMED));
    }
    reported.join(", ")
}

fn of_release(release: &FoundRelease) -> Option<ProviderAddr> {
    address(release.index.found.as_ref().ok()?.value()?)
}

fn address(index: &Value) -> Option<ProviderAddr> {
    index.get("annotations")?.get(annotation::ADDRESS)?.as_str()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use tofu_oci_store::{MemoryStore, Store as _};
    use tofu_oci_types::{Descriptor, NoReporter};

    use super::*;
    use crate::facts::{self, Depth, Versions, What};

    const OWN: &str = "example.com/acme/zap";
    const OTHER: &str = "ghcr.io.oci.opentofu.org/acme/zap";

    /// The finding for these versions of these providers.
    async fn found(releases: &[(&str, Option<&str>)], asked: Option<&str>) -> Option<String> {
        let store = MemoryStore::new("memory".parse().unwrap());
        for (tag, address) in releases {
            let annotations =
                address.map(|address| format!(r#","annotations":{{"{}":"{address}"}}"#, annotation::ADDRESS));
            let index = format!(r#"{{"schemaVersion":2,"manifests":[]{}}}"#, annotations.unwrap_or_default());
            let described = Descriptor::of("application/vnd.oci.image.index.v1+json", index.as_bytes());
            store.insert_unchecked(&described, Bytes::from(index));
            store.tag(&described, &tag.parse().unwrap()).await.unwrap();
        }
        let asked: Option<Version> = asked.map(|asked| asked.parse().unwrap());
        let versions = asked.clone().map_or(Versions::All, Versions::One);
        let what = What { versions, depth: Depth::Manifests, work_dir: std::env::temp_dir() };
        let facts = facts::read(&store, &what, &NoReporter).await.unwrap();
        let moved = "new.example=old.example".parse::<tofu_oci_types::Predecessor>().unwrap();
        let predecessors = [moved].into_iter().collect();
        check(&store, &facts, asked.as_ref(), &predecessors).await.expect("it answers").map(|finding| finding.text)
    }

    #[tokio::test]
    async fn versions_of_different_providers_in_one_repository_are_an_error() {
        let all = [("1.3.0", Some(OWN)), ("1.4.0", Some(OWN)), ("1.5.0", Some(OTHER)), ("1.6.0", None)];
        let reported = format!("it has 1.3.0, 1.4.0 of {OWN}, and 1.5.0 of {OTHER}");
        assert_eq!(found(&all, None).await, Some(reported));
        assert_eq!(found(&all[..2], None).await, None);
        let moved = [("1.3.0", Some("old.example/acme/zap")), ("1.4.0", Some("new.example/acme/zap"))];
        assert_eq!(found(&moved, None).await, None, "a host and its predecessor share a repository");
        assert_eq!(found(&all[2..], None).await, None);
    }

    #[tokio::test]
    async fn one_version_is_compared_with_the_newest_other_one() {
        let all = [("1.4.0", Some(OWN)), ("1.5.0", Some(OTHER)), ("1.6.0", None), ("latest", Some(OWN))];
        assert!(found(&all, Some("1.4.0")).await.is_some());
        assert!(found(&all, Some("1.6.0")).await.is_none(), "it says nothing");
        assert!(found(&all[..1], Some("1.4.0")).await.is_none());
        let far = [("1.4.0", Some(OWN)), ("1.3.0", Some(OTHER)), ("1.6.0", None), ("1.7.0", None)];
        assert!(found(&far, Some("1.4.0")).await.is_none(), "no more than two indexes are read");
    }
}
