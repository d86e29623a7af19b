//! The documents of the protocol as values. Pure.
//!
//! Their members may be `null`, as for Go's reader, and must be there: a document without its list is another answer. Of two members
//! with one name neither is read.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tofu_oci_types::{InvalidPackageHash, PackageHash, Platform, Scheme, Version, parse_strictly};

use crate::registry::{MOST_PLATFORMS, MOST_VERSIONS};

/// What `index.json` says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct VersionIndex {
    pub(super) versions: Vec<Version>,
    /// Names that are not versions as they are asked for.
    pub(super) invalid: Vec<String>,
}

/// What `VERSION.json` says, by the name of the platform.
#[derive(Debug, Default)]
pub(super) struct ArchiveList(BTreeMap<String, Archive>);

/// The archive of a platform.
#[derive(Debug)]
pub(super) struct Archive {
    /// Its address, as it is written.
    pub(super) url: String,
    /// Its checksums, as they are listed.
    hashes: Vec<String>,
}

#[derive(Deserialize)]
struct IndexMembers {
    #[serde(deserialize_with = "Deserialize::deserialize")]
    versions: Option<BTreeMap<String, Option<Map<String, Value>>>>,
}

#[derive(Deserialize)]
struct VersionMembers {
    #[serde(deserialize_with = "Deserialize::deserialize")]
    archives: Option<BTreeMap<String, ArchiveMembers>>,
}

#[derive(Deserialize)]
struct ArchiveMembers {
    url: Option<String>,
    hashes: Option<Vec<String>>,
}

impl VersionIndex {
    /// The versions of the document. The error is for people.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let (mut versions, mut invalid) = (Vec::new(), Vec::new());
        let listed = members::<IndexMembers>(bytes)?.versions.unwrap_or_default();
        if listed.len() > MOST_VERSIONS {
            return Err(format!("it lists {} versions, and at most {MOST_VERSIONS} are read", listed.len()));
        }
        for name in listed.into_keys() {
            match name.parse::<Version>() {
                // `1.0` is asked for as `1.0.0`, which another name may list, or none.
                Ok(version) if version.to_string() == name => versions.push(version),
                _ => invalid.push(name),
            }
        }
        versions.sort_by(Version::precedence);
        Ok(Self { versions, invalid })
    }
}

impl ArchiveList {
    /// The archives of the document. The error is for people.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let listed = members::<VersionMembers>(bytes)?.archives.unwrap_or_default();
        if listed.len() > MOST_PLATFORMS {
            return Err(format!("it lists {} archives, and at most {MOST_PLATFORMS} are read", listed.len()));
        }
        let archive = |members: ArchiveMembers| Archive {
            url: members.url.unwrap_or_default(),
            hashes: members.hashes.unwrap_or_default(),
        };
        Ok(Self(listed.into_iter().map(|(name, members)| (name, archive(members))).collect()))
    }

    pub(super) fn get(&self, platform: &Platform) -> Option<&Archive> {
        self.0.get(&platform.to_string())
    }

    /// The archives, also those whose name is not a platform.
    pub(super) fn all(&self) -> impl Iterator<Item = &Archive> {
        self.0.values()
    }

    /// The archives of platforms, sorted.
    pub(super) fn of_platforms(&self) -> BTreeMap<Platform, &Archive> {
        self.0.iter().filter_map(|(name, archive)| Some((name.parse().ok()?, archive))).collect()
    }
}

impl Archive {
    /// The checksums, of whatever scheme.
    ///
    /// # Errors
    /// If one of them is not a checksum.
    pub(super) fn hashes(&self) -> Result<Vec<PackageHash>, InvalidPackageHash> {
        self.hashes.iter().map(|hash| hash.parse()).collect()
    }

    /// Those checksums that an archive can be compared with.
    pub(super) fn known_hashes(&self) -> impl Iterator<Item = PackageHash> {
        self.hashes.iter().filter_map(|hash| hash.parse().ok()).filter(is_known)
    }
}

/// Whether an archive can be compared with this checksum. `ch:` is that of a manifest, which no archive has.
pub(super) fn is_known(hash: &PackageHash) -> bool {
    matches!(hash.scheme(), Scheme::H1 | Scheme::Zh)
}

fn members<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    let value = parse_strictly(bytes).map_err(|error| format!("it is not strict JSON: {error}"))?;
    serde_json::from_value(value).map_err(|error| format!("it is not a document of the protocol: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_index(document: &str, want: &str) {
        let said = match VersionIndex::parse(document.as_bytes()) {
            Ok(VersionIndex { versions, invalid }) => {
                let versions: Vec<String> = versions.iter().map(ToString::to_string).collect();
                [versions.join(" "), invalid.join(" ")].join("|")
            }
            Err(problem) => problem,
        };
        assert_eq!(said, want, "{document}");
    }

    #[test]
    fn versions_are_names_of_members() {
        check_index(r#"{"versions":{"1.10.0":{},"1.9.0":{"x":1},"1.2.0+b.1":null}}"#, "1.2.0+b.1 1.9.0 1.10.0|");
        check_index(r#"{"versions":{"1.0.0":{},"v1.1.0":{},"1.0":{},"latest":{},"":{}}}"#, "1.0.0| 1.0 latest v1.1.0");
        for empty in [r#"{"versions":{}}"#, r#"{"versions":null,"other":[1]}"#] {
            check_index(empty, "|");
        }
    }

    #[test]
    fn an_answer_without_the_list_was_taken_for_an_empty_one() {
        for other in ["{}", r#"{"errors":["try again"]}"#] {
            check_index(other, "it is not a document of the protocol: missing field `versions`");
            let archives = ArchiveList::parse(other.as_bytes()).map(|list| list.all().count());
            assert_eq!(archives, Err("it is not a document of the protocol: missing field `archives`".to_owned()));
        }
        assert!(VersionIndex::parse(b"null").is_err() && ArchiveList::parse(b"null").is_err());
    }

    #[test]
    fn an_index_of_another_shape_is_refused() {
        for (document, problem) in [
            ("<html>", "it is not strict JSON: expected value at line 1 column 1"),
            (
                r#"{"versions":{"1.0.0":{},"1.0.0":{}}}"#,
                "it is not strict JSON: the member \"1.0.0\" is there twice at line 1 column 31",
            ),
            (
                r#"{"versions":["1.0.0"]}"#,
                "it is not a document of the protocol: invalid type: sequence, expected a map",
            ),
            (
                r#"{"versions":{"1.0.0":5}}"#,
                "it is not a document of the protocol: invalid type: integer `5`, expected a map",
            ),
            (
                "[]",
                "it is not a document of the protocol: invalid length 0, expected struct IndexMembers with 1 element",
            ),
        ] {
            check_index(document, problem);
        }
    }

    #[test]
    fn documents_with_more_than_is_ever_offered_are_refused() {
        let many = |count: usize, name: fn(usize) -> String| {
            let members: Map<String, Value> = (0..count).map(|nth| (name(nth), Value::Object(Map::new()))).collect();
            Value::from(members)
        };
        let archives = |count| {
            let document = serde_json::json!({"archives": many(count, |nth| format!("os{nth}_arm"))}).to_string();
            ArchiveList::parse(document.as_bytes()).map(|list| list.all().count())
        };
        assert_eq!(archives(1000), Ok(1000));
        assert_eq!(archives(1001), Err("it lists 1001 archives, and at most 1000 are read".to_owned()));
        let versions = serde_json::json!({"versions": many(50_001, |nth| format!("1.{nth}.0"))}).to_string();
        check_index(&versions, "it lists 50001 versions, and at most 50000 are read");
    }

    #[test]
    fn archives_are_kept_as_they_are_listed() {
        let list = ArchiveList::parse(
            br#"{"archives":{"linux_amd64":{"url":"a.zip","hashes":["h1:x","zh:y","h9:z","ch:q"]},"other":{"hashes":["bad"]}}}"#,
        )
        .unwrap();
        let archive = list.get(&"linux_amd64".parse().unwrap()).unwrap();
        let known: Vec<String> = archive.known_hashes().map(|hash| hash.to_string()).collect();
        assert_eq!((archive.url.as_str(), known.join(" ")), ("a.zip", "h1:x zh:y".to_owned()));
        assert_eq!(archive.hashes().unwrap().len(), 4);
        assert_eq!(list.of_platforms().len(), 1);
        assert!(list.all().any(|archive| archive.hashes().is_err()));
        for empty in [r#"{"archives":{}}"#, r#"{"archives":null}"#] {
            assert_eq!(ArchiveList::parse(empty.as_bytes()).unwrap().all().count(), 0, "{empty}");
        }
        for wrong in
            [r#"{"archives":[]}"#, r#"{"archives":{"linux_amd64":{"url":5}}}"#, r#"{"archives":{"x":"a.zip"}}"#]
        {
            assert!(ArchiveList::parse(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
}
