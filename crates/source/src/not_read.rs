//! Places that cannot be read.

use std::sync::Arc;

use async_trait::async_trait;
use tofu_oci_types::{Place, ProviderAddr, Version};

use crate::{Failure, Listing, Release, Source, SourceError};

/// A place that answers every question with an error: no rule gives it, or its address cannot be used.
#[derive(Clone, Debug)]
pub struct NotRead {
    place: Place,
    failure: Failure,
}

impl NotRead {
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
