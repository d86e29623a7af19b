//! The provider registry protocol: what the host of an address publishes as `providers.v1`.
//!
//! ```text
//! versions   BASE/NS/TYPE/versions                      -> Listing                      asked once for each provider
//! release    BASE/NS/TYPE/VERSION/download/OS/ARCH      -> SHA256SUMS, its signature    verified by the keys of the document
//! offer      the document of that platform              -> Offer { Zip, signed, .. }    before any byte of the package
//! ```
//!
//! The signature proves that the owner of a key which the registry names has published the packages. Whether the user
//! trusts that key is another question, which a trust policy answers: [`Release::evidence`] has what it needs.
//!
//! Spec: seed 000, "Provider Registry Protocol"; `opentofu-behaviour.md` §8.4 and §8.5.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use tofu_oci_http::shown_url;
use tofu_oci_types::{Hostname, Place, ProviderAddr, Version, printable};
use url::Url;

pub(crate) use self::origin::Origin;
pub use self::origin::RegistryAccess;
use self::release::VersionFacts;
pub use self::signature_demands::{Keyless, SignatureDemands};
use self::version_list::VersionList;
pub(crate) use self::version_list::{MOST_PLATFORMS, MOST_VERSIONS};
use crate::memory::{SharedCell, lock, slot};
use crate::{Failure, Listing, NotOffered, Release, Source, SourceError};

mod download_document;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
pub(crate) mod members;
mod origin;
mod registry_sums;
mod release;
mod signature_demands;
mod version_list;

/// Most characters of a registry's warning that are shown.
const WARNING: usize = 1000;

/// Most warnings of a list that are shown.
const WARNINGS: usize = 10;

/// The registry that a host publishes as `providers.v1`.
pub struct RegistrySource {
    origin: Arc<Origin>,
    /// What it lists; `None` if it does not know the provider.
    lists: Mutex<HashMap<ProviderAddr, SharedCell<Option<Arc<VersionList>>>>>,
}

impl RegistrySource {
    /// The registry of a host, at this address. Nothing is asked yet.
    pub fn new(host: Hostname, base: Url, access: RegistryAccess) -> Self {
        Self { origin: Arc::new(Origin::new(host, base, access)), lists: Mutex::default() }
    }

    async fn list(&self, address: &ProviderAddr) -> Result<Option<Arc<VersionList>>, SourceError> {
        let once = slot(&mut lock(&self.lists), address.clone());
        once.get_or_try_init(|| self.ask_for_list(address)).await.cloned()
    }

    async fn ask_for_list(&self, address: &ProviderAddr) -> Result<Option<Arc<VersionList>>, SourceError> {
        let path = format!("{}/{}/versions", address.namespace(), address.provider_type());
        let Some(answer) = self.origin.document(&path).await? else { return Ok(None) };
        let list = VersionList::parse(answer.body()).map_err(|problem| {
            self.origin.failed(Failure::BadBody(format!("{}: {}", shown_url(answer.url()), printable(&problem))))
        })?;
        for warning in list.warnings.iter().take(WARNINGS) {
            let shown: String = warning.chars().take(WARNING).collect();
            self.origin
                .warn("registry-warning", format!("{} says of {address}: {}", self.origin.place, printable(&shown)));
        }
        Ok(Some(Arc::new(list)))
    }

    fn not_offered(&self, address: &ProviderAddr, what: NotOffered) -> SourceError {
        SourceError::NotOffered { address: address.clone(), place: self.origin.place.clone(), what }
    }
}

#[async_trait]
impl Source for RegistrySource {
    fn place(&self) -> &Place {
        &self.origin.place
    }

    async fn versions(&self, address: &ProviderAddr) -> Result<Listing, SourceError> {
        match self.list(address).await? {
            Some(list) => {
                Ok(Listing { versions: list.versions(), warnings: list.warnings.clone(), ..Listing::default() })
            }
            None => Err(self.not_offered(address, NotOffered::UnknownToRegistry)),
        }
    }

    /// A registry without a list may have the version all the same, as for `OpenTofu`.
    ///
    /// Spec: `real-tofu-sources.md` §4 (measured): versions 404, and the package is installed.
    async fn release(&self, address: &ProviderAddr, version: &Version) -> Result<Arc<dyn Release>, SourceError> {
        let list = self.list(address).await?;
        if let Some(list) = list.as_ref().filter(|list| list.get(version).is_none()) {
            let (version, offered) = (version.clone(), list.versions());
            return Err(self.not_offered(address, NotOffered::VersionMissing { version, offered }));
        }
        let is_known = list.is_some();
        let facts = VersionFacts::new(Arc::clone(&self.origin), address.clone(), version.clone(), list);
        match Arc::new(facts).release().await {
            Err(SourceError::NotOffered { .. }) if !is_known => {
                Err(self.not_offered(address, NotOffered::UnknownToRegistry))
            }
            answer => answer,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
