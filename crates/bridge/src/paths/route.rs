//! Which paths the bridge answers: which document or archive a path names.

use tofu_oci_types::{Platform, ProviderAddr, Version, sums_name, zip_name};

use super::route_fault::{RouteFault, host_of, version};
use crate::paths::mix_up::MixUp;
use crate::paths::module_route::{ModuleRoute, ModuleRouteKind};
use crate::paths::request_path::RequestPath;

/// What a path of the two protocols names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// `.well-known/terraform.json`
    Discovery,
    /// Something of a provider.
    Provider(ProviderRoute),
    /// Something of a module.
    Module(ModuleRoute),
}

/// Something of a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProviderRoute {
    pub(crate) address: ProviderAddr,
    pub(crate) kind: RouteKind,
}

/// What of a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RouteKind {
    /// `mirror/HOST/NAMESPACE/TYPE/index.json`
    MirrorVersions,
    /// `mirror/HOST/NAMESPACE/TYPE/VERSION.json`
    MirrorArchives(Version),
    /// `mirror/HOST/NAMESPACE/TYPE/terraform-provider-TYPE_VERSION_OS_ARCH.zip`
    Archive(Version, Platform),
    /// `registry/HOST/NAMESPACE/TYPE/versions`
    Versions,
    /// `registry/HOST/NAMESPACE/TYPE/VERSION/download/OS/ARCH`
    Download(Version, Platform),
    /// `registry/HOST/NAMESPACE/TYPE/VERSION/terraform-provider-TYPE_VERSION_SHA256SUMS`
    Sums(Version),
    /// The same with `.sig`.
    SumsSignature(Version),
}

impl Route {
    /// The route of a path below the base URL, as it was sent.
    pub(crate) fn parse(raw: &str) -> Result<Self, RouteFault> {
        let path = RequestPath::parse(raw).map_err(RouteFault::Path)?;
        let segments = path.segments();
        let mix_up = || RouteFault::MixUp(MixUp::of(&segments));
        if let Some(route) = ModuleRoute::of(&segments)? {
            return Ok(Self::Module(route));
        }
        let (address, kind) = match segments[..] {
            [".well-known", "terraform.json"] => return Ok(Self::Discovery),
            ["mirror", host, namespace, provider_type, file] => {
                let file = MirrorFile::of(file).ok_or_else(mix_up)?;
                let address = address(host, namespace, provider_type)?;
                let kind = file.kind(&address)?.ok_or_else(mix_up)?;
                (address, kind)
            }
            ["registry", host, namespace, provider_type, "versions"] => {
                (address(host, namespace, provider_type)?, RouteKind::Versions)
            }
            ["registry", host, namespace, provider_type, number, "download", os, arch] => {
                let address = address(host, namespace, provider_type)?;
                (address, RouteKind::Download(version(number)?, platform(&format!("{os}_{arch}"))?))
            }
            ["registry", host, namespace, provider_type, number, file] if file.contains("_SHA256SUMS") => {
                let (address, version) = (address(host, namespace, provider_type)?, version(number)?);
                let kind = match file.strip_prefix(sums_name(&address, &version).as_str()) {
                    Some("") => RouteKind::Sums(version),
                    Some(".sig") => RouteKind::SumsSignature(version),
                    _ => return Err(mix_up()),
                };
                (address, kind)
            }
            _ => return Err(mix_up()),
        };
        Ok(Self::Provider(ProviderRoute { address, kind }))
    }

    /// What its requests are counted as, one of a few.
    pub(crate) fn counted_as(&self) -> &'static str {
        match self {
            Self::Discovery => "discovery",
            Self::Provider(ProviderRoute { kind, .. }) => kind.counted_as(),
            Self::Module(ModuleRoute { kind, .. }) => match kind {
                ModuleRouteKind::Versions => "module_versions",
                ModuleRouteKind::Download(_) => "module_download",
                ModuleRouteKind::Archive(_) => "module_archive",
            },
        }
    }
}

impl RouteKind {
    pub(crate) fn counted_as(&self) -> &'static str {
        match self {
            Self::MirrorVersions => "mirror_index",
            Self::MirrorArchives(_) => "mirror_version",
            Self::Archive(..) => "archive",
            Self::Versions => "registry_versions",
            Self::Download(..) => "registry_download",
            Self::Sums(_) | Self::SumsSignature(_) => "registry_sums",
        }
    }
}

impl ProviderRoute {
    /// Whether it belongs to the registry of an own host.
    pub(crate) fn is_of_registry(&self) -> bool {
        match self.kind {
            RouteKind::MirrorVersions | RouteKind::MirrorArchives(_) | RouteKind::Archive(..) => false,
            RouteKind::Versions | RouteKind::Download(..) | RouteKind::Sums(_) | RouteKind::SumsSignature(_) => true,
        }
    }

    /// Its one path below the base URL, with a slash before it. The host is in punycode, as clients send it.
    pub(crate) fn path(&self) -> String {
        let address = &self.address;
        let folder = format!("{}/{}/{}", address.hostname(), address.namespace(), address.provider_type());
        match &self.kind {
            RouteKind::MirrorVersions => format!("/mirror/{folder}/index.json"),
            RouteKind::MirrorArchives(version) => format!("/mirror/{folder}/{version}.json"),
            RouteKind::Archive(version, platform) => {
                format!("/mirror/{folder}/{}", zip_name(address, version, platform))
            }
            RouteKind::Versions => format!("/registry/{folder}/versions"),
            RouteKind::Download(version, platform) => {
                format!("/registry/{folder}/{version}/download/{}/{}", platform.os(), platform.arch())
            }
            RouteKind::Sums(version) => format!("/registry/{folder}/{version}/{}", sums_name(address, version)),
            RouteKind::SumsSignature(version) => {
                format!("/registry/{folder}/{version}/{}.sig", sums_name(address, version))
            }
        }
    }
}

/// A file of a network mirror, by its name.
enum MirrorFile<'n> {
    Versions,
    Archives(&'n str),
    Archive(&'n str),
}

impl<'n> MirrorFile<'n> {
    fn of(name: &'n str) -> Option<Self> {
        if name == "index.json" {
            return Some(Self::Versions);
        }
        if let Some(number) = name.strip_suffix(".json").filter(|name| !name.contains('_')) {
            return Some(Self::Archives(number));
        }
        name.strip_suffix(".zip").filter(|stem| stem.contains('_')).map(Self::Archive)
    }

    /// `None` if it is not an archive of this provider.
    fn kind(self, address: &ProviderAddr) -> Result<Option<RouteKind>, RouteFault> {
        Ok(Some(match self {
            Self::Versions => RouteKind::MirrorVersions,
            Self::Archives(number) => RouteKind::MirrorArchives(version(number)?),
            Self::Archive(stem) => {
                let prefix = format!("terraform-provider-{}_", address.provider_type());
                let Some((number, platform)) = stem.strip_prefix(&prefix).and_then(|rest| rest.split_once('_')) else {
                    return Ok(None);
                };
                RouteKind::Archive(version(number)?, self::platform(platform)?)
            }
        }))
    }
}

/// Capitals do not count, and the host may be punycode or Unicode: clients send lower case and punycode.
pub(crate) fn address(host: &str, namespace: &str, provider_type: &str) -> Result<ProviderAddr, RouteFault> {
    if let Some(part) = [namespace, provider_type].into_iter().find(|part| !part.is_ascii()) {
        return Err(RouteFault::NotAscii { part: part.to_owned() });
    }
    let host = host_of(host)?;
    format!("{}/{namespace}/{provider_type}", host.display()).parse().map_err(RouteFault::Address)
}

fn platform(written: &str) -> Result<Platform, RouteFault> {
    written.parse().map_err(RouteFault::Platform)
}
