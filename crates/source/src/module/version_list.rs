//! The list of a module's versions.

use std::collections::HashSet;

use serde::Deserialize;
use tofu_oci_types::Version;

use crate::Listing;
use crate::registry::MOST_VERSIONS;
use crate::registry::members::members;

#[derive(Deserialize)]
struct ModulesDocument {
    #[serde(default)]
    modules: Option<Vec<ModuleEntry>>,
}

#[derive(Deserialize)]
struct ModuleEntry {
    /// `null` says nothing: Go programs write it for a list that they have not read.
    versions: Vec<ModuleVersionEntry>,
}

#[derive(Deserialize)]
struct ModuleVersionEntry {
    #[serde(default)]
    version: String,
}

/// What a registry lists of a module.
#[derive(Debug)]
pub(super) struct ModuleVersions {
    pub(super) listing: Listing,
    /// Texts that are not versions, as written.
    pub(super) skipped: Vec<String>,
}

impl ModuleVersions {
    /// Reads the document. Only its first module counts. `v1.2.0` is 1.2.0; what is not a version is skipped.
    ///
    /// Spec: seed 004, "List Available Versions"; `opentofu-behaviour.md` §8.7; `real-tofu-http.md` §1 (measured).
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let document: ModulesDocument = members(bytes)?;
        let Some(first) = document.modules.unwrap_or_default().into_iter().next() else {
            return Err("its `modules` names no module".to_owned());
        };
        let entries = first.versions;
        if entries.len() > MOST_VERSIONS {
            return Err(format!("it lists {} versions, and at most {MOST_VERSIONS} are read", entries.len()));
        }
        let (mut versions, mut skipped, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
        for ModuleVersionEntry { version: text } in entries {
            match text.strip_prefix('v').unwrap_or(&text).parse::<Version>() {
                Ok(version) => {
                    if seen.insert(version.clone()) {
                        versions.push(version);
                    }
                }
                Err(_) => skipped.push(text),
            }
        }
        versions.sort_by(Version::precedence);
        Ok(Self { listing: Listing { versions, ..Listing::default() }, skipped })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(body: &str, want: Result<(&str, &[&str]), &str>) {
        let got = ModuleVersions::parse(body.as_bytes()).map(|read| {
            let versions: Vec<String> = read.listing.versions.iter().map(ToString::to_string).collect();
            (versions.join(" "), read.skipped)
        });
        let want =
            want.map(|(versions, skipped)| (versions.to_owned(), skipped.iter().map(ToString::to_string).collect()));
        assert_eq!(got, want.map_err(str::to_owned), "{body}");
    }

    fn list(versions: &str) -> String {
        format!(r#"{{"modules":[{{"versions":[{versions}]}},{{"versions":[{{"version":"9.0.0"}}]}}]}}"#)
    }

    #[test]
    fn versions_are_sorted_and_a_v_before_them_does_not_count() {
        check(
            &list(r#"{"version":"1.10.0"},{"version":"v1.2.0"},{"version":"1.2.0"},{"version":"1.0.0-rc.1"}"#),
            Ok(("1.0.0-rc.1 1.2.0 1.10.0", &[])),
        );
    }

    #[test]
    fn what_is_not_a_version_is_skipped() {
        check(
            &list(r#"{"version":"latest"},{"version":"1.0.0","root":{"x":1}},{},{"version":"vv1"}"#),
            Ok(("1.0.0", &["latest", "", "vv1"])),
        );
        check(&list(""), Ok(("", &[])));
    }

    #[test]
    fn an_answer_that_says_nothing_was_taken_for_an_empty_list() {
        let null = "it is malformed: invalid type: null, expected a sequence";
        check(r#"{"modules":[{"versions":null}]}"#, Err(null));
        check(r#"{"modules":[{}]}"#, Err("it is malformed: missing field `versions`"));
    }

    #[test]
    fn rubbish_is_one_error() {
        check("{}", Err("its `modules` names no module"));
        check(r#"{"modules":[]}"#, Err("its `modules` names no module"));
        check("[]", Err("it is not a JSON object"));
        for body in
            ["", "<html>", r#"{"modules":1}"#, r#"{"modules":[{"versions":[1]}]}"#, r#"{"modules":[],"modules":[]}"#]
        {
            assert!(ModuleVersions::parse(body.as_bytes()).is_err(), "{body}");
        }
        let many = vec![r#"{"version":"1.0.0"}"#; MOST_VERSIONS + 1].join(",");
        check(&list(&many), Err("it lists 50001 versions, and at most 50000 are read"));
    }
}
