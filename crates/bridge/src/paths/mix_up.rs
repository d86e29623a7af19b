//! A request that was meant for another address: what its sender has to write instead.

use http::StatusCode;

use crate::{BridgeSettings, HostService};

/// What was taken for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MixUp {
    /// The mirror's own URL, opened by a person.
    MirrorRoot,
    /// The address of the registries, opened by a person.
    RegistryRoot,
    /// A client of a registry was given the mirror's URL.
    MirrorAsRegistry,
    /// A client of a mirror was given the URL of a registry.
    RegistryAsMirror,
    /// A client of a mirror was given a URL without `mirror/`, or without the slash after it, which cuts `mirror` off.
    MirrorUrlCut,
    /// A client of a mirror was given a URL with more after `mirror/`.
    MirrorUrlTooLong,
    /// A mirror's path lacks the host.
    HostMissing,
    /// A client of a registry was given another URL of this server.
    RegistryUrl,
    /// A document was asked for by the name of an archive.
    ArchiveAsDocument,
    /// An archive was asked for by the name of a document, or by another provider's name.
    DocumentAsArchive,
    /// The discovery document below another path.
    NestedDiscovery,
    /// A client of an OCI registry.
    OciRegistry,
    /// A client of a module registry was given another URL of this server.
    ModulesUrl,
    /// The base of module registries, opened by a person.
    ModulesRoot,
    /// A path of a module registry lacks the host.
    ModuleHostMissing,
    /// A client of a provider registry or of a mirror was given the URL of a module registry.
    ModulesAsProviders,
    /// A client of a module registry was given the URL of a provider registry, or of the mirror.
    ProvidersAsModules,
    /// An archive of a module by another name.
    ModuleArchiveName,
    /// None of these.
    Unknown,
}

impl MixUp {
    /// What the sender of a path meant, by its segments below the base URL. The path has no route.
    pub(crate) fn of(segments: &[&str]) -> Self {
        match segments {
            ["mirror"] | ["mirror", ""] => return Self::MirrorRoot,
            ["registry"] | ["registry", ""] => return Self::RegistryRoot,
            // The pages, whatever a provider is called.
            ["providers", ..] => return Self::Unknown,
            ["v2", ..] => return Self::OciRegistry,
            ["modules"] | ["modules", ""] => return Self::ModulesRoot,
            ["modules", rest @ ..] => return Self::below_modules(rest),
            [_, "modules", ..] => return Self::ModulesUrl,
            ["registry" | "mirror", _, _, _, _, "versions"] | ["registry" | "mirror", .., "download"] => {
                return Self::ProvidersAsModules;
            }
            [.., ".well-known", "terraform.json"] => return Self::NestedDiscovery,
            _ => {}
        }
        let first = segments[0];
        match segments {
            [.., name] if is_document(name) => match (first, segments.len()) {
                ("mirror", 5) if name.contains('_') => Self::ArchiveAsDocument,
                ("mirror", 4) => Self::HostMissing,
                ("mirror", _) => Self::MirrorUrlTooLong,
                ("registry", _) => Self::RegistryAsMirror,
                _ => Self::MirrorUrlCut,
            },
            [.., _, "versions"] | [.., "download", _, _] => match first {
                "mirror" => Self::MirrorAsRegistry,
                _ => Self::RegistryUrl,
            },
            [.., _, name] if has_ending(name, "zip") => Self::DocumentAsArchive,
            _ => Self::Unknown,
        }
    }

    /// What the sender of a path below `modules/` meant.
    fn below_modules(rest: &[&str]) -> Self {
        let has_host = rest.first().is_some_and(|first| first.contains('.'));
        match rest {
            [_, _, _, "versions"] | [_, _, _, _, "download"] if !has_host => Self::ModuleHostMissing,
            [.., "versions"] | [.., "download", _, _] => Self::ModulesAsProviders,
            [.., name] if is_document(name) => Self::ModulesAsProviders,
            [.., name] if has_ending(name, "zip") => Self::ModuleArchiveName,
            _ => Self::ModulesUrl,
        }
    }

    /// What to write instead, in one sentence.
    pub(crate) fn advice(self, settings: &BridgeSettings) -> String {
        let (base, mirror) = (&settings.base, settings.base.join("mirror/"));
        let network_mirror = format!("write `url = \"{mirror}\"` in a network_mirror block, with the slash at its end");
        match self {
            Self::MirrorRoot => format!("this is a network mirror: {network_mirror}"),
            Self::RegistryRoot | Self::RegistryUrl => settings.registry_advice(),
            Self::MirrorAsRegistry => {
                format!("{mirror} is a network mirror and not a provider registry: {network_mirror}")
            }
            Self::RegistryAsMirror => {
                format!(
                    "{} begins provider registries and not a network mirror: {network_mirror}",
                    base.join("registry/")
                )
            }
            Self::MirrorUrlCut => format!("the network mirror of this server begins elsewhere: {network_mirror}"),
            Self::MirrorUrlTooLong => format!(
                "the path after {mirror} must read HOST/NAMESPACE/TYPE/FILE, which clients add themselves: {network_mirror}"
            ),
            Self::HostMissing => format!(
                "the path lacks the host of the provider's address: write {mirror}HOST/NAMESPACE/TYPE/index.json"
            ),
            Self::ArchiveAsDocument => {
                format!(
                    "an archive ends with .zip, and the document that lists archives is {mirror}HOST/NAMESPACE/TYPE/VERSION.json"
                )
            }
            Self::DocumentAsArchive => format!(
                "an archive is {mirror}HOST/NAMESPACE/TYPE/terraform-provider-TYPE_VERSION_OS_ARCH.zip, and VERSION.json beside it lists all"
            ),
            Self::NestedDiscovery => format!(
                "a discovery document is at the root of a registry's host, and a network mirror has none: to use the mirror, {network_mirror}"
            ),
            Self::OciRegistry => format!(
                "this is not an OCI registry: in oci_mirror blocks and docker commands, write the registry's own host; for this server, {network_mirror}"
            ),
            Self::ModulesRoot => format!("this begins the module registries of this server: {}", modules(settings)),
            Self::ModulesUrl => {
                format!("the module registries of this server begin elsewhere: {}", modules(settings))
            }
            Self::ModuleHostMissing => {
                format!("the path lacks the host of the module's address: {}", modules(settings))
            }
            Self::ModulesAsProviders => {
                format!("{} begins module registries; for providers, {network_mirror}", base.join("modules/"))
            }
            Self::ProvidersAsModules => {
                format!("this is an address for providers, and a module was asked for: {}", modules(settings))
            }
            Self::ModuleArchiveName => format!(
                "the archive of a module is {}HOST/NAMESPACE/NAME/SYSTEM/VERSION/NAME-SYSTEM_VERSION.zip, and `download` beside it names it",
                base.join("modules/")
            ),
            Self::Unknown => {
                format!("there is nothing at this address: to install providers from here, {network_mirror}")
            }
        }
    }

    /// No client takes an answer that is not 404 for "there is no such provider", and none tries again after it.
    pub(crate) fn status(self) -> StatusCode {
        match self {
            Self::MirrorRoot | Self::RegistryRoot | Self::ModulesRoot | Self::OciRegistry | Self::Unknown => {
                StatusCode::NOT_FOUND
            }
            _ => StatusCode::BAD_REQUEST,
        }
    }
}

/// What to write to use the module registries of the bridge.
fn modules(settings: &BridgeSettings) -> String {
    let own = settings.hosts.iter().find(|own| own.services.contains(&HostService::Modules));
    match own.map(|own| own.hostname.display()) {
        Some(host) => format!("write `source = \"{host}/NAMESPACE/NAME/SYSTEM\"` in the module block, and no URL"),
        None => format!(
            "write `host \"HOST\" {{ services = {{ \"modules.v1\" = \"{}HOST/\" }} }}` in the CLI configuration, with the slash at its end",
            settings.base.join("modules/")
        ),
    }
}

fn is_document(name: &str) -> bool {
    has_ending(name, "json")
}

fn has_ending(name: &str, ending: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(stem, last)| !stem.is_empty() && last == ending)
}
