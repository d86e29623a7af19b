//! The places of the CLI configuration's methods, opened.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tofu_oci_http::{HostTokens, WebClient};
use tofu_oci_mapper::config::{CliConfig, ConfigSetting, Method, MethodKind};
use tofu_oci_mapper::{MapError, MappedPlace, OciPlace};
use tofu_oci_remote::RegistryClient;
use tofu_oci_store::{ReadStore as _, StoreError, Transport};
use tofu_oci_types::{Hostname, ProviderAddr, RepositoryRef};

use crate::configured::ConfiguredMethods;
use crate::{
    DirectSource, Discover, DiscoveryError, DiscoveryOptions, HttpDiscovery, InstallMethod, Link, NotRead, OciSource,
    OpenRepository, RegistryAccess, Services, Source,
};

/// Opens the places of the CLI configuration's methods. It asks each host for its services once a run.
pub struct MethodOpener {
    client: Arc<RegistryClient>,
    discovery: Arc<dyn Discover>,
    access: RegistryAccess,
    open: OpenRepository,
}

impl MethodOpener {
    /// Sends no request yet. `tokens` are those of origin registries and network mirrors.
    pub fn new(configured: &ConfiguredMethods, client: Arc<RegistryClient>, tokens: Arc<dyn HostTokens>) -> Self {
        let config = &configured.reading.config;
        let options = DiscoveryOptions {
            timeout: timeout(config),
            overrides: overrides(configured),
            tokens: Arc::clone(&tokens),
        };
        let web = WebClient::new(Arc::clone(client.http())).with_private_hosts(&configured.private_hosts);
        let access = RegistryAccess {
            web: web.clone(),
            tokens,
            timeout: options.timeout,
            demands: configured.demands,
            now: SystemTime::now(),
        };
        let discovery = Arc::new(HttpDiscovery::new(web, options));
        let opening = Arc::clone(&client);
        let open: OpenRepository = Arc::new(move |repository| Ok(Arc::new(opening.store(repository.clone()))));
        Self { client, discovery, access, open }
    }

    /// The place that a method gives an address, as a link of a chain. The link of a method without a place always
    /// fails.
    pub fn link(
        &self,
        configured: &ConfiguredMethods,
        method: &Method,
        place: &Result<MappedPlace, MapError>,
        address: &ProviderAddr,
    ) -> Link {
        let source: Arc<dyn Source> = match place {
            Ok(MappedPlace::Oci(place)) => match self.admit(method, place, address) {
                Ok(()) => Arc::new(OciSource::new(Arc::new(self.client.store(place.repository.clone())))),
                Err(error) => Arc::new(NotRead::failing((&error.host).into(), error.failure)),
            },
            Ok(MappedPlace::NetworkMirror { url }) => Arc::new(NotRead::network_mirror(url)),
            Ok(MappedPlace::Filesystem { path }) => Arc::new(NotRead::filesystem_mirror(path)),
            Ok(_) => Arc::new(self.direct(configured, address)),
            Err(error) => {
                Arc::new(NotRead::failing(tofu_oci_types::Place::Method(method.label()), error.clone().into()))
            }
        };
        Link { method: kind(method), label: method.label(), source }
    }

    /// Whether the place of an address may be asked. A place that follows from the name of the host obeys the rule of
    /// discovery documents. A mirror may be anywhere, since the user wrote it.
    ///
    /// # Errors
    /// [`Failure::PrivateHost`](crate::Failure::PrivateHost).
    pub fn admit(&self, method: &Method, place: &OciPlace, address: &ProviderAddr) -> Result<(), DiscoveryError> {
        match kind(method) {
            InstallMethod::Direct => self.discovery.admit_named(address.hostname(), &place.repository),
            _ => Ok(()),
        }
    }

    /// The host of an address.
    pub fn direct(&self, configured: &ConfiguredMethods, address: &ProviderAddr) -> DirectSource {
        let discovery = Arc::clone(&self.discovery);
        let (host, open) = (address.hostname().clone(), Arc::clone(&self.open));
        DirectSource::new(host, configured.suffix.clone(), discovery, open, self.access.clone())
    }

    /// Asks the registry of a repository whether it is one, as `OpenTofu` up to 1.12 does first.
    ///
    /// # Errors
    /// What the answer means; for 404 the repository is unknown.
    pub async fn ping(&self, repository: &RepositoryRef) -> Result<(), StoreError> {
        self.client.store(repository.clone()).ping().await
    }

    /// How this run talks to the registry of a repository.
    pub async fn transport(&self, repository: &RepositoryRef) -> Transport {
        self.client.store(repository.clone()).transport().await
    }

    /// Whether a host has the provider registry protocol; `None` if it does not say.
    pub async fn has_registry_protocol(&self, host: &Hostname) -> Option<bool> {
        Some(self.discovery.services(host).await.ok()?.has_registry_protocol())
    }
}

fn kind(method: &Method) -> InstallMethod {
    match &method.kind {
        MethodKind::OciMirror { .. } => InstallMethod::Oci,
        MethodKind::NetworkMirror { .. } => InstallMethod::NetworkMirror,
        MethodKind::FilesystemMirror { .. } => InstallMethod::Filesystem,
        _ => InstallMethod::Direct,
    }
}

/// How long a host may take to list its services; a setting of 0 means without limit.
fn timeout(config: &CliConfig) -> Duration {
    const LONGEST: u64 = 24 * 60 * 60;
    match u64::try_from(config.registry_protocols.request_timeout_seconds) {
        Ok(seconds @ 1..=LONGEST) => Duration::from_secs(seconds),
        _ => Duration::from_secs(LONGEST),
    }
}

/// `host` blocks, in place of what these hosts would answer.
fn overrides(configured: &ConfiguredMethods) -> BTreeMap<Hostname, Services> {
    let reading = &configured.reading;
    let services = |(host, block): (&Hostname, &tofu_oci_mapper::config::HostBlock)| {
        let path = reading.files.get(block.at.file).map(|file| file.path.display().to_string()).unwrap_or_default();
        let values = block.services.iter().map(|(name, value)| (name.clone(), json(value))).collect();
        (host.clone(), Services::new(host.clone(), format!("the host block in {path}"), values))
    };
    reading.config.hosts.iter().map(services).collect()
}

fn json(setting: &ConfigSetting) -> serde_json::Value {
    use serde_json::Value;
    match setting {
        ConfigSetting::Bool(value) => Value::Bool(*value),
        ConfigSetting::Number(text) => serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.clone())),
        ConfigSetting::Text(text) => Value::String(text.clone()),
        ConfigSetting::List(items) => Value::Array(items.iter().map(json).collect()),
        ConfigSetting::Map(members) => {
            Value::Object(members.iter().map(|(name, value)| (name.clone(), json(value))).collect())
        }
    }
}
