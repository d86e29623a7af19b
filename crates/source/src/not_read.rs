//! Places that cannot be read.

use std::sync::Arc;

use async_trait::async_trait;
use tofu_oci_types::{Place, ProviderAddr, Version};

use crate::{Failure, Listing, Release, Source, SourceError};

/// A place that answers every question with an error: a kind of method that is not read yet, or a rule that gives no
/// repository.
#[derive(Clone, Debug)]
pub struct NotRead {
    place: Place,
    failure: Failure,
}

impl NotRead {
    /// A network mirror. Its protocol is not read yet.
    pub fn network_mirror(url: &str) -> Self {
        let failure = Failure::MethodNotRead("network mirrors are not read yet".to_owned());
        Self::failing(Place::NetworkMirror(url.to_owned()), failure)
    }

    /// A place that fails with this.
    pub fn failing(place: Place, failure: Failure) -> Self {
        Self { place, failure }
    }

    fn error(&self) -> SourceError {
        SourceError::Failed { place: self.place.clone(), failure: self.failure.clone() }
    }
}

#[async_trait]
impl Source for NotRead {
    fn place(&self) -> &Place {
        &self.place
    }

    async fn versions(&self, _: &ProviderAddr) -> Result<Listing, SourceError> {
        Err(self.error())
    }

    async fn release(&self, _: &ProviderAddr, _: &Version) -> Result<Arc<dyn Release>, SourceError> {
        Err(self.error())
    }
}
