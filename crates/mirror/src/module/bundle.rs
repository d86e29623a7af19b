//! A bundle as the place that modules are carried to.

use std::sync::Arc;

use async_trait::async_trait;
use tofu_oci_store::{ReadStore, Store};
use tofu_oci_types::{ModuleAddr, Place, Reporter, RepositoryRef};

use super::destination::ModuleDestination;
use super::error::ModuleMirrorError;
use crate::BundleFile;

#[async_trait]
impl ModuleDestination for BundleFile {
    fn store(&self, address: &ModuleAddr) -> Result<Arc<dyn Store>, ModuleMirrorError> {
        Ok(Arc::new(self.collected(&address.to_string())?))
    }

    async fn before(&self, address: &ModuleAddr) -> Result<Arc<dyn ReadStore>, ModuleMirrorError> {
        let name = address.to_string();
        match self.kept().await? {
            Some(bundle) if bundle.repositories().any(|known| known == name) => Ok(Arc::new(bundle.repository(&name))),
            _ => Ok(Arc::new(self.collected(&name)?)),
        }
    }

    fn place(&self, _address: &ModuleAddr) -> Result<Place, ModuleMirrorError> {
        Ok(self.bundle_place())
    }

    fn holds(&self, _repository: &RepositoryRef) -> bool {
        false
    }

    async fn finish(&self, reporter: &dyn Reporter) -> Result<(), ModuleMirrorError> {
        Ok(self.complete(reporter).await?)
    }
}
