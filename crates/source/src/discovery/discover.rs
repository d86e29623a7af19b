//! Which services a host offers, as a question.

use async_trait::async_trait;
use tofu_oci_types::{Hostname, RepositoryRef};

use super::error::DiscoveryError;
use super::services::Services;

/// Finds out which services a host offers.
#[async_trait]
pub trait Discover: Send + Sync {
    /// The host's services; a host that has no document offers none.
    async fn services(&self, host: &Hostname) -> Result<Services, DiscoveryError>;

    /// Admits that a host's services lead to a registry, `HOST[:PORT]`.
    ///
    /// # Errors
    /// [`Failure::PrivateHost`](crate::Failure::PrivateHost) if the host must not lead there.
    fn admit(&self, services: &Services, registry: &str) -> Result<(), DiscoveryError>;

    /// Admits that the name of a host leads to a repository by itself. Any author of a module may have written the
    /// address.
    ///
    /// # Errors
    /// [`Failure::PrivateHost`](crate::Failure::PrivateHost) if the repository is on this machine or its link.
    fn admit_named(&self, host: &Hostname, repository: &RepositoryRef) -> Result<(), DiscoveryError>;
}
