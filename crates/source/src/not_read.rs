//! Places that are known and cannot be read.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use tofu_oci_store::ByteStream;
use tofu_oci_types::{PackageHash, Platform, ProviderAddr, Version, masked};

use crate::{Failure, Listing, Offer, Release, Source, SourceError};

/// A place that fails whatever it is asked: a kind of method that is not read yet, or a rule that gives no repository.
#[derive(Clone, Debug)]
pub struct NotRead {
    place: String,
    failure: Failure,
}

impl NotRead {
    /// A network mirror. Its protocol is not read yet.
    pub fn network_mirror(url: &str) -> Self {
        let failure = Failure::MethodNotRead("network mirrors are not read yet".to_owned());
        Self::failing(format!("the network mirror {}", masked(url)), failure)
    }

    /// A folder with packages. It is not read yet.
    pub fn filesystem_mirror(path: &std::path::Path) -> Self {
        let failure = Failure::MethodNotRead("folders with packages are not read yet".to_owned());
        Self::failing(format!("the folder {}", path.display()), failure)
    }

    /// A place that fails so.
    pub fn failing(place: impl Into<String>, failure: Failure) -> Self {
        Self { place: place.into(), failure }
    }

    fn error(&self) -> SourceError {
        SourceError::Failed { place: self.place.clone(), failure: self.failure.clone() }
    }
}

#[async_trait]
impl Source for NotRead {
    fn place(&self) -> String {
        self.place.clone()
    }

    async fn versions(&self, _: &ProviderAddr) -> Result<Listing, SourceError> {
        Err(self.error())
    }

    async fn platforms(&self, _: &ProviderAddr, _: &Version) -> Result<Vec<Platform>, SourceError> {
        Err(self.error())
    }

    async fn offer(&self, _: &ProviderAddr, _: &Version, _: &Platform) -> Result<Offer, SourceError> {
        Err(self.error())
    }

    async fn hashes(&self, _: &Offer) -> Result<BTreeMap<Platform, BTreeSet<PackageHash>>, SourceError> {
        Err(self.error())
    }

    async fn release(&self, _: &ProviderAddr, _: &Version) -> Result<Release, SourceError> {
        Err(self.error())
    }

    async fn open(&self, _: &Offer, _: usize) -> Result<ByteStream, SourceError> {
        Err(self.error())
    }
}
