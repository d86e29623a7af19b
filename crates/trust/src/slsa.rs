//! What provenance says of a build, and what a rule demands of it.
//!
//! Spec: SLSA, `provenance/v1` and `provenance/v0.2`.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::PROVENANCE_PREDICATE;
use crate::paths::{folded, is_repository, path_matches, repository_matches};

/// Provenance as older builders write it. It counts as the newer type if a rule demands a build.
pub(crate) const PROVENANCE_V0_2: &str = "https://slsa.dev/provenance/v0.2";

/// Who built something, and from which repository, as the builder says it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object for a build")]
pub struct Build {
    /// The id of the builder, such as `https://github.com/actions/runner/github-hosted`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub builder: Option<String>,
    /// The repository without scheme and ref, such as `github.com/acme/widget`, as it is compared; several if the statement
    /// contradicts itself.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub sources: BTreeSet<String>,
}

/// The build that a rule demands. Each text may have `*`, for any characters except `/`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "the table `slsa` with `builder`, `source` or both")]
pub struct DemandedBuild {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub builder: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// What of a build is another than the rule demands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OtherBuild {
    pub(crate) member: &'static str,
    pub(crate) found: Option<String>,
    pub(crate) wanted: String,
}

/// Whether a type of statement says how something was built.
pub(crate) fn is_provenance(predicate_type: &str) -> bool {
    matches!(predicate_type, PROVENANCE_PREDICATE | PROVENANCE_V0_2)
}

impl Build {
    /// What a statement says; `None` for one that is no provenance.
    pub(crate) fn of(predicate_type: &str, predicate: Option<&Value>) -> Option<Self> {
        let text = |path: &str| predicate?.pointer(path)?.as_str().map(str::to_owned);
        let sources = |paths: &[&str], fetched: &str| {
            let named = paths.iter().filter_map(|path| text(path)).map(|uri| repository(&uri)).collect();
            with_fetched(named, predicate.and_then(|predicate| predicate.pointer(fetched)))
        };
        match predicate_type {
            PROVENANCE_PREDICATE => {
                let paths = ["workflow/repository", "source/uri", "source"];
                let paths = paths.map(|path| format!("/buildDefinition/externalParameters/{path}"));
                let sources = sources(&paths.each_ref().map(String::as_str), "/buildDefinition/resolvedDependencies");
                Some(Self { builder: text("/runDetails/builder/id"), sources })
            }
            PROVENANCE_V0_2 => {
                let sources = sources(&["/invocation/configSource/uri"], "/materials");
                Some(Self { builder: text("/builder/id"), sources })
            }
            _ => None,
        }
    }
}

/// The repositories that a build names as its source, with those that it fetched if none of them is that source.
fn with_fetched(named: BTreeSet<String>, fetched: Option<&Value>) -> BTreeSet<String> {
    let is_git = |uri: &str, one: &Value| uri.starts_with("git+") || one.pointer("/digest/gitCommit").is_some();
    let fetched = fetched.and_then(Value::as_array).into_iter().flatten();
    let fetched = fetched.filter_map(|one| Some((one.get("uri")?.as_str()?, one)));
    let fetched = fetched.filter(|(uri, one)| is_git(uri, one)).map(|(uri, _)| repository(uri));
    let fetched: BTreeSet<String> = fetched.collect();
    if named.is_empty() || fetched.is_empty() || !named.is_disjoint(&fetched) {
        return named;
    }
    named.into_iter().chain(fetched).collect()
}

/// The repository in a URI such as `git+https://github.com/acme/widget@refs/tags/v1`, as it is compared. Only a ref or the id of a
/// commit is cut off: any other text after an `@` is part of a name.
fn repository(uri: &str) -> String {
    let git = uri.strip_prefix("git+");
    let bare = git.unwrap_or(uri);
    let bare = bare.strip_prefix("https://").unwrap_or(bare);
    let is_commit = |id: &str| matches!(id.len(), 40 | 64) && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    let bare = match bare.split_once('@').filter(|_| git.is_some()) {
        Some((bare, built)) if built.starts_with("refs/") || is_commit(built) => bare,
        _ => bare,
    };
    let bare = bare.strip_suffix('/').unwrap_or(bare);
    folded(bare.strip_suffix(".git").unwrap_or(bare))
}

impl DemandedBuild {
    /// What cannot be compared: the member, and what is wrong with it.
    pub(crate) fn problem(&self) -> Option<(&'static str, &'static str)> {
        match self {
            Self { builder: None, source: None } => Some(("slsa", "must have builder or source")),
            Self { builder: Some(builder), .. } if !builder.starts_with("https://") => {
                Some(("slsa.builder", "must be the id of a builder, a URL with https://"))
            }
            Self { source: Some(source), .. } if !is_repository(source) => {
                Some(("slsa.source", "must be HOST/OWNER/REPOSITORY"))
            }
            Self { source: Some(source), .. } if source.split('/').take(2).any(|part| part.contains('*')) => {
                Some(("slsa.source", "must name one host and one owner"))
            }
            _ => None,
        }
    }

    /// What of a build is another one. An id of a builder may have `@REF` after it, which counts only if the rule writes one.
    pub(crate) fn differs(&self, build: &Build) -> Option<OtherBuild> {
        let is_builder = |wanted: &str, found: &str| match found.split_once('@') {
            Some((id, _)) if !wanted.contains('@') => path_matches(wanted, id),
            _ => path_matches(wanted, found),
        };
        // If there are several sources, `slsa.source` is not met.
        let sources = build.sources.iter().map(String::as_str).collect::<Vec<_>>();
        let is_source = |wanted: &str, found: &str| sources.len() == 1 && repository_matches(wanted, found);
        let source = (!sources.is_empty()).then(|| sources.join(" and "));
        let builder = differing("builder", self.builder.as_ref(), build.builder.as_ref(), is_builder);
        builder.or_else(|| differing("source", self.source.as_ref(), source.as_ref(), is_source))
    }
}

/// A member that is demanded and is another one.
fn differing(
    member: &'static str,
    wanted: Option<&String>,
    found: Option<&String>,
    is_same: impl Fn(&str, &str) -> bool,
) -> Option<OtherBuild> {
    let wanted = wanted?;
    let is_right = found.is_some_and(|found| is_same(wanted, found));
    (!is_right).then(|| OtherBuild { member, found: found.cloned(), wanted: wanted.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peek_bundle;

    /// What a real bundle says of its build.
    fn build(name: &str) -> Build {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/trust/keyless/");
        let bytes = std::fs::read(format!("{root}{name}")).unwrap_or_else(|error| panic!("{name}: {error}"));
        peek_bundle(&bytes).expect("a bundle").statement.build.expect("provenance")
    }

    #[track_caller]
    fn check(build: &Build, builder: Option<&str>, source: Option<&str>, want: Option<&str>) {
        let demanded = DemandedBuild { builder: builder.map(str::to_owned), source: source.map(str::to_owned) };
        assert_eq!(demanded.problem(), None);
        assert_eq!(demanded.differs(build).map(|other| other.member), want);
    }

    #[test]
    fn real_provenance_says_builder_and_source() {
        let public = build("public-good.json");
        let builder = "https://github.com/loosebazooka/aa-test/.github/workflows/provenance.yaml";
        assert_eq!(public.builder, Some(format!("{builder}@refs/heads/main")));
        assert_eq!(public.sources, BTreeSet::from(["github.com/loosebazooka/aa-test".to_owned()]));
        check(&public, Some(builder), None, None);
        check(&public, Some(&format!("{builder}@refs/heads/*")), Some("github.com/LooseBazooka/aa-*"), None);
        check(&public, Some(&format!("{builder}@refs/tags/v1")), None, Some("builder"));
        check(&public, Some("https://github.com/loosebazooka/*"), None, Some("builder"));
        check(&public, Some(builder), Some("github.com/loosebazooka/other"), Some("source"));
        let github = build("github.json");
        check(
            &github,
            Some("https://github.com/actions/runner/github-hosted"),
            Some("github.com/actions/attest-demo"),
            None,
        );
        check(&github, Some("https://github.com/actions/runner/self-hosted"), None, Some("builder"));
        // This one names no source.
        check(&build("rekor2.json"), None, Some("github.com/acme/widget"), Some("source"));
    }

    #[test]
    fn older_provenance_is_read() {
        let predicate = serde_json::json!({
            "builder": { "id": "https://github.com/slsa-framework/generator@refs/tags/v1" },
            "invocation": { "configSource": { "uri": "git+https://github.com/acme/widget@refs/tags/v1.4.0" } },
        });
        let old = Build::of(PROVENANCE_V0_2, Some(&predicate)).expect("provenance");
        check(&old, Some("https://github.com/slsa-framework/generator"), Some("github.com/acme/widget"), None);
        assert_eq!(Build::of("https://sigstore.dev/cosign/sign/v1", Some(&predicate)), None);
        assert_eq!(Build::of(PROVENANCE_PREDICATE, None), Some(Build::default()));
    }

    /// What is found wrong with the source of a build that says these of it.
    #[track_caller]
    fn check_sources(named: &str, fetched: &[&str], want: Option<&str>) {
        let fetched: Vec<Value> = fetched.iter().map(|uri| serde_json::json!({ "uri": uri })).collect();
        let new = serde_json::json!({ "buildDefinition": {
            "externalParameters": { "workflow": { "repository": named } }, "resolvedDependencies": fetched.clone(),
        } });
        let old = serde_json::json!({ "invocation": { "configSource": { "uri": named } }, "materials": fetched });
        let demanded = DemandedBuild { builder: None, source: Some("github.com/acme/widget".to_owned()) };
        for (predicate_type, predicate) in [(PROVENANCE_PREDICATE, new), (PROVENANCE_V0_2, old)] {
            let build = Build::of(predicate_type, Some(&predicate)).expect("provenance");
            let found = demanded.differs(&build).map(|other| other.found.unwrap_or_default());
            assert_eq!(found.as_deref(), want, "{named}");
        }
    }

    #[test]
    fn provenance_with_two_sources_counted_by_the_one_that_was_demanded() {
        let (widget, commit) = ("https://github.com/acme/widget", "a6c23b9806c593664f68637c8f9d45dfcf98b2db");
        check_sources(widget, &[], None);
        check_sources(widget, &["git+https://github.com/ACME/Widget@refs/heads/main"], None);
        check_sources(widget, &["git+https://github.com/dep/one", &format!("git+{widget}.git@{commit}")], None);
        check_sources(widget, &["pkg:docker/alpine@3"], None);
        let both = Some("github.com/acme/widget and github.com/evil/widget");
        check_sources(widget, &["git+https://github.com/evil/widget@refs/heads/main"], both);
        check_sources("https://github.com/evil/widget", &[&format!("git+{widget}")], both);
        let two = serde_json::json!({ "buildDefinition": { "externalParameters": {
            "workflow": { "repository": widget }, "source": "https://github.com/evil/widget",
        } } });
        let build = Build::of(PROVENANCE_PREDICATE, Some(&two)).expect("provenance");
        check(&build, None, Some("github.com/acme/widget"), Some("source"));
    }

    #[test]
    fn a_source_with_an_at_in_its_name_was_taken_for_another_one() {
        for (uri, want) in [
            ("git+https://github.com/acme/widget@refs/tags/v1@2", "github.com/acme/widget"),
            ("git+https://github.com/acme/widget@a6c23b9806c593664f68637c8f9d45dfcf98b2db", "github.com/acme/widget"),
            ("https://github.com/acme/widget.git/", "github.com/acme/widget"),
            ("https://github.com/acme/widget@evil", "github.com/acme/widget@evil"),
            ("git+https://github.com/acme/widget@evil", "github.com/acme/widget@evil"),
            ("https://github.com/acme/widget@refs/tags/v1", "github.com/acme/widget@refs/tags/v1"),
            ("https://github.com@evil.example/acme/widget", "github.com@evil.example/acme/widget"),
            ("http://github.com/acme/widget", "http://github.com/acme/widget"),
        ] {
            assert_eq!(repository(uri), want, "{uri}");
        }
    }

    #[test]
    fn a_demand_that_protects_nothing_is_refused() {
        let problem = |builder: Option<&str>, source: Option<&str>| {
            let demanded = DemandedBuild { builder: builder.map(str::to_owned), source: source.map(str::to_owned) };
            demanded.problem().map(|(member, _)| member)
        };
        assert_eq!(problem(None, None), Some("slsa"));
        assert_eq!(problem(Some("github-hosted"), None), Some("slsa.builder"));
        assert_eq!(problem(None, Some("https://github.com/acme/widget")), Some("slsa.source"));
        assert_eq!(problem(None, Some("github.com/acme/widget.git")), Some("slsa.source"));
        assert_eq!(problem(None, Some("github.com/*/widget")), Some("slsa.source"));
        assert_eq!(problem(None, Some("github.com/acme")), Some("slsa.source"));
    }
}
