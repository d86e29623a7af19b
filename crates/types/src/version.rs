//! Provider versions.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use crate::serde_text::serde_as_text;

/// An exact version, `MAJOR.MINOR.PATCH[-PRERELEASE][+METADATA]`.
///
/// Equality looks at metadata; [`Version::precedence`] does not. `Display` is canonical.
///
/// Spec: apparentlymart/go-versions as `OpenTofu` 1.12 uses it; not semver in two points, see [`Version::precedence`].
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Version {
    major: u64,
    minor: u64,
    patch: u64,
    prerelease: String,
    metadata: String,
}

/// A text that is no exact version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{input}` is not a version: {reason}")]
pub struct InvalidVersion {
    input: String,
    reason: &'static str,
}

impl Version {
    /// The text after `-`, empty for a release.
    pub fn prerelease(&self) -> &str {
        &self.prerelease
    }

    /// The text after `+`, empty where there is none.
    pub fn metadata(&self) -> &str {
        &self.metadata
    }

    /// Whether this is a release candidate or the like.
    pub fn is_prerelease(&self) -> bool {
        !self.prerelease.is_empty()
    }

    /// The order in which versions are chosen; metadata plays no part.
    pub fn precedence(&self, other: &Self) -> Ordering {
        (self.major, self.minor, self.patch)
            .cmp(&(other.major, other.minor, other.patch))
            .then_with(|| other.is_prerelease().cmp(&self.is_prerelease()))
            .then_with(|| self.prerelease.cmp(&other.prerelease))
    }
}

impl FromStr for Version {
    type Err = InvalidVersion;

    fn from_str(input: &str) -> Result<Self, InvalidVersion> {
        let invalid = |reason| InvalidVersion { input: input.to_owned(), reason };
        let (rest, metadata) = input.split_once('+').unwrap_or((input, ""));
        let (numbers, prerelease) = rest.split_once('-').unwrap_or((rest, ""));
        let mut parts = [0; 3];
        let texts: Vec<&str> = numbers.split('.').collect();
        if texts.len() > 3 {
            return Err(invalid("it has more than three numbers"));
        }
        for (part, text) in parts.iter_mut().zip(texts) {
            *part = text.parse().map_err(|_| invalid("it must read MAJOR.MINOR.PATCH"))?;
        }
        let [major, minor, patch] = parts;
        Ok(Self { major, minor, patch, prerelease: prerelease.to_owned(), metadata: metadata.to_owned() })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)?;
        if !self.prerelease.is_empty() {
            write!(f, "-{}", self.prerelease)?;
        }
        if !self.metadata.is_empty() {
            write!(f, "+{}", self.metadata)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

serde_as_text!(Version);
