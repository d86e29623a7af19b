//! Keys of `auths` and `credHelpers` and labels of blocks: a registry, or a repository prefix.

use tofu_oci_types::{DOCKER_HUB_NAMES, RepositoryRef, printable};

/// The Docker Hub as its logins are written down.
pub(crate) const HUB_V1: &str = "https://index.docker.io/v1/";
/// The Docker Hub as repositories are written.
pub(crate) const HUB: &str = DOCKER_HUB_NAMES[0];

/// All names, in the order that counts.
const HUB_NAMES: [&str; 4] = [HUB, HUB_V1, DOCKER_HUB_NAMES[1], DOCKER_HUB_NAMES[2]];

/// How closely a source fits a repository; greater is closer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Specificity {
    /// A helper that serves every registry.
    Store,
    Registry,
    /// This many leading segments of the repository's path, at least one.
    Path(usize),
}

impl Specificity {
    /// The number that `OpenTofu` gives it: 1 for a store, 2 for a registry, 2 and one a path segment.
    pub fn specificity(self) -> usize {
        match self {
            Self::Store => 1,
            Self::Registry => 2,
            Self::Path(segments) => 2 + segments,
        }
    }
}

/// How a key fits a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Match {
    pub(crate) fit: Specificity,
    /// 0 for the name of the registry that the repository is written with, and more for each other name of the Hub.
    pub(crate) alias: usize,
}

/// How closely a key of `auths` or a label fits, as `OpenTofu` compares them: byte for byte.
///
/// Spec: `OpenTofu` 1.12, ociauthconfig, `ContainersAuthPropertyNameMatch`.
pub(crate) fn fit(key: &str, repository: &RepositoryRef) -> Option<Specificity> {
    fit_parts(key, repository.registry(), repository.name())
}

/// As [`fit`], of a registry and a name, which may be empty.
pub(crate) fn fit_parts(key: &str, registry: &str, name: &str) -> Option<Specificity> {
    let Some((host, _)) = key.split_once('/') else {
        // A registry alone is only compared, whatever it looks like.
        return (!key.is_empty() && key == registry).then_some(Specificity::Registry);
    };
    if host != registry {
        return None;
    }
    // `from_opentofu` drops an empty tag or digest; a key with another one, or an invalid path, matches nothing.
    let prefix = RepositoryRef::from_opentofu(key).ok()?;
    let mut segments = name.split('/');
    let mut count = 0;
    for wanted in prefix.name().split('/') {
        if segments.next() != Some(wanted) {
            return None;
        }
        count += 1;
    }
    Some(Specificity::Path(count))
}

/// How a key of `auths` or a label fits, with all names of the Hub.
pub(crate) fn matches(key: &str, repository: &RepositoryRef) -> Option<Match> {
    names(repository.registry()).into_iter().enumerate().find_map(|(alias, name)| {
        let fit = match alias {
            0 => fit(key, repository),
            // One of the names is a URL.
            _ if key == name => Some(Specificity::Registry),
            _ => fit_parts(key, name, repository.name()),
        };
        fit.map(|fit| Match { fit, alias })
    })
}

/// How a key of `credHelpers` fits: it is the registry, so it has no path.
pub(crate) fn matches_helper(key: &str, repository: &RepositoryRef) -> Option<Match> {
    let alias = names(repository.registry()).iter().position(|name| !key.is_empty() && *name == key)?;
    Some(Match { fit: Specificity::Registry, alias })
}

/// The registry's name; if it is one of the Hub's, also the others in the order that counts.
pub(crate) fn names(registry: &str) -> Vec<&str> {
    let mut names = vec![registry];
    if is_hub(registry) {
        names.extend(HUB_NAMES.iter().filter(|name| **name != registry));
    }
    names
}

/// Whether a registry is the Docker Hub by any of its names.
pub(crate) fn is_hub(registry: &str) -> bool {
    HUB_NAMES.contains(&registry)
}

/// Whether a key with a path is written exactly as it is read: without an empty tag or digest at its end.
pub(crate) fn is_exact(key: &str) -> bool {
    key.split_once('/').is_none_or(|(_, path)| !path.contains([':', '@']))
}

/// How well an entry without `auth` marks a login to the registry: less is better; `None` if it is for another registry.
///
/// Docker writes the mark under the address that the user gave, and stores the login with the helper under the same.
pub(crate) fn marks(key: &str, registry: &str) -> Option<usize> {
    names(registry).iter().position(|name| *name == key || without_scheme(key) == Some(*name))
}

/// The host of `https://HOST`, which `/`, `/v1/` or `/v2/` may follow.
fn without_scheme(key: &str) -> Option<&str> {
    let rest = key.strip_prefix("https://").or_else(|| key.strip_prefix("http://"))?;
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    Some(rest.strip_suffix("/v1").or_else(|| rest.strip_suffix("/v2")).unwrap_or(rest))
}

/// A key, label or helper's name as people may see it: without user information, in one line, at most 200 characters.
///
/// A password may contain any character of a key, so everything up to the last `@` is hidden, except in a repository with
/// a digest.
pub(crate) fn shown(key: &str) -> String {
    let (scheme, rest) = key.split_at(key.find("://").map_or(0, |at| at + 3));
    let user_info = rest.rfind('@').filter(|at| !scheme.is_empty() || !is_repository(&rest[..*at]));
    let masked = user_info.map_or_else(|| key.to_owned(), |at| format!("{scheme}***{}", &rest[at..]));
    let mut shown: String = printable(&masked.chars().take(200).collect::<String>()).into_owned();
    if masked.chars().nth(200).is_some() {
        shown.push('…');
    }
    shown
}

fn is_repository(text: &str) -> bool {
    let digits = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    text.split_once('/').is_some_and(|(host, path)| {
        !text.contains('@') && !path.is_empty() && host.split_once(':').is_none_or(|(_, port)| digits(port))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The specificity of a key as `OpenTofu` has it, 0 if it does not match.
    #[track_caller]
    fn check(key: &str, repository: &str, want: usize) {
        let repository = RepositoryRef::from_opentofu(repository).expect("a repository");
        let got = fit(key, &repository).map_or(0, Specificity::specificity);
        assert_eq!(got, want, "{key:?} for {repository}");
    }

    #[test]
    fn the_registry_must_be_the_same_byte_for_byte() {
        check("r.test:5000", "r.test:5000/a/b", 2);
        check("r.test", "r.test:5000/a", 0);
        check("r.test:443", "r.test/a", 0);
        check("r.test", "r.test:443/a", 0);
        check("r.test:443", "r.test:443/a", 2);
        check("R.test", "r.test/a", 0);
        check("R.test", "R.test/a", 2);
        check("r.test", "R.test/a", 0);
        check("127.0.0.1:5000", "127.0.0.1:5000/a", 2);
        for key in ["https://r.test", "http://r.test", "https://r.test/", "https://r.test/v1/", "https://r.test/v2/"] {
            check(key, "r.test/a", 0);
        }
        for key in ["r.test/", "r.test/v1/", "r.test.", " r.test", "r.test ", "*.test", "*", "", "/", "u@r.test"] {
            check(key, "r.test/a", 0);
        }
    }

    #[test]
    fn paths_match_whole_segments() {
        check("r.test/a", "r.test/a/b/c", 3);
        check("r.test/a/b", "r.test/a/b/c", 4);
        check("r.test/a/b/c", "r.test/a/b/c", 5);
        check("r.test/a/b/c/d", "r.test/a/b/c", 0);
        check("r.test/a/bb", "r.test/a/b/c", 0);
        check("r.test/a/b", "r.test/a/bx/c", 0);
        check("r.test/b", "r.test/a/b", 0);
        for key in
            ["r.test/A", "r.test/a:1.0.0", "r.test//a", "r.test/a/", "r.test/a/*", "r.test/*", "r.test/a@sha256:0"]
        {
            check(key, "r.test/a/b", 0);
        }
        check("r.test/a:", "r.test/a/b", 3);
        check("r.test/a@", "r.test/a/b", 3);
        check("r.test/a:x@", "r.test/a/b", 3);
    }

    #[track_caller]
    fn check_hub(key: &str, registry: &str, want: Option<(Specificity, usize)>) {
        let repository = format!("{registry}/library/x").parse().expect("a repository");
        assert_eq!(matches(key, &repository).map(|found| (found.fit, found.alias)), want, "{key} for {registry}");
    }

    #[test]
    fn the_names_of_the_hub_serve_each_other_in_order() {
        for (alias, key) in ["docker.io", HUB_V1, "index.docker.io", "registry-1.docker.io"].into_iter().enumerate() {
            check_hub(key, "docker.io", Some((Specificity::Registry, alias)));
        }
        for (alias, key) in ["registry-1.docker.io", "docker.io", HUB_V1, "index.docker.io"].into_iter().enumerate() {
            check_hub(key, "registry-1.docker.io", Some((Specificity::Registry, alias)));
        }
        check_hub("index.docker.io", "index.docker.io", Some((Specificity::Registry, 0)));
        check_hub("index.docker.io/library", "docker.io", Some((Specificity::Path(1), 2)));
        check_hub("docker.io/library/x", "docker.io", Some((Specificity::Path(2), 0)));
        for key in ["https://index.docker.io/v1", "index.docker.io/v1/", "https://docker.io", "hub.docker.com"] {
            check_hub(key, "docker.io", None);
        }
        check_hub("docker.io", "docker.io:443", None);
        check_hub(HUB_V1, "ghcr.io", None);
    }

    #[test]
    fn helpers_are_named_for_registries_alone() {
        let repository = "docker.io/library/x".parse().expect("a repository");
        assert_eq!(matches_helper("docker.io/library", &repository), None);
        assert_eq!(matches_helper(HUB_V1, &repository), Some(Match { fit: Specificity::Registry, alias: 1 }));
        assert_eq!(matches_helper("", &repository), None);
    }

    #[test]
    fn marks_of_logins() {
        assert_eq!(marks("r.test:5000", "r.test:5000"), Some(0));
        assert_eq!(marks("https://r.test", "r.test"), Some(0));
        assert_eq!(marks("https://r.test/v2/", "r.test"), Some(0));
        assert_eq!(marks("r.test", "r.test:5000"), None);
        assert_eq!(marks("r.test/a", "r.test"), None);
        assert_eq!(marks(HUB_V1, "docker.io"), Some(1));
        assert_eq!(marks(HUB_V1, "registry-1.docker.io"), Some(2));
    }

    #[test]
    fn keys_are_shown_without_user_information_and_in_one_line() {
        assert_eq!(shown("https://me:hunter2@host/x"), "https://***@host/x");
        assert_eq!(shown("https://me:hunt/er2@host"), "https://***@host");
        assert_eq!(shown("me:a::hunter2@host"), "***@host");
        assert_eq!(shown("me:a/hunter2@host"), "***@host");
        assert_eq!(shown("me@home:a/hunter2@host/x"), "***@host/x");
        assert_eq!(shown("host:5000/x@sha256:00"), "host:5000/x@sha256:00");
        assert_eq!(shown("a\nb\u{1b}[0m"), "a\\nb\\u{1b}[0m");
        assert_eq!(shown(&"a".repeat(201)), format!("{}…", "a".repeat(200)));
    }
}
