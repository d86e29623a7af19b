//! What the host of an address offers itself.
//!
//! ```text
//! the hostname ends in the magic suffix        the repository, without a request; it must not be private
//! the host publishes oci-providers.v1          the repository that its template gives, whatever else it publishes
//! the host publishes only providers.v1         its registry
//! the host publishes neither, or no document   an error: it has no providers
//! ```
//!
//! A host that publishes both services says twice where the same packages are. `oci-providers.v1` is taken, because a
//! publisher can sign the digests that name its packages; released `OpenTofu` knows only `providers.v1`. If the checksums
//! differ, the lock file refuses one of them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use tofu_oci_http::host_of;
use tofu_oci_mapper::{MagicSuffix, OciPlace};
use tofu_oci_store::{ReadStore, StoreError};
use tofu_oci_trust::Evidence;
use tofu_oci_types::{Hostname, Place, ProviderAddr, RepositoryRef, Version};
use url::Url;

use crate::{
    Discover, Failure, Listing, NotOffered, OciSource, RegistryAccess, RegistrySource, Release, Source, SourceError,
};

/// Opens a repository of a registry.
pub type OpenRepository = Arc<dyn Fn(&RepositoryRef) -> Result<Arc<dyn ReadStore>, StoreError> + Send + Sync>;

/// The host of an address as a source: `direct`.
pub struct DirectSource {
    host: Hostname,
    place: Place,
    magic: MagicSuffix,
    discovery: Arc<dyn Discover>,
    open: OpenRepository,
    access: RegistryAccess,
    /// Repositories and registries that are open.
    sources: Mutex<Vec<(HostedPlace, Arc<dyn Source>)>>,
    /// So many requests will be made at once.
    prepared: AtomicUsize,
}

/// Where a host keeps the releases of a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostedPlace {
    Repository(OciPlace),
    /// In its registry, at this address.
    Registry(Url),
}

impl DirectSource {
    /// The host as a source, for addresses of this host. Nothing is asked yet.
    pub fn new(
        host: Hostname,
        magic: MagicSuffix,
        discovery: Arc<dyn Discover>,
        open: OpenRepository,
        access: RegistryAccess,
    ) -> Self {
        let (place, sources, prepared) = (Place::from(&host), Mutex::default(), AtomicUsize::new(0));
        Self { host, place, magic, discovery, open, access, sources, prepared }
    }

    /// Where the host keeps the releases of an address.
    ///
    /// # Errors
    /// [`SourceError::Failed`] if the host publishes no usable service, or the address has no repository.
    pub async fn hosted(&self, address: &ProviderAddr) -> Result<HostedPlace, SourceError> {
        let failed = |failure| SourceError::Failed { place: self.place.clone(), failure };
        if let Some(place) = self.magic.place(address).map_err(|error| failed(error.into()))? {
            self.discovery.admit_named(&self.host, &place.repository)?;
            return Ok(HostedPlace::Repository(place));
        }
        let services = self.discovery.services(&self.host).await?;
        if let Some(template) = services.oci_providers()? {
            let place = template.repository(address).map_err(|error| failed(error.into()))?;
            self.discovery.admit(&services, place.repository.registry())?;
            return Ok(HostedPlace::Repository(place));
        }
        if let Some(base) = services.registry()? {
            self.discovery.admit(&services, &host_of(&base))?;
            return Ok(HostedPlace::Registry(base));
        }
        let origin = services.origin();
        Err(failed(Failure::NoProviderService(match services.registry_versions().as_slice() {
            [] => format!("{origin} names no service for providers"),
            others => format!("{origin} names {}, and providers.v1 is the version that is read", others.join(", ")),
        })))
    }

    async fn source(&self, address: &ProviderAddr) -> Result<Arc<dyn Source>, SourceError> {
        let hosted = self.hosted(address).await?;
        let mut sources = self.sources.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, source)) = sources.iter().find(|(known, _)| *known == hosted) {
            return Ok(Arc::clone(source));
        }
        let source: Arc<dyn Source> = match &hosted {
            HostedPlace::Repository(place) => Arc::new(OciSource::new((self.open)(&place.repository)?)),
            HostedPlace::Registry(base) => {
                Arc::new(RegistrySource::new(self.host.clone(), base.clone(), self.access.clone()))
            }
        };
        source.prepare(self.prepared.swap(0, Ordering::Relaxed));
        sources.push((hosted, Arc::clone(&source)));
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

    /// Where that will be, the host says first.
    fn prepare(&self, requests: usize) {
        self.prepared.store(requests, Ordering::Relaxed);
    }

    async fn versions(&self, address: &ProviderAddr) -> Result<Listing, SourceError> {
        self.source(address).await?.versions(address).await.map_err(of_registry)
    }

    async fn release(&self, address: &ProviderAddr, version: &Version) -> Result<Arc<dyn Release>, SourceError> {
        self.source(address).await?.release(address, version).await.map_err(of_registry)
    }

    async fn withdrawal_notices(
        &self,
        address: &ProviderAddr,
        version: &Version,
    ) -> Result<Vec<Evidence>, SourceError> {
        self.source(address).await?.withdrawal_notices(address, version).await
    }
}

#[cfg(test)]
mod tests;
