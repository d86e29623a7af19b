//! Places to look in, and the reasons.

use std::fmt;
use std::path::PathBuf;

use tofu_oci_types::{Hostname, RepositoryRef, masked};

/// A place to look for a provider in.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MappedPlace {
    /// A repository of an OCI registry.
    Oci(OciPlace),
    /// A host, whose services name the place.
    Direct {
        /// The host of the provider's address.
        host: Hostname,
    },
    /// A server of the network mirror protocol.
    NetworkMirror {
        /// Its address as it was written, secrets included; `Display` and [`MappedPlace::address`] mask them.
        url: String,
    },
    Filesystem {
        path: PathBuf,
    },
}

/// A repository, and the rule that chose it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OciPlace {
    pub repository: RepositoryRef,
    pub rule: PlaceRule,
}

/// Why a place was chosen. `Display` is a noun phrase for people.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlaceRule {
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
        host: Hostname,
        /// The template as it was published.
        template: String,
    },
}

impl MappedPlace {
    /// The repository after the place, if it is one.
    pub fn repository(&self) -> Option<&RepositoryRef> {
        match self {
            Self::Oci(place) => Some(&place.repository),
            Self::Direct { .. } | Self::NetworkMirror { .. } | Self::Filesystem { .. } => None,
        }
    }

    /// Its address for people: the repository, the host, the mirror's address without its secrets, the folder.
    pub fn address(&self) -> String {
        match self {
            Self::Oci(place) => place.repository.to_string(),
            Self::Direct { host } => host.display(),
            Self::NetworkMirror { url } => masked(url),
            Self::Filesystem { path } => path.display().to_string(),
        }
    }
}

impl fmt::Display for MappedPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let address = self.address();
        match self {
            Self::Oci(_) => write!(f, "oci {address}"),
            Self::Direct { .. } => write!(f, "the registry {address}"),
            Self::NetworkMirror { .. } => write!(f, "the network mirror {address}"),
            Self::Filesystem { .. } => write!(f, "the folder {address}"),
        }
    }
}

impl fmt::Display for PlaceRule {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_password_of_a_network_mirror_is_not_shown() {
        let url = "https://ada:hunter2@mirror.example.test/p/?sig=hunter2".to_owned();
        let place = MappedPlace::NetworkMirror { url };
        assert_eq!(place.address(), "https://***@mirror.example.test/p/?sig=***");
        assert_eq!(place.to_string(), "the network mirror https://***@mirror.example.test/p/?sig=***");
    }
}
