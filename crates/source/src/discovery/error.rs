//! Why the services of a host are unknown.

use tofu_oci_types::{Hostname, Place};

use crate::{Failure, SourceError};

/// Why a host's services are unknown, or one of them cannot be used.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the services of {} are not usable", .host.display())]
pub struct DiscoveryError {
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
