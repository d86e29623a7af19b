//! Why the services of a host are unknown.

use tofu_oci_fault::Fault;
use tofu_oci_types::{Hostname, Place};

use crate::{Failure, SourceError};

/// Why a host's services are unknown, or one of them cannot be used.
#[derive(Clone, Debug, thiserror::Error, Fault)]
#[fault(of = failure)]
#[error("the services of {} are not usable", .host.display())]
pub struct DiscoveryError {
    pub host: Hostname,
    /// What happened; the text names the document.
    #[source]
    pub failure: Failure,
}

impl From<DiscoveryError> for SourceError {
    fn from(error: DiscoveryError) -> Self {
        Self::Failed { place: Place::from(&error.host), failure: error.failure }
    }
}
