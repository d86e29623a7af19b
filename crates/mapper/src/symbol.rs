//! The symbols of templates.

use tofu_oci_types::{Pattern, ProviderAddr};

/// A part of an address that a template can mention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Symbol {
    /// `${hostname}`, in comparison form and with its port.
    Hostname,
    /// `${namespace}`.
    Namespace,
    /// `${type}`.
    Type,
}

impl Symbol {
    /// Every symbol.
    pub const ALL: [Self; 3] = [Self::Hostname, Self::Namespace, Self::Type];

    /// The name inside `${}`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hostname => "hostname",
            Self::Namespace => "namespace",
            Self::Type => "type",
        }
    }

    /// Its value for a provider's address.
    pub fn of(self, address: &ProviderAddr) -> &str {
        match self {
            Self::Hostname => address.hostname().as_str(),
            Self::Namespace => address.namespace(),
            Self::Type => address.provider_type(),
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|symbol| symbol.name() == name)
    }

    /// Its value for the sample address.
    pub(crate) fn sample(self) -> &'static str {
        match self {
            Self::Hostname => "example.com",
            Self::Namespace => "example-namespace",
            Self::Type => "example-type",
        }
    }

    /// Its value in a pattern; `None` for a wildcard.
    pub fn literal(self, pattern: &Pattern) -> Option<&str> {
        match self {
            Self::Hostname => pattern.hostname().map(tofu_oci_types::Hostname::as_str),
            Self::Namespace => pattern.namespace(),
            Self::Type => pattern.provider_type(),
        }
    }
}

/// The sample address that checks a template.
///
/// Spec: `OpenTofu` 1.12, cliconfig, the sample symbols of `oci_mirror`.
pub(crate) const SAMPLE: &str = "example.com/example-namespace/example-type";
