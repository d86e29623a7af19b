//! Modules in bundles. A repository of a bundle whose name has four parts, `HOST/NAMESPACE/NAME/SYSTEM`, holds a module.

use std::sync::Arc;

use async_trait::async_trait;
use tofu_oci_fetch::{Trust, judge_module};
use tofu_oci_source::{ModuleError, ModulePackage};
use tofu_oci_store::{BundleArchive, ReadStore, StoreError};
use tofu_oci_types::{Constraints, ModuleAddr, Reporter, Subdir, Version};

use super::error::ModuleMirrorError;
use super::pick::{ModuleOrigin, NamedPackage, WantedModule};
use super::report::ModuleMirrorLine;
use super::upstream::{ModuleUpstream, package_in, versions_in};
use crate::bundle_notes::module_named;

/// The modules of a bundle, as a place that modules come from.
pub struct BundledModules(BundleArchive);

impl BundledModules {
    /// Those of this bundle.
    pub fn new(bundle: BundleArchive) -> Self {
        Self(bundle)
    }

    /// The modules of the bundle, sorted.
    pub fn addresses(&self) -> Vec<ModuleAddr> {
        self.0.repositories().filter_map(module_named).collect()
    }

    /// All of its modules, each in all versions, or in the newest releases of them.
    pub fn wanted(&self, latest: Option<usize>) -> Vec<WantedModule> {
        let origin = match latest {
            None => ModuleOrigin::Listed,
            latest => ModuleOrigin::Registry { constraints: Constraints::any(), latest },
        };
        let wanted = |address| WantedModule { address, folder: Subdir::root(), origin: origin.clone() };
        self.addresses().into_iter().map(wanted).collect()
    }

    /// A line for each version that the policy refuses, or that cannot be read.
    pub async fn refused(&self, trust: &Trust, reporter: &dyn Reporter) -> Vec<ModuleMirrorLine> {
        let mut refused = Vec::new();
        let mut refuse = |address: &ModuleAddr, version: Option<Version>, error: ModuleMirrorError| {
            let (address, called_by) = (address.clone(), Vec::new());
            refused.push(ModuleMirrorLine { address, version, called_by, outcome: Err(error) });
        };
        for address in self.addresses() {
            let versions = match self.versions(&address).await {
                Ok(versions) => versions,
                Err(error) => {
                    refuse(&address, None, error.into());
                    continue;
                }
            };
            for version in versions {
                let judged = async {
                    let package = self.package(&address, &version).await?;
                    Ok(judge_module(&package, Some(&version), trust, reporter).await?)
                };
                let judged: Result<_, ModuleMirrorError> = judged.await;
                if let Err(error) = judged {
                    refuse(&address, Some(version), error);
                }
            }
        }
        refused
    }

    fn repository(&self, address: &ModuleAddr) -> Result<Arc<dyn ReadStore>, ModuleError> {
        let name = address.to_string();
        if !self.0.repositories().any(|known| known == name) {
            return Err(ModuleError::UnknownModule { address: address.clone(), place: self.0.place() });
        }
        Ok(Arc::new(self.0.repository(&name)))
    }
}

#[async_trait]
impl ModuleUpstream for BundledModules {
    async fn versions(&self, address: &ModuleAddr) -> Result<Vec<Version>, ModuleError> {
        versions_in(&*self.repository(address)?).await
    }

    fn is_closed(&self) -> bool {
        true
    }

    async fn package(&self, address: &ModuleAddr, version: &Version) -> Result<ModulePackage, ModuleError> {
        package_in(self.repository(address)?, address, version).await
    }

    /// A bundle has modules by their addresses alone.
    async fn package_at(&self, _named: &NamedPackage) -> Result<ModulePackage, ModuleError> {
        Err(StoreError::UnknownRepository { place: self.0.place() }.into())
    }
}
