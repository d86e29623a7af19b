//! The modules that are served, as values.

use std::sync::Arc;

use tofu_oci_fetch::RenamedReleases;
use tofu_oci_layout::ModuleManifest;
use tofu_oci_mapper::MapError;
use tofu_oci_mirror::ModulePullThrough;
use tofu_oci_store::ReadStore;
use tofu_oci_types::{Digest, ModuleAddr, ModulePattern, OciModuleSource, Place, Version};

/// Opens the repository of a module for one question.
pub type OpenModules = Arc<dyn Fn(&ModuleAddr) -> Result<Arc<dyn ReadStore>, MapError> + Send + Sync>;

/// Which modules are served, and where they are.
pub struct ServedModulePlace {
    pub include: Vec<ModulePattern>,
    /// Those of them that are not served.
    pub exclude: Vec<ModulePattern>,
    pub open: OpenModules,
    /// What fetches what these repositories lack, if they have an upstream.
    pub pull: Option<ModulePullThrough>,
    /// Where `OpenTofu` fetches them.
    pub locations: ModuleLocations,
    /// What becomes of its packages that name another address. No rule of a trust policy is for the address of a
    /// module, so [`RenamedReleases::ByPolicy`] serves them.
    pub renamed: RenamedReleases,
}

/// Where `OpenTofu` fetches modules. Terraform fetches archives of the bridge in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ModuleLocations {
    /// Archives of the bridge.
    #[default]
    Archives,
    /// The repository, as `oci://…?digest=…`, if `OpenTofu` can use its name.
    Oci,
}

/// One version of a module that clients may see. [`Packages::module_zip`](crate::Packages::module_zip) opens its zip.
#[derive(Clone)]
pub struct ServedModule {
    pub address: ModuleAddr,
    pub version: Version,
    pub manifest: ModuleManifest,
    /// The digest of the manifest, a SHA-256.
    pub digest: Digest,
    pub store: Arc<dyn ReadStore>,
    /// Where `OpenTofu` fetches it.
    pub locations: ModuleLocations,
}

impl ServedModule {
    /// The address of the package for `OpenTofu`, by its digest; `None` if it is in no registry, or the setting does not ask
    /// for it, or `OpenTofu` refuses the name of the repository.
    pub(crate) fn oci_location(&self) -> Option<String> {
        match (self.locations, self.store.place()) {
            (ModuleLocations::Oci, Place::Registry(repository)) => {
                let source = format!("oci://{repository}?digest={}", self.digest);
                source.parse::<OciModuleSource>().ok().map(|_| source)
            }
            _ => None,
        }
    }
}

/// `NAME-SYSTEM_VERSION.zip`. The version stands before it in the path, and in the name, as people keep such files.
pub(crate) fn module_zip_name(address: &ModuleAddr, version: &Version) -> String {
    format!("{}-{}_{version}.zip", address.name(), address.target())
}
