//! Which services a host offers: `https://HOST/.well-known/terraform.json`.
//!
//! ```text
//! ask --host block--> Services                                   no request
//!     --known-------> Services                                   once for each host in a process
//!     --asked now---> the same answer as the one who asks        failures are not kept
//!     --------------> GET, redirects, status, media type, size, JSON object
//! ```

mod http;
mod services;

use async_trait::async_trait;
use tofu_oci_types::{Hostname, Place, RepositoryRef};

pub use self::http::{DiscoveryOptions, HttpDiscovery, TokenOf};
pub use self::services::Services;
use crate::{Failure, SourceError};

/// Finds out which services a host offers.
#[async_trait]
pub trait Discover: Send + Sync {
    /// The host's services; a host that has no document offers none.
    async fn services(&self, host: &Hostname) -> Result<Services, DiscoveryError>;

    /// Takes note that a host's services lead to a repository.
    ///
    /// # Errors
    /// [`Failure::PrivateHost`] when the host must not lead there.
    fn admit(&self, services: &Services, repository: &RepositoryRef) -> Result<(), DiscoveryError>;

    /// Takes note that the name of a host leads to a repository by itself: the author of a module, whoever that is, may
    /// have written the address.
    ///
    /// # Errors
    /// [`Failure::PrivateHost`] if the repository is on this machine or its link.
    fn admit_named(&self, host: &Hostname, repository: &RepositoryRef) -> Result<(), DiscoveryError>;
}

/// Why a host's services are not known, or one of them cannot be used.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the services of {} are not usable", .host.display())]
pub struct DiscoveryError {
    /// The host.
    pub host: Hostname,
    /// What happened; the text names the document.
    #[source]
    pub failure: Failure,
}

impl DiscoveryError {
    /// A stable kebab-case name of what went wrong.
    pub fn code(&self) -> &'static str {
        self.failure.code()
    }
}

impl From<DiscoveryError> for SourceError {
    fn from(error: DiscoveryError) -> Self {
        Self::Failed { place: Place::from(&error.host), failure: error.failure }
    }
}
