//! Tags: how a version is spelled as one (`_` for the `+` of its build metadata), and which is
//! canonical. References to manifests.

use std::fmt;
use std::str::FromStr;

use crate::text_value::text_value;
use crate::{Digest, Version};

/// A tag of a repository.
///
/// Spec: OCI distribution-spec 1.1.1, "Pulling manifests": `[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag(String);

/// What the tag of a withdrawn version begins with.
const WITHDRAWN: &str = "withdrawn-";

/// What the tag of the notice of a deprecated version begins with.
const DEPRECATED: &str = "deprecated-";

/// A text that is not a tag.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{input}` is not a tag: up to 128 letters, digits, `_`, `.` and `-`, the first not `.` or `-`")]
pub struct InvalidTag {
    input: String,
}

impl Tag {
    /// The tag of the record of what `mirror` has seen and brought.
    pub const FIRST_SEEN: &str = "first-seen";

    /// The whole text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The one tag that a version is published under: the canonical version with `+` written `_`.
    ///
    /// # Errors
    /// If the version's text is too long for a tag.
    pub fn for_version(version: &Version) -> Result<Self, InvalidTag> {
        version.to_string().replace('+', "_").parse()
    }

    /// The tag that keeps the content of a version after the version was withdrawn.
    ///
    /// # Errors
    /// If the version's text is too long for such a tag.
    pub fn withdrawn(version: &Version) -> Result<Self, InvalidTag> {
        format!("{WITHDRAWN}{}", Self::for_version(version)?).parse()
    }

    /// The tag of the notice that says that a version is deprecated.
    ///
    /// # Errors
    /// If the version's text is too long for such a tag.
    pub fn deprecated(version: &Version) -> Result<Self, InvalidTag> {
        format!("{DEPRECATED}{}", Self::for_version(version)?).parse()
    }

    /// Whether it replaces the referrers API for a manifest, by its name: `ALGORITHM-ENCODED`.
    pub fn lists_referrers(&self) -> bool {
        self.0.starts_with("sha256-") || self.0.starts_with("sha512-")
    }

    /// Whether this project writes it beside the versions: for referrers, a withdrawn or deprecated version, or what `mirror`
    /// has seen.
    pub fn is_beside(&self) -> bool {
        self.lists_referrers()
            || self.0 == Self::FIRST_SEEN
            || self.withdrawn_version().is_some()
            || self.deprecated_version().is_some()
    }

    /// The version that this tag says is withdrawn; `None` if it is not exactly [`Tag::withdrawn`] of a version.
    pub fn withdrawn_version(&self) -> Option<Version> {
        self.version_after(WITHDRAWN)
    }

    /// The version that this tag says is deprecated; `None` if it is not exactly [`Tag::deprecated`] of a version.
    pub fn deprecated_version(&self) -> Option<Version> {
        self.version_after(DEPRECATED)
    }

    fn version_after(&self, prefix: &str) -> Option<Version> {
        let rest: Self = self.0.strip_prefix(prefix)?.parse().ok()?;
        rest.canonical_version()
    }

    /// The version whose one tag this is, as [`Tag::for_version`] says; `None` for any other tag.
    pub fn canonical_version(&self) -> Option<Version> {
        self.version().filter(|version| Self::for_version(version).is_ok_and(|own| own == *self))
    }

    /// The version that `OpenTofu` reads this tag as; `None` if it ignores the tag.
    ///
    /// As lenient as the original: `1.0` reads as 1.0.0, although `OpenTofu` then asks for the tag `1.0.0`. A canonical
    /// tag equals [`Tag::for_version`].
    ///
    /// Spec: `OpenTofu` 1.12, getproviders, OCI mirror source.
    pub fn version(&self) -> Option<Version> {
        self.0.replace('_', "+").parse().ok()
    }
}

impl FromStr for Tag {
    type Err = InvalidTag;

    fn from_str(input: &str) -> Result<Self, InvalidTag> {
        let first = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let rest = |byte: u8| first(byte) || byte == b'.' || byte == b'-';
        let bytes = input.as_bytes();
        let valid = (1..=128).contains(&bytes.len()) && first(bytes[0]) && bytes.iter().copied().all(rest);
        if valid { Ok(Self(input.to_owned())) } else { Err(InvalidTag { input: input.to_owned() }) }
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

text_value!(Tag);

/// A reference to a manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reference {
    /// The manifest that the tag points at now.
    Tag(Tag),
    /// The manifest with this digest.
    Digest(Digest),
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tag(tag) => tag.fmt(f),
            Self::Digest(digest) => digest.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_what_could_reach_a_path() {
        let long = "a".repeat(129);
        for input in ["", ".", "..", "-a", ".a", "a/b", "a\\b", "a b", "a+b", "a:b", "ä", "a%2f", long.as_str()] {
            assert!(input.parse::<Tag>().is_err(), "{input:?}");
        }
        assert!("a".repeat(128).parse::<Tag>().is_ok());
    }

    #[test]
    fn tags_of_notices_name_a_version_and_are_none_themselves() {
        let version: Version = "1.2.0-rc.1+b.2".parse().expect("a version");
        let (withdrawn, deprecated) = (Tag::withdrawn(&version).unwrap(), Tag::deprecated(&version).unwrap());
        assert_eq!(withdrawn.as_str(), "withdrawn-1.2.0-rc.1_b.2");
        assert_eq!(deprecated.as_str(), "deprecated-1.2.0-rc.1_b.2");
        assert_eq!((withdrawn.withdrawn_version(), withdrawn.deprecated_version()), (Some(version.clone()), None));
        assert_eq!((deprecated.deprecated_version(), deprecated.withdrawn_version()), (Some(version), None));
        assert_eq!((withdrawn.version(), deprecated.version()), (None, None));
        for text in ["withdrawn-1.0", "withdrawn-v1.0.0", "withdrawn-", "withdrawn-latest", "Withdrawn-1.0.0"] {
            assert_eq!(text.parse::<Tag>().unwrap().withdrawn_version(), None, "{text}");
        }
        let long: Version = format!("1.0.0-{}", "a".repeat(115)).parse().expect("a version");
        assert!(Tag::for_version(&long).is_ok() && Tag::withdrawn(&long).is_err() && Tag::deprecated(&long).is_err());
    }

    #[test]
    fn a_version_too_long_for_a_tag_is_an_error() {
        let version: Version = format!("1.0.0-{}", "a".repeat(130)).parse().expect("a version");
        assert!(Tag::for_version(&version).is_err());
    }
}
