//! What the host of an address offers itself.
//!
//! ```text
//! the hostname ends in the magic suffix        the repository, without a request; it must not be private
//! the host publishes oci-providers.v1          the repository that its template gives, whatever else it publishes
//! the host publishes only providers.v1         an error: that protocol is not read yet
//! the host publishes neither, or no document   an error: it has no providers
//! ```

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use tofu_oci_mapper::{MagicSuffix, OciPlace};
use tofu_oci_store::{ReadStore, StoreError};
use tofu_oci_types::{Hostname, Place, ProviderAddr, RepositoryRef, Version};

use crate::{Discover, Failure, Listing, NotOffered, OciSource, Release, Source, SourceError};

/// Opens a repository of a registry.
pub type OpenRepository = Arc<dyn Fn(&RepositoryRef) -> Result<Arc<dyn ReadStore>, StoreError> + Send + Sync>;

/// The host of an address as a source: `direct`.
pub struct DirectSource {
    host: Hostname,
    place: Place,
    magic: MagicSuffix,
    discovery: Arc<dyn Discover>,
    open: OpenRepository,
    /// Repositories that are open.
    sources: Mutex<HashMap<RepositoryRef, Arc<OciSource>>>,
}

impl DirectSource {
    /// The host as a source, for addresses of this host. Nothing is asked yet.
    pub fn new(host: Hostname, magic: MagicSuffix, discovery: Arc<dyn Discover>, open: OpenRepository) -> Self {
        Self { place: Place::from(&host), host, magic, discovery, open, sources: Mutex::default() }
    }

    /// The repository of an address, and the rule that leads there.
    ///
    /// # Errors
    /// [`SourceError::Failed`] if the host publishes no usable service, or the address has no repository.
    pub async fn repository(&self, address: &ProviderAddr) -> Result<OciPlace, SourceError> {
        let failed = |failure| SourceError::Failed { place: self.place.clone(), failure };
        if let Some(place) = self.magic.place(address).map_err(|error| failed(error.into()))? {
            self.discovery.admit_named(&self.host, &place.repository)?;
            return Ok(place);
        }
        let services = self.discovery.services(&self.host).await?;
        let origin = services.origin();
        match services.oci_providers()? {
            Some(template) => {
                let place = template.repository(address).map_err(|error| failed(error.into()))?;
                self.discovery.admit(&services, &place.repository)?;
                Ok(place)
            }
            None if services.has_registry_protocol() => Err(failed(Failure::RegistryProtocolNotRead(format!(
                "{origin} names providers.v1 and no oci-providers.v1, and the provider registry protocol is not read yet"
            )))),
            None => Err(failed(Failure::NoProviderService(format!("{origin} names no service for providers")))),
        }
    }

    async fn source(&self, address: &ProviderAddr) -> Result<Arc<OciSource>, SourceError> {
        let repository = self.repository(address).await?.repository;
        let mut sources = self.sources.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(source) = sources.get(&repository) {
            return Ok(Arc::clone(source));
        }
        let source = Arc::new(OciSource::new((self.open)(&repository)?));
        sources.insert(repository, Arc::clone(&source));
        Ok(source)
    }
}

/// The repository that a host names is the host's registry: a provider that it does not know is unknown.
fn of_registry(error: SourceError) -> SourceError {
    match error {
        SourceError::NotOffered { address, place, what: NotOffered::UnknownProvider } => {
            SourceError::NotOffered { address, place, what: NotOffered::UnknownToRegistry }
        }
        other => other,
    }
}

#[async_trait]
impl Source for DirectSource {
    fn place(&self) -> &Place {
        &self.place
    }

    async fn versions(&self, address: &ProviderAddr) -> Result<Listing, SourceError> {
        self.source(address).await?.versions(address).await.map_err(of_registry)
    }

    async fn release(&self, address: &ProviderAddr, version: &Version) -> Result<Arc<dyn Release>, SourceError> {
        self.source(address).await?.release(address, version).await.map_err(of_registry)
    }
}

#[cfg(test)]
mod tests;
