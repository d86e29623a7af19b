//! Keys that miss a repository by little, and what to write instead.

use std::fmt;

use tofu_oci_types::RepositoryRef;

use crate::key::{is_hub, matches, matches_helper};

/// Why a key that was perhaps meant for a repository does not match it. `Display` tells what to write instead; the
/// text in each is the key to write.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NearMiss {
    /// It has a scheme such as `https://`, or what else belongs to a URL.
    Scheme(String),
    /// Its letters are of another case.
    Case(String),
    /// It names another port, or none.
    Port(String),
    /// It is another name of the Docker Hub, and a source under the very name of the repository's registry counts.
    HubName(String),
    /// The registry is right and the path is not: part of a segment, too long, or given where none may be.
    Path(String),
    /// It has a slash, dot or blank too many.
    Ends(String),
    /// It names a tag or a digest.
    Tag(String),
    /// It holds `*`.
    Wildcard(String),
}

/// What a key is compared for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyOf {
    /// `auths`, or a block's label: a registry or a repository prefix.
    Prefix,
    /// `credHelpers`: a registry.
    Helper,
}

impl KeyOf {
    fn fits(self, key: &str, repository: &RepositoryRef) -> bool {
        match self {
            Self::Prefix => matches(key, repository).is_some(),
            Self::Helper => matches_helper(key, repository).is_some(),
        }
    }
}

type Repair = (fn(&str, &RepositoryRef) -> String, fn(String) -> NearMiss);

/// What to fix in a key, one after the other.
const REPAIRS: [Repair; 6] = [
    (|key, _| key.trim().to_owned(), NearMiss::Ends),
    (|key, _| without_url(key), NearMiss::Scheme),
    (|key, _| without_wildcard(key), NearMiss::Wildcard),
    (|key, _| without_tag(key), NearMiss::Tag),
    (|key, _| without_ends(key), NearMiss::Ends),
    (in_its_case, NearMiss::Case),
];

/// Looks for what was meant by a key that does not match.
pub(crate) fn near_miss(key: &str, of: KeyOf, repository: &RepositoryRef) -> Option<NearMiss> {
    let mut text = key.to_owned();
    let mut first: Option<fn(String) -> NearMiss> = None;
    for (repair, kind) in REPAIRS {
        let fixed = repair(&text, repository);
        if fixed != text {
            text = fixed;
            let first = *first.get_or_insert(kind);
            if of.fits(&text, repository) {
                return Some(first(text));
            }
        }
    }
    let registry = repository.registry();
    if let Some(rest) = key.strip_prefix('*')
        && rest.len() > 1
        && registry.ends_with(rest)
    {
        return Some(NearMiss::Wildcard(registry.to_owned()));
    }
    let (host, path) = text.split_once('/').map_or((text.as_str(), ""), |(host, path)| (host, path));
    if host != registry {
        let with_port = if path.is_empty() { registry.to_owned() } else { format!("{registry}/{path}") };
        let near = same_host(host, registry) && of.fits(&with_port, repository);
        return near.then(|| first.unwrap_or(NearMiss::Port)(with_port));
    }
    if of == KeyOf::Helper {
        return Some(NearMiss::Path(registry.to_owned()));
    }
    let (whole, meant) = (repository.to_string(), format!("{host}/{path}"));
    if meant.starts_with(&format!("{whole}/")) {
        return Some(NearMiss::Path(whole));
    }
    // The beginning of a segment.
    let rest = whole.strip_prefix(&meant).filter(|_| !path.is_empty())?;
    let segment = rest.split('/').next().unwrap_or_default();
    Some(NearMiss::Path(format!("{meant}{segment}")))
}

fn without_url(key: &str) -> String {
    let rest = match key.split_once("://") {
        Some((_, rest)) => {
            let authority = rest.find('/').unwrap_or(rest.len());
            rest[..authority].rfind('@').map_or(rest, |at| &rest[at + 1..])
        }
        None => key,
    };
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    let host = rest.strip_suffix("/v1").or_else(|| rest.strip_suffix("/v2")).filter(|host| !host.contains('/'));
    let scheme_or_api = key.contains("://") || host.is_some();
    if scheme_or_api { host.unwrap_or(rest).to_owned() } else { key.to_owned() }
}

fn without_wildcard(key: &str) -> String {
    key.split("/*").next().unwrap_or(key).to_owned()
}

fn without_tag(key: &str) -> String {
    match key.split_once('/') {
        Some((host, path)) => format!("{host}/{}", path.split([':', '@']).next().unwrap_or_default()),
        None => key.to_owned(),
    }
}

fn without_ends(key: &str) -> String {
    let parts: Vec<&str> = key.split('/').filter(|part| !part.is_empty()).collect();
    let key = parts.join("/");
    key.strip_suffix('.').map(str::to_owned).unwrap_or(key)
}

/// In the repository's case, where that is the only difference.
fn in_its_case(key: &str, repository: &RepositoryRef) -> String {
    let whole = repository.to_string();
    match whole.get(..key.len()) {
        Some(start) if start.eq_ignore_ascii_case(key) => start.to_owned(),
        _ => key.to_owned(),
    }
}

fn same_host(one: &str, other: &str) -> bool {
    fn host(registry: &str) -> &str {
        match registry.rsplit_once(':') {
            Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
            _ => registry,
        }
    }
    host(one).eq_ignore_ascii_case(host(other)) && !is_hub(one)
}

impl NearMiss {
    /// The key to write instead.
    pub fn instead(&self) -> &str {
        match self {
            Self::Scheme(key)
            | Self::Case(key)
            | Self::Port(key)
            | Self::HubName(key)
            | Self::Path(key)
            | Self::Ends(key)
            | Self::Tag(key)
            | Self::Wildcard(key) => key,
        }
    }
}

impl fmt::Display for NearMiss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = match self {
            Self::Scheme(_) => "a key is no URL",
            Self::Case(_) => "upper and lower case count",
            Self::Port(_) => "the port counts",
            Self::HubName(_) => "another name of the Docker Hub counts here",
            Self::Path(_) => "paths are compared by whole segments, and helpers know none",
            Self::Ends(_) => "it has a blank, slash or dot too many",
            Self::Tag(_) => "a key names no tag and no digest",
            Self::Wildcard(_) => "keys know no wildcards",
        };
        write!(f, "{why}: write {}", self.instead())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "the cases below read better without references")]
    fn check(key: &str, repository: &str, want: Option<NearMiss>) {
        let repository = RepositoryRef::from_opentofu(repository).expect("a repository");
        assert!(!KeyOf::Prefix.fits(key, &repository), "{key:?} matches {repository}");
        let got = near_miss(key, KeyOf::Prefix, &repository);
        assert_eq!(got, want, "{key:?} for {repository}");
        if let Some(near) = got {
            assert!(KeyOf::Prefix.fits(near.instead(), &repository), "{near}");
        }
    }

    #[test]
    fn urls() {
        for key in [
            "https://r.test:5000",
            "https://r.test:5000/",
            "http://r.test:5000",
            "https://r.test:5000/v1/",
            "https://r.test:5000/v2/",
            "https://me:hunter2@r.test:5000/",
            "r.test:5000/v1/",
            "https://R.TEST:5000/v1/",
            "http://r.test",
        ] {
            check(key, "r.test:5000/a/b", Some(NearMiss::Scheme("r.test:5000".to_owned())));
        }
        check("https://r.test/a", "r.test/a/b", Some(NearMiss::Scheme("r.test/a".to_owned())));
        check("https://docker.io", "docker.io/library/x", Some(NearMiss::Scheme("docker.io".to_owned())));
        check("https://other.test", "r.test/a", None);
    }

    #[test]
    fn case_and_port() {
        let case = |key: &str| Some(NearMiss::Case(key.to_owned()));
        check("R.TEST:5000", "r.test:5000/a", case("r.test:5000"));
        check("r.test", "R.test/a", case("R.test"));
        check("r.test/A", "r.test/a/b", case("r.test/a"));
        let port = |key: &str| Some(NearMiss::Port(key.to_owned()));
        check("r.test", "r.test:5000/a", port("r.test:5000"));
        check("r.test:443", "r.test/a", port("r.test"));
        check("r.test/a", "r.test:443/a/b", port("r.test:443/a"));
        check("r.test:1/b", "r.test:443/a/b", None);
    }

    #[test]
    fn paths_and_ends() {
        let path = |key: &str| Some(NearMiss::Path(key.to_owned()));
        check("r.test/a/b/c/d", "r.test/a/b/c", path("r.test/a/b/c"));
        check("r.test/ac", "r.test/acme/x", path("r.test/acme"));
        check("r.test/acme/x", "r.test/acme/xyz/a", path("r.test/acme/xyz"));
        check("r.test/other", "r.test/acme/x", None);
        let ends = |key: &str| Some(NearMiss::Ends(key.to_owned()));
        check("r.test/", "r.test/a", ends("r.test"));
        check("r.test/a/", "r.test/a/b", ends("r.test/a"));
        check("r.test//a", "r.test/a/b", ends("r.test/a"));
        check(" r.test", "r.test/a", ends("r.test"));
        check("r.test.", "r.test/a", ends("r.test"));
        check("r.test/a:1.0", "r.test/a/b", Some(NearMiss::Tag("r.test/a".to_owned())));
        check("r.test/a@sha256:00", "r.test/a/b", Some(NearMiss::Tag("r.test/a".to_owned())));
        for (key, instead) in [("r.test/a/*", "r.test/a"), ("r.test/*", "r.test"), ("*.test", "r.test")] {
            check(key, "r.test/a/b", Some(NearMiss::Wildcard(instead.to_owned())));
        }
        for key in ["", "*", "/", "https://", "é", "://", "@", ":"] {
            check(key, "r.test/a", None);
        }
    }

    #[test]
    fn helpers_take_no_path() {
        let repository = "r.test/a/b".parse().expect("a repository");
        let got = near_miss("r.test/a", KeyOf::Helper, &repository);
        assert_eq!(got, Some(NearMiss::Path("r.test".to_owned())));
        let got = near_miss("https://r.test", KeyOf::Helper, &repository);
        assert_eq!(got.map(|near| near.to_string()).as_deref(), Some("a key is no URL: write r.test"));
    }
}
