//! What provenance says of a build, and what a rule demands of it.
//!
//! Spec: SLSA, `provenance/v1` and `provenance/v0.2`.

use serde::Deserialize;
use serde_json::Value;

use crate::PROVENANCE_PREDICATE;
use crate::paths::{path_matches, repository_matches};

/// Provenance as older builders write it. It counts as the newer type if a rule demands a build.
pub(crate) const PROVENANCE_V0_2: &str = "https://slsa.dev/provenance/v0.2";

/// Who built something, and from which repository, as the builder says it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Build {
    /// The id of the builder, such as `https://github.com/actions/runner/github-hosted`.
    pub builder: Option<String>,
    /// The repository without scheme and ref, such as `github.com/acme/widget`.
    pub source: Option<String>,
}

/// The build that a rule demands. Each text may have `*`, for any characters except `/`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "the table `slsa` with `builder`, `source` or both")]
pub struct DemandedBuild {
    pub builder: Option<String>,
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
        let source = |paths: &[&str]| paths.iter().find_map(|path| text(path)).map(|uri| repository(&uri).to_owned());
        match predicate_type {
            PROVENANCE_PREDICATE => Some(Self {
                builder: text("/runDetails/builder/id"),
                source: source(&[
                    "/buildDefinition/externalParameters/workflow/repository",
                    "/buildDefinition/externalParameters/source/uri",
                    "/buildDefinition/externalParameters/source",
                ]),
            }),
            PROVENANCE_V0_2 => {
                Some(Self { builder: text("/builder/id"), source: source(&["/invocation/configSource/uri"]) })
            }
            _ => None,
        }
    }
}

/// The repository in a URI such as `git+https://github.com/acme/widget@refs/tags/v1`.
fn repository(uri: &str) -> &str {
    let bare = uri.strip_prefix("git+").unwrap_or(uri);
    let bare = bare.strip_prefix("https://").unwrap_or(bare);
    let bare = bare.split_once('@').map_or(bare, |(bare, _)| bare);
    let bare = bare.trim_end_matches('/');
    bare.strip_suffix(".git").unwrap_or(bare)
}

impl DemandedBuild {
    /// What cannot be compared: the member, and what is wrong with it.
    pub(crate) fn problem(&self) -> Option<(&'static str, &'static str)> {
        match self {
            Self { builder: None, source: None } => Some(("slsa", "must have builder or source")),
            Self { builder: Some(builder), .. } if !builder.starts_with("https://") => {
                Some(("slsa.builder", "must be the id of a builder, a URL with https://"))
            }
            Self { source: Some(source), .. } if source.contains("://") || source.split('/').count() < 3 => {
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
        let builder = differing("builder", self.builder.as_ref(), build.builder.as_ref(), is_builder);
        builder.or_else(|| differing("source", self.source.as_ref(), build.source.as_ref(), repository_matches))
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
        assert_eq!(public.source.as_deref(), Some("github.com/loosebazooka/aa-test"));
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

    #[test]
    fn a_demand_that_protects_nothing_is_refused() {
        let problem = |builder: Option<&str>, source: Option<&str>| {
            let demanded = DemandedBuild { builder: builder.map(str::to_owned), source: source.map(str::to_owned) };
            demanded.problem().map(|(member, _)| member)
        };
        assert_eq!(problem(None, None), Some("slsa"));
        assert_eq!(problem(Some("github-hosted"), None), Some("slsa.builder"));
        assert_eq!(problem(None, Some("https://github.com/acme/widget")), Some("slsa.source"));
        assert_eq!(problem(None, Some("github.com/*/widget")), Some("slsa.source"));
        assert_eq!(problem(None, Some("github.com/acme")), Some("slsa.source"));
    }
}
