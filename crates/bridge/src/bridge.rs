//! What every request is answered from.

use tofu_oci_mapper::UriTemplate;
use tofu_oci_types::{Hostname, Scheme};

use crate::{BaseUrl, Catalog, ClientAccess, Packages, SumsSigner};

/// The state of the routes.
pub struct Bridge {
    pub catalog: Catalog,
    /// The bytes of archives.
    pub packages: Packages,
    pub signer: SumsSigner,
    /// Who may see what.
    pub access: ClientAccess,
    /// What the documents say of the bridge itself.
    pub settings: BridgeSettings,
}

/// What the documents say of the bridge itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BridgeSettings {
    /// Where it is, as clients write it.
    pub base: BaseUrl,
    /// The hosts that it is the registry of.
    pub hosts: Vec<OwnHost>,
    /// Which checksums a network mirror lists, the first one first. `h1:` makes `OpenTofu` read every package twice.
    pub hashes: Vec<Scheme>,
    /// Whether a client of the network mirror asks the next method of its configuration for a version that is missing
    /// here.
    pub gives_way: bool,
}

/// What a host is the registry of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostService {
    /// Providers: `providers.v1`.
    Providers,
    /// Modules: `modules.v1`.
    Modules,
}

/// A host that the bridge is the registry of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnHost {
    /// The host, as addresses begin with it.
    pub hostname: Hostname,
    /// Where the repositories of its providers are, for clients of the RFC; `None` if no single template says it.
    pub repositories: Option<UriTemplate>,
    /// What the bridge is the registry of.
    pub services: Vec<HostService>,
}

impl BridgeSettings {
    /// The host with this name.
    pub(crate) fn own_host(&self, hostname: &Hostname) -> Option<&OwnHost> {
        self.hosts.iter().find(|own| own.hostname == *hostname)
    }

    /// What to write to use the provider registries of the bridge.
    pub(crate) fn registry_advice(&self) -> String {
        let mirror = self.base.join("mirror/");
        let Some(host) = self.hosts.first().map(|own| own.hostname.display()) else {
            return format!(
                "this server is not a provider registry, because its configuration has no `hosts`: to use its network mirror, \
                 write `url = \"{mirror}\"` in a network_mirror block"
            );
        };
        format!(
            "clients find a provider registry by the host of an address: write `source = \"{host}/NAMESPACE/TYPE\"` in \
             required_providers, and no URL"
        )
    }

    /// What to write for a provider of a host that is not an own one.
    pub(crate) fn not_an_own_host(&self, host: &str) -> String {
        let own: Vec<String> = self.hosts.iter().map(|own| own.hostname.display()).collect();
        let own = if own.is_empty() { "of no host".to_owned() } else { format!("of {} only", own.join(", ")) };
        format!(
            "this server is the provider registry {own}, and not of {host}: to install such providers from here, write \
             `url = \"{}\"` in a network_mirror block",
            self.base.join("mirror/")
        )
    }
}
