//! A repository as a source.

use std::sync::Arc;

use tofu_oci_store::ReadStore;

/// One repository that holds one provider's releases.
pub struct OciSource {
    store: Arc<dyn ReadStore>,
}

impl OciSource {
    /// The repository as a source.
    pub fn new(store: Arc<dyn ReadStore>) -> Self {
        Self { store }
    }
}

#[async_trait::async_trait]
impl crate::Source for OciSource {
    fn place(&self) -> String {
        self.store.place()
    }

    async fn versions(&self, address: &tofu_oci_types::ProviderAddr) -> Result<crate::Listing, crate::SourceError> {
        let _ = address;
        Ok(crate::Listing::of(&self.store.tags().await?))
    }

    async fn platforms(
        &self,
        _address: &tofu_oci_types::ProviderAddr,
        _version: &tofu_oci_types::Version,
    ) -> Result<Vec<tofu_oci_types::Platform>, crate::SourceError> {
        Ok(Vec::new())
    }

    async fn offer(
        &self,
        address: &tofu_oci_types::ProviderAddr,
        _version: &tofu_oci_types::Version,
        _platform: &tofu_oci_types::Platform,
    ) -> Result<crate::Offer, crate::SourceError> {
        Err(crate::SourceError::NotOffered {
            address: address.clone(),
            place: self.store.place(),
            what: crate::NotOffered::UnknownProvider,
        })
    }

    async fn open(&self, offer: &crate::Offer, part: usize) -> Result<tofu_oci_store::ByteStream, crate::SourceError> {
        Ok(self.store.fetch(&offer.parts[part]).await?)
    }
}
