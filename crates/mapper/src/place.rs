//! Where to look, and why there.

use std::fmt;

use serde::Serialize;
use tofu_oci_types::RepositoryRef;

/// A place to look for a provider in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Place {
    /// A repository of an OCI registry.
    Oci(OciPlace),
}

/// A repository, and the rule that led there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OciPlace {
    /// The repository.
    pub repository: RepositoryRef,
    /// Why this one.
    pub rule: Rule,
}

/// Why a place was chosen. `Display` is a noun phrase for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Rule {
    /// The hostname ends in the magic suffix.
    MagicSuffix {
        /// The suffix without its leading dot.
        suffix: String,
    },
    /// A repository template that the user gave.
    OciMirror {
        /// The template as it was written.
        template: String,
    },
}

impl Place {
    /// The repository behind the place.
    pub(crate) fn target(&self) -> &RepositoryRef {
        match self {
            Self::Oci(place) => &place.repository,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Oci(place) => write!(f, "oci {}", place.repository),
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MagicSuffix { suffix } => write!(f, "the hostname suffix .{suffix}"),
            Self::OciMirror { template } => write!(f, "the repository template `{template}`"),
        }
    }
}
