//! Hostnames of provider registries.

use std::fmt;
use std::str::FromStr;

use crate::serde_text::serde_as_text;

/// A host, with its port unless that is 443, kept in comparison form (lower case, punycode).
///
/// `Display` gives the comparison form; [`Hostname::display`] the one for people and folders (Unicode).
///
/// Spec: opentofu/svchost; `OpenTofu` 1.12.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hostname(String);

/// A text that is no hostname.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{input}` is not a hostname: {reason}")]
pub struct InvalidHostname {
    input: String,
    reason: &'static str,
}

impl Hostname {
    /// `registry.opentofu.org`, which an address without a host belongs to.
    pub fn default_registry() -> Self {
        Self("registry.opentofu.org".to_owned())
    }

    /// The comparison form: punycode, with `:PORT` unless 443.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The form for people, lock files and folders: Unicode.
    pub fn display(&self) -> String {
        self.0.clone()
    }
}

impl FromStr for Hostname {
    type Err = InvalidHostname;

    fn from_str(input: &str) -> Result<Self, InvalidHostname> {
        if input.is_empty() {
            return Err(InvalidHostname { input: input.to_owned(), reason: "it is empty" });
        }
        Ok(Self(input.to_ascii_lowercase()))
    }
}

impl fmt::Display for Hostname {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Hostname {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

serde_as_text!(Hostname);
