//! Modules in bundles. A repository of a bundle whose name has four parts, `HOST/NAMESPACE/NAME/SYSTEM`, holds a module.

use std::sync::Arc;

use async_trait::async_trait;
use serde::Serialize;
use tofu_oci_fetch::{Trust, judge_module};
use tofu_oci_source::{Listing, ModuleError, ModulePackage};
use tofu_oci_store::{BundleArchive, BundleContents, ReadStore, StoreError};
use tofu_oci_types::{Constraints, Digest, ModuleAddr, Reference, Reporter, Subdir, Tag, Version};

use super::error::ModuleMirrorError;
use super::pick::{ModuleOrigin, NamedPackage, WantedModule};
use super::report::ModuleMirrorLine;
use super::upstream::ModuleUpstream;

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

/// The module that a repository of a bundle is named by.
fn module_named(name: &str) -> Option<ModuleAddr> {
    name.parse().ok().filter(|address: &ModuleAddr| address.to_string() == name)
}

#[async_trait]
impl ModuleUpstream for BundledModules {
    async fn versions(&self, address: &ModuleAddr) -> Result<Vec<Version>, ModuleError> {
        let store = self.repository(address)?;
        Ok(Listing::in_store(&*store, &store.tags().await?).await.versions)
    }

    fn is_closed(&self) -> bool {
        true
    }

    async fn package(&self, address: &ModuleAddr, version: &Version) -> Result<ModulePackage, ModuleError> {
        let store = self.repository(address)?;
        let Ok(tag) = Tag::for_version(version) else {
            let (address, version) = (address.clone(), version.clone());
            return Err(ModuleError::VersionMissing { address, version, place: self.0.place() });
        };
        ModulePackage::of_store(store, &Reference::Tag(tag), Subdir::root()).await
    }

    /// A bundle has modules by their addresses alone.
    async fn package_at(&self, _named: &NamedPackage) -> Result<ModulePackage, ModuleError> {
        Err(StoreError::UnknownRepository { place: self.0.place() }.into())
    }
}

/// A version of a module in a bundle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BundledModule {
    /// The module.
    pub address: ModuleAddr,
    /// The version.
    pub version: Version,
    /// The digest of its manifest, by which it can be pinned.
    pub manifest: Digest,
}

/// The modules of a bundle with their versions, sorted by address, then by version.
///
/// # Errors
/// If one of the repositories cannot be read.
pub async fn bundled_modules(contents: &BundleContents) -> Result<Vec<BundledModule>, StoreError> {
    let mut modules = Vec::new();
    for (name, tags) in &contents.repositories {
        let Some(address) = module_named(name) else { continue };
        let mut found = Vec::new();
        for (tag, store) in tags {
            let Some(version) = tag.version().filter(|version| Tag::for_version(version).as_ref() == Ok(tag)) else {
                continue;
            };
            let manifest = store.resolve(&Reference::Tag(tag.clone())).await?.digest;
            found.push(BundledModule { address: address.clone(), version, manifest });
        }
        found.sort_by(|one: &BundledModule, other| one.version.precedence(&other.version));
        modules.append(&mut found);
    }
    Ok(modules)
}
