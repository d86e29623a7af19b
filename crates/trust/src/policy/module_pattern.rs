//! Patterns of repositories with modules: `ghcr.io/acme/*`.

use std::str::FromStr;

use tofu_oci_types::{Place, RepositoryRef};

/// A pattern of the repositories that modules come from.
///
/// ```text
/// ghcr.io/acme/network   this repository
/// ghcr.io/acme/*         every repository below it
/// ghcr.io/*              every repository of the registry
/// *                      every module, wherever it comes from
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ModulePlacePattern {
    All,
    /// The repository `_` below the pattern, in the one spelling of its registry.
    Below(RepositoryRef),
    One(Place),
}

/// A text that is not a pattern of repositories.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{input}` is not a pattern of repositories with modules: {reason}")]
pub struct InvalidModulePlacePattern {
    input: String,
    reason: String,
}

/// A name that no text of a user can be.
const ANY: &str = "x";

impl ModulePlacePattern {
    /// Whether a module from there is meant.
    pub(super) fn matches(&self, place: &Place) -> bool {
        match self {
            Self::All => true,
            Self::One(one) => one == place,
            Self::Below(any) => match place.canonical() {
                Place::Registry(repository) => {
                    let prefix = any.name().strip_suffix(ANY).unwrap_or_default();
                    repository.registry() == any.registry()
                        && repository.name().strip_prefix(prefix).is_some_and(|rest| !rest.is_empty())
                }
                _ => false,
            },
        }
    }
}

impl FromStr for ModulePlacePattern {
    type Err = InvalidModulePlacePattern;

    fn from_str(input: &str) -> Result<Self, InvalidModulePlacePattern> {
        if input == "*" {
            return Ok(Self::All);
        }
        let invalid = |reason: &str| InvalidModulePlacePattern { input: input.to_owned(), reason: reason.to_owned() };
        let prefix = input.strip_suffix("/*");
        if prefix.unwrap_or(input).contains('*') {
            return Err(invalid("* replaces all that follows the last slash"));
        }
        let text =
            input.strip_prefix("oci://").map_or_else(|| Ok(input), |_| Err(invalid("it is written without oci://")))?;
        let repository: RepositoryRef = match prefix {
            Some(prefix) => format!("{prefix}/{ANY}").parse(),
            None => text.parse(),
        }
        .map_err(|error: tofu_oci_types::InvalidRepositoryRef| invalid(error.reason()))?;
        Ok(match Place::Registry(repository).canonical() {
            Place::Registry(any) if prefix.is_some() => Self::Below(any),
            one => Self::One(one),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, place: &str, want: bool) {
        let pattern: ModulePlacePattern = pattern.parse().unwrap();
        assert_eq!(pattern.matches(&place.parse().unwrap()), want, "{place}");
    }

    #[test]
    fn a_star_is_all_that_follows() {
        check("ghcr.io/acme/network", "ghcr.io/acme/network", true);
        check("ghcr.io/acme/network", "ghcr.io/acme/network/aws", false);
        check("ghcr.io/acme/*", "ghcr.io/acme/network", true);
        check("ghcr.io/acme/*", "ghcr.io/acme/network/aws", true);
        check("ghcr.io/acme/*", "ghcr.io/acmex/network", false);
        check("ghcr.io/acme/*", "ghcr.io/acme", false);
        check("ghcr.io/*", "ghcr.io/acme", true);
        check("ghcr.io/*", "ghcr.io:5000/acme", false);
        check("*", "ghcr.io/acme", true);
        check("*", "oci:dir", true);
        check("ghcr.io/*", "oci:dir", false);
    }

    #[test]
    fn a_registry_has_one_spelling() {
        check("localhost:5000/acme/*", "127.0.0.1:5000/acme/network", true);
        check("registry-1.docker.io/acme/*", "docker.io/acme/network", true);
    }

    #[test]
    fn what_is_no_pattern_says_what_to_write() {
        let refused = |text: &str| text.parse::<ModulePlacePattern>().expect_err("no pattern").to_string();
        insta::assert_snapshot!(refused("ghcr.io/a*"), @"`ghcr.io/a*` is not a pattern of repositories with modules: * replaces all that follows the last slash");
        insta::assert_snapshot!(refused("*/*/*"), @"`*/*/*` is not a pattern of repositories with modules: * replaces all that follows the last slash");
        insta::assert_snapshot!(refused("oci://ghcr.io/acme/*"), @"`oci://ghcr.io/acme/*` is not a pattern of repositories with modules: it is written without oci://");
        assert!("".parse::<ModulePlacePattern>().is_err() && "acme".parse::<ModulePlacePattern>().is_err());
    }
}
