//! Version constraints as `required_providers` writes them.

use std::fmt;
use std::str::FromStr;

use crate::Version;
use crate::serde_text::serde_as_text;

/// A list of constraints that a version must meet all of; empty admits every release.
///
/// `Display` is the canonical rendering of lock files.
///
/// Spec: apparentlymart/go-versions "ruby style multi" as `OpenTofu` 1.12 uses it.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Constraints(Vec<Version>);

/// A text that is no list of constraints.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{input}` is not a version constraint: {reason}")]
pub struct InvalidConstraints {
    input: String,
    reason: String,
}

impl Constraints {
    /// No constraint.
    pub fn any() -> Self {
        Self::default()
    }

    /// Exactly this version, build metadata included.
    pub fn exactly(version: Version) -> Self {
        Self(vec![version])
    }

    /// Whether there is no constraint at all.
    pub fn is_any(&self) -> bool {
        self.0.is_empty()
    }

    /// Both lists at once.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        Self(self.0.iter().chain(&other.0).cloned().collect())
    }

    /// Whether the version is admitted. A prerelease is admitted only when a term names it exactly.
    pub fn admits(&self, version: &Version) -> bool {
        self.0.iter().all(|wanted| wanted == version)
    }

    /// The version that `OpenTofu` would install: the newest admitted one, the last listed among equals.
    pub fn select<'a>(&self, versions: &'a [Version]) -> Option<&'a Version> {
        versions.iter().filter(|version| self.admits(version)).max_by(|a, b| a.precedence(b))
    }
}

impl FromStr for Constraints {
    type Err = InvalidConstraints;

    fn from_str(input: &str) -> Result<Self, InvalidConstraints> {
        if input.trim().is_empty() {
            return Ok(Self::any());
        }
        let version = input
            .parse()
            .map_err(|error| InvalidConstraints { input: input.to_owned(), reason: format!("{error}") })?;
        Ok(Self(vec![version]))
    }
}

impl fmt::Display for Constraints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, version) in self.0.iter().enumerate() {
            write!(f, "{}{version}", if position == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

impl fmt::Debug for Constraints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

serde_as_text!(Constraints);
