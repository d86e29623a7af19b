//! Which paths of modules the bridge answers: which document or archive a path names.

use tofu_oci_types::{ModuleAddr, Version};

use super::route_fault::{RouteFault, host_of, version};
use crate::served_module::module_zip_name;

/// Something of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ModuleRoute {
    pub(crate) address: ModuleAddr,
    pub(crate) kind: ModuleRouteKind,
}

/// What of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ModuleRouteKind {
    /// `modules/HOST/NAMESPACE/NAME/SYSTEM/versions`
    Versions,
    /// `modules/HOST/NAMESPACE/NAME/SYSTEM/VERSION/download`
    Download(Version),
    /// `modules/HOST/NAMESPACE/NAME/SYSTEM/VERSION/NAME-SYSTEM_VERSION.zip`
    Archive(Version),
}

impl ModuleRoute {
    /// The route of these segments; `None` if they are not of a module.
    pub(crate) fn of(segments: &[&str]) -> Result<Option<Self>, RouteFault> {
        let (parts, number, file) = match *segments {
            ["modules", host, namespace, name, system, "versions"] => ([host, namespace, name, system], None, ""),
            ["modules", host, namespace, name, system, number, file] if file == "download" || is_zip(file) => {
                ([host, namespace, name, system], Some(number), file)
            }
            _ => return Ok(None),
        };
        let address = module_address(parts)?;
        let kind = match number.map(version).transpose()? {
            None => ModuleRouteKind::Versions,
            Some(version) if file == "download" => ModuleRouteKind::Download(version),
            Some(version) if file == module_zip_name(&address, &version) => ModuleRouteKind::Archive(version),
            Some(_) => return Ok(None),
        };
        Ok(Some(Self { address, kind }))
    }

    /// Its one path below the base URL, with a slash before it. The host is in punycode, as clients send it.
    pub(crate) fn path(&self) -> String {
        let folder = format!("/modules/{}/{}", self.address.hostname(), self.address.path());
        match &self.kind {
            ModuleRouteKind::Versions => format!("{folder}/versions"),
            ModuleRouteKind::Download(version) => format!("{folder}/{version}/download"),
            ModuleRouteKind::Archive(version) => {
                format!("{folder}/{version}/{}", module_zip_name(&self.address, version))
            }
        }
    }
}

fn is_zip(file: &str) -> bool {
    file.rsplit_once('.').is_some_and(|(_, ending)| ending == "zip")
}

/// Capitals count, except in the host, which may be punycode or Unicode.
pub(crate) fn module_address([host, namespace, name, system]: [&str; 4]) -> Result<ModuleAddr, RouteFault> {
    let host = host_of(host)?;
    format!("{}/{namespace}/{name}/{system}", host.display()).parse().map_err(RouteFault::Module)
}
