//! Where to look, and why there.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;
use tofu_oci_types::{Hostname, RepositoryRef};

/// A place to look for a provider in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Place {
    /// A repository of an OCI registry.
    Oci(OciPlace),
    /// Whatever the services of a host say.
    Direct {
        /// The host of the provider's address.
        host: Hostname,
    },
    /// A server of the network mirror protocol.
    NetworkMirror {
        /// Its address as it was written.
        url: String,
    },
    /// A folder.
    Filesystem {
        /// The folder.
        path: PathBuf,
    },
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
    /// A template that the address's host publishes as its service `oci-providers.v1`.
    OciProviders {
        /// The host.
        host: Hostname,
        /// The template as it was published.
        template: String,
    },
}

/// The address of a network mirror as it is shown: without user info, query and fragment.
pub fn without_secrets(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    format!("{scheme}://{host}{path}")
}

impl Place {
    /// The repository behind the place, where it is one.
    pub fn repository(&self) -> Option<&RepositoryRef> {
        match self {
            Self::Oci(place) => Some(&place.repository),
            Self::Direct { .. } | Self::NetworkMirror { .. } | Self::Filesystem { .. } => None,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Oci(place) => write!(f, "oci {}", place.repository),
            Self::Direct { host } => write!(f, "the registry {}", host.display()),
            Self::NetworkMirror { url } => write!(f, "the network mirror {}", without_secrets(url)),
            Self::Filesystem { path } => write!(f, "the folder {}", path.display()),
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MagicSuffix { suffix } => write!(f, "the hostname suffix .{suffix}"),
            Self::OciMirror { template } => write!(f, "the repository template `{template}`"),
            Self::OciProviders { host, template } => {
                write!(f, "the URI template `{template}` of {}", host.display())
            }
        }
    }
}
