//! The list of a provider's versions.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::Value;
use tofu_oci_layout::MAX_ENTRIES;
use tofu_oci_types::{Platform, Version};

use super::members::members;

/// Most versions that a list may have.
pub(crate) const MOST_VERSIONS: usize = 50_000;

/// Most platforms that a version may have, as many as an index of a repository.
pub(crate) const MOST_PLATFORMS: usize = MAX_ENTRIES;

/// What a registry lists of a provider.
#[derive(Debug)]
pub(super) struct VersionList {
    pub(super) versions: Vec<ListedVersion>,
    /// What the registry wants users to know.
    pub(super) warnings: Vec<String>,
}

/// One version of the list.
#[derive(Clone, Debug)]
pub(super) struct ListedVersion {
    pub(super) version: Version,
    /// The plugin protocols, such as `5.1`.
    pub(super) protocols: Vec<String>,
    /// Sorted; empty if the list does not say.
    pub(super) platforms: Vec<Platform>,
}

#[derive(Deserialize)]
struct ListDocument {
    /// A document without it is not a list. `null` says nothing: Go programs write it for a list that they have not read.
    versions: Vec<ListEntry>,
    warnings: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct ListEntry {
    #[serde(default)]
    version: String,
    protocols: Option<Vec<String>>,
    /// A hint alone: whatever does not name a platform is passed over.
    #[serde(default)]
    platforms: Value,
}

impl VersionList {
    /// Reads the document. One text that is not a version refuses all of it.
    ///
    /// Spec: seed 000, "List Available Versions"; `OpenTofu` 1.12, getproviders `RegistrySource.AvailableVersions`.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let document: ListDocument = members(bytes)?;
        let entries = document.versions;
        if entries.len() > MOST_VERSIONS {
            return Err(format!("it lists {} versions, and at most {MOST_VERSIONS} are read", entries.len()));
        }
        let (mut versions, mut seen) = (Vec::new(), HashSet::new());
        for entry in entries {
            let version: Version = entry.version.parse().map_err(|error| format!("its versions: {error}"))?;
            let platforms = platforms(&entry.platforms);
            if platforms.len() > MOST_PLATFORMS {
                let count = platforms.len();
                return Err(format!("{version} has {count} platforms, and at most {MOST_PLATFORMS} are read"));
            }
            let protocols = entry.protocols.unwrap_or_default();
            if seen.insert(version.clone()) {
                versions.push(ListedVersion { version, protocols, platforms });
            }
        }
        versions.sort_by(|one: &ListedVersion, other| one.version.precedence(&other.version));
        Ok(Self { versions, warnings: document.warnings.unwrap_or_default() })
    }

    pub(super) fn get(&self, version: &Version) -> Option<&ListedVersion> {
        self.versions.iter().find(|listed| listed.version == *version)
    }

    pub(super) fn versions(&self) -> Vec<Version> {
        self.versions.iter().map(|listed| listed.version.clone()).collect()
    }
}

fn platforms(value: &Value) -> Vec<Platform> {
    let entries = value.as_array().map(Vec::as_slice).unwrap_or_default();
    let platform = |entry: &Value| platform(entry["os"].as_str()?, entry["arch"].as_str()?);
    let mut platforms: Vec<Platform> = entries.iter().filter_map(platform).collect();
    platforms.sort();
    platforms.dedup();
    platforms
}

/// The platform with these names, if they are names.
fn platform(os: &str, arch: &str) -> Option<Platform> {
    format!("{os}_{arch}").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_without_the_list_was_taken_for_an_empty_one() {
        let problem = |body: &str| VersionList::parse(body.as_bytes()).unwrap_err();
        for other in ["{}", r#"{"errors":["try again"]}"#, r#"{"warnings":[]}"#] {
            assert_eq!(problem(other), "it is malformed: missing field `versions`");
        }
        assert_eq!(problem("null"), "it is not a JSON object");
        assert_eq!(problem(r#"{"versions":null}"#), "it is malformed: invalid type: null, expected a sequence");
        assert!(VersionList::parse(br#"{"versions":[]}"#).unwrap().versions.is_empty());
    }
}
