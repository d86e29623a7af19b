//! Rules about the tags of a repository.

use std::collections::{BTreeMap, HashSet};

use tofu_oci_layout::{artifact_type, media_type};
use tofu_oci_remote::is_tombstone;
use tofu_oci_types::{Digest, Tag, Version, is_known_to_go};

use super::catalogue::tags::{
    HALF_WITHDRAWN, NO_VERSION_TAGS, PLATFORM_TAG, PRERELEASES_ONLY, SECOND_SPELLING_TAG, SEVERAL_BUILDS,
    STRAY_VERSION_TAG, V_TAG, VERSION_ZERO,
};
use super::image_config::{config, is_labelled};
use super::leaf::IndexEntryKind;
use super::places::Findings;
use crate::facts::{FoundManifest, FoundRelease, RepositoryFacts};
use crate::model::Finding;

/// The findings about the tags; prereleases alone are right if one version was requested.
pub(super) fn check(facts: &RepositoryFacts, asked: Option<&Version>) -> Findings {
    let place = |tag: &str| format!("tag {tag}");
    let mut found = Findings::new();
    let (mut versions, mut known): (Vec<Version>, HashSet<String>) = (Vec::new(), HashSet::new());
    let tags: HashSet<&str> = facts.tags.iter().map(String::as_str).collect();
    for text in &facts.tags {
        let Some(version) = text.parse::<Tag>().ok().and_then(|tag| tag.version()) else {
            found.extend(v_tag(&tags, text));
            continue;
        };
        let canonical = Tag::for_version(&version).map(|tag| tag.to_string()).unwrap_or_default();
        if canonical != *text {
            let finding =
                if tags.contains(canonical.as_str()) {
                    SECOND_SPELLING_TAG.at(place(text), format!("it reads as {version}, as the tag {canonical} does"))
                } else {
                    STRAY_VERSION_TAG.at(place(text), format!(
                    "OpenTofu reads it as version {version} and asks for the tag {canonical}, which is not there"
                ))
                };
            found.push(finding.of_version(&version));
        }
        if version.is_unspecified() {
            found.push(VERSION_ZERO.at(place(text), "OpenTofu takes 0.0.0 for no version").of_version(&version));
        }
        if let Some(platform) = platform_suffix(text) {
            let kind = if version.is_prerelease() { "a prerelease" } else { "a release with build metadata" };
            let said = format!("it names the platform {platform}, and OpenTofu lists it as {kind}, {version}");
            found.push(PLATFORM_TAG.at(place(text), said).of_version(&version));
        }
        if known.insert(version.to_string()) {
            versions.push(version);
        }
    }
    if versions.is_empty() {
        let withdrawn = |tag: &String| tag.parse::<Tag>().ok()?.withdrawn_version();
        let withdrawn: Vec<Version> = facts.tags.iter().filter_map(withdrawn).collect();
        let said = if facts.tags.is_empty() {
            "the repository has no tags".to_owned()
        } else if withdrawn.is_empty() {
            format!("none of its tags reads as a version: {}", some(&facts.tags))
        } else {
            format!("every version is withdrawn: {}", some(&withdrawn))
        };
        found.push(NO_VERSION_TAGS.at(&facts.place, said));
    } else if asked.is_none() && versions.iter().all(Version::is_prerelease) {
        let said = format!("it has prereleases alone: {}", some(&versions));
        found.push(PRERELEASES_ONLY.at(&facts.place, said));
    }
    found.extend(several_builds(facts, &versions));
    found
}

/// The finding about a version whose withdrawal was interrupted: its own tag names nothing, or what `withdraw` puts there.
pub(super) fn half_withdrawn(tags: &[String], own: &Tag, manifest: &FoundManifest) -> Option<Finding> {
    let version = own.version()?;
    let kept = Tag::withdrawn(&version).ok()?;
    let has = |tag: &Tag| tags.iter().any(|text| text == tag.as_str());
    let is_empty = match &manifest.found {
        Ok(document) => is_tombstone(own, &Digest::sha256(&document.bytes)),
        Err(fault) => fault.unasked().is_none(),
    };
    let said = || format!("it names nothing, and {kept} keeps what was withdrawn");
    let is_half = is_empty && has(own) && has(&kept);
    is_half.then(|| HALF_WITHDRAWN.at(format!("tag {own}"), said()).of_version(&version))
}

/// What the tags that read as versions are, as far as their manifests were read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct TagCounts {
    /// Versions with their canonical tag.
    pub versions: usize,
    /// Versions that only stray tags name.
    #[serde(rename = "stray_tags")]
    pub stray: usize,
    /// Versions whose tag names something other than a provider, such as the image of an application.
    #[serde(rename = "other_tags")]
    pub other: usize,
}

impl TagCounts {
    /// Counts each version that was read once.
    pub fn of(facts: &RepositoryFacts) -> Self {
        let mut counts = Self::default();
        for release in &facts.releases {
            let canonical =
                release.tag.as_ref().is_some_and(|tag| release.read_from.iter().any(|text| tag.as_str() == text));
            let count = match (canonical, is_other(release)) {
                (false, _) if !release.read_from.is_empty() => &mut counts.stray,
                (_, true) => &mut counts.other,
                (_, false) => &mut counts.versions,
            };
            *count += 1;
        }
        counts
    }
}

/// Whether what was read shows that the release is not a provider's. A broken or unread release may be one.
fn is_other(release: &FoundRelease) -> bool {
    let Ok(document) = &release.index.found else { return false };
    if document.media_type.as_deref().is_some_and(media_type::is_leaf) {
        let artifact = document.value().and_then(|value| value.get("artifactType")?.as_str());
        return artifact != Some(artifact_type::PROVIDER_TARGET);
    }
    let mut images =
        release.entries.iter().filter(|entry| IndexEntryKind::of(entry) == IndexEntryKind::Image).peekable();
    let has_provider = release.entries.iter().any(|entry| IndexEntryKind::of(entry) == IndexEntryKind::Provider);
    !has_provider && images.peek().is_some() && images.all(|entry| config(entry).is_some() && !is_labelled(entry))
}

/// A tag with `v` whose version has no tag of its own.
fn v_tag(tags: &HashSet<&str>, text: &str) -> Option<crate::Finding> {
    let version = text.strip_prefix(['v', 'V'])?.parse::<Tag>().ok()?.version()?;
    let canonical = Tag::for_version(&version).ok()?;
    let there = tags.contains(canonical.as_str());
    let said = format!("OpenTofu ignores it, and there is no tag {canonical}");
    (!there).then(|| V_TAG.at(format!("tag {text}"), said).of_version(&version))
}

/// The platform that a tag ends in: `1.0.0-linux_amd64`, `1.0.0_linux.amd64`, `1.0.0-linux-amd64`.
fn platform_suffix(tag: &str) -> Option<String> {
    let (rest, architecture) = tag.rsplit_once(['_', '.', '-'])?;
    let (_, os) = rest.rsplit_once(['_', '.', '-'])?;
    is_known_to_go(os, architecture).then(|| format!("{os}_{architecture}"))
}

fn several_builds(facts: &RepositoryFacts, versions: &[Version]) -> Findings {
    let mut builds: BTreeMap<String, Vec<&Version>> = BTreeMap::new();
    for version in versions {
        let plain = version.to_string();
        builds.entry(plain.split('+').next().unwrap_or_default().to_owned()).or_default().push(version);
    }
    let several = builds.into_iter().filter(|(_, builds)| builds.len() > 1);
    several
        .map(|(plain, builds)| {
            let said = format!("{} are one version to the order of versions", some(&builds));
            SEVERAL_BUILDS.at(&facts.place, said).of_version(&plain)
        })
        .collect()
}

/// The first of a list.
fn some(list: &[impl ToString]) -> String {
    const MOST: usize = 8;
    let mut reported: Vec<String> = list.iter().take(MOST).map(ToString::to_string).collect();
    if list.len() > MOST {
        reported.push(format!("and {} more", list.len() - MOST));
    }
    reported.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Depth;

    #[track_caller]
    fn check_tags(tags: &[&str], want: &[&str]) {
        let facts = RepositoryFacts {
            place: "registry.example.test/acme/widget".parse().unwrap(),
            depth: Depth::Manifests,
            tags: tags.iter().map(|&tag| tag.to_owned()).collect(),
            releases: Vec::new(),
        };
        let found: Vec<String> =
            check(&facts, None).iter().map(|finding| format!("{} {}", finding.rule.id, finding.place)).collect();
        assert_eq!(found, want, "{tags:?}");
    }

    #[test]
    fn tags_that_break_a_repository() {
        for stray in ["2", "2.1", "01.4.0", "1.4", "2.0.0-", "1.9.9_"] {
            check_tags(&["1.0.0", stray], &[&format!("stray-version-tag tag {stray}")]);
        }
        check_tags(&["1.0"], &["stray-version-tag tag 1.0"]);
        check_tags(&["1.0.0", "1.0", "1"], &["second-spelling-tag tag 1.0", "second-spelling-tag tag 1"]);
    }

    #[test]
    fn tags_that_are_no_versions_are_no_findings() {
        check_tags(&["1.0.0", "latest", "v1.0.0", "sha256-0a", "sha256-0a.sig", "1.0.0_a_b", "main"], &[]);
        check_tags(&["1.0.0", "v1.1.0"], &["v-tag tag v1.1.0"]);
        let place = "registry.example.test/acme/widget";
        check_tags(&["v1.0.0"], &["v-tag tag v1.0.0", &format!("no-version-tags {place}")]);
        check_tags(&[], &[&format!("no-version-tags {place}")]);
    }

    #[test]
    fn tags_of_notices_and_signatures_are_no_findings() {
        let sha = format!("sha256-{}", "0a".repeat(32));
        let tags = ["withdrawn-0.9.0", "deprecated-0.8.0", "withdrawn-1.0.0_linux.5", &sha, &format!("{sha}.sig")];
        check_tags(&[&["1.0.0"], &tags[..]].concat(), &[]);
    }

    #[test]
    fn versions_that_surprise() {
        let place = "registry.example.test/acme/widget";
        check_tags(&["1.0.0-rc.1"], &[&format!("prereleases-only {place}")]);
        check_tags(&["1.0.0-rc.1", "0.9.0"], &[]);
        check_tags(&["1.0.0", "1.0.0_a", "1.0.0_b"], &[&format!("several-builds {place}")]);
        check_tags(&["0.0.0"], &["version-zero tag 0.0.0"]);
        check_tags(
            &["1.0.0", "2.0.0-linux_amd64", "1.1.0_linux.arm64", "1.2.0_linux.5"],
            &["platform-tag tag 2.0.0-linux_amd64", "platform-tag tag 1.1.0_linux.arm64"],
        );
    }
}
