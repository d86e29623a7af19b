//! The places of the CLI configuration's methods, opened; which calls and providers of modules may be followed to which
//! host.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use tofu_oci_http::{HostTokens, WebClient, host_of, shown_url};
use tofu_oci_mapper::config::{CliConfig, ConfigSetting, Method, MethodKind, RegistryProtocols};
use tofu_oci_mapper::{MagicSuffix, MapError, MappedPlace, OciPlace};
use tofu_oci_remote::RegistryClient;
use tofu_oci_store::{CachedStore, ManifestFiles, ReadStore, StoreError, Transport};
use tofu_oci_types::{GitModuleSource, Hostname, Place, ProviderAddr, RepositoryRef};

use crate::configured::ConfiguredMethods;
use crate::{
    Chain, DirectSource, Discover, DiscoveryError, DiscoveryOptions, Failure, FolderSource, GitCheckout, GitFault,
    GitProgram, HttpDiscovery, InstallMethod, Link, LocationAccess, LocationFault, MirrorAccess, MirrorChecksums,
    ModuleError, ModuleLocation, ModulePackage, ModuleRegistry, NetworkMirrorSource, NotRead, OciSource,
    OpenRepository, RegistryAccess, RegistrySource, Services, Source,
};

/// The address of a network mirror, how often a download is tried again, and whether all checksums are trusted.
type MirrorSettings = (String, Option<i64>, bool);

/// Opens the places of the CLI configuration's methods. It asks each host for its services once a run.
pub struct MethodOpener {
    client: Arc<RegistryClient>,
    discovery: Arc<dyn Discover>,
    access: RegistryAccess,
    open: OpenRepository,
    folders: Mutex<HashMap<PathBuf, Arc<FolderSource>>>,
    mirrors: Mutex<HashMap<MirrorSettings, Arc<NetworkMirrorSource>>>,
    /// The manifests that earlier runs have read.
    manifests: Option<ManifestFiles>,
    /// The hosts whose services the user's files name.
    blocks: BTreeSet<Hostname>,
    /// The suffix that makes a host name say where its providers are.
    suffix: MagicSuffix,
}

impl MethodOpener {
    /// Sends no request yet. `tokens` are those of origin registries and network mirrors.
    pub fn new(configured: &ConfiguredMethods, client: Arc<RegistryClient>, tokens: Arc<dyn HostTokens>) -> Self {
        let config = &configured.reading.config;
        let overrides = overrides(configured);
        let blocks = overrides.keys().cloned().collect();
        let options = DiscoveryOptions { timeout: timeout(config), overrides, tokens: Arc::clone(&tokens) };
        let web = WebClient::new(Arc::clone(client.http()));
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
        let (folders, mirrors) = (Mutex::default(), Mutex::default());
        let suffix = configured.suffix.clone();
        Self { client, discovery, access, open, folders, mirrors, manifests: None, blocks, suffix }
    }

    /// The same with a cache of manifests for the repositories that it opens.
    #[must_use]
    pub fn with_manifests(self, manifests: Option<ManifestFiles>) -> Self {
        let (opening, files) = (Arc::clone(&self.client), manifests.clone());
        let open: OpenRepository =
            Arc::new(move |repository| Ok(cached(Arc::new(opening.store(repository.clone())), files.as_ref())));
        Self { open, manifests, ..self }
    }

    /// An opener for another question: what hosts publish and their tokens are still known, what mirrors and folders have
    /// listed is not.
    #[must_use]
    pub fn anew(&self) -> Self {
        Self {
            client: Arc::clone(&self.client),
            discovery: Arc::clone(&self.discovery),
            access: RegistryAccess { now: SystemTime::now(), ..self.access.clone() },
            open: Arc::clone(&self.open),
            folders: Mutex::default(),
            mirrors: Mutex::default(),
            manifests: self.manifests.clone(),
            blocks: self.blocks.clone(),
            suffix: self.suffix.clone(),
        }
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
                Ok(()) => {
                    let store = Arc::new(self.client.store(place.repository.clone()));
                    Arc::new(OciSource::new(cached(store, self.manifests.as_ref())))
                }
                Err(error) => Arc::new(NotRead::failing((&error.host).into(), error.failure)),
            },
            Ok(MappedPlace::NetworkMirror { url }) => match self.network_mirror(configured, &method.kind, url) {
                Ok(mirror) => mirror,
                Err(error) => Arc::new(NotRead::failing(tofu_oci_types::Place::NetworkMirror(url.clone()), error)),
            },
            Ok(MappedPlace::Filesystem { path }) => self.folder(path),
            Ok(_) => Arc::new(self.direct(configured, address)),
            Err(error) => {
                Arc::new(NotRead::failing(tofu_oci_types::Place::Method(method.label()), error.clone().into()))
            }
        };
        Link { method: kind(method), label: method.label(), source }
    }

    /// The methods that are for an address, in their order.
    pub fn links(&self, configured: &ConfiguredMethods, address: &ProviderAddr) -> Vec<Link> {
        let selected = configured.candidates(address).into_iter();
        let selected = selected.filter_map(|candidate| Some((candidate.method, candidate.place?)));
        selected.map(|(method, place)| self.link(configured, method, &place, address)).collect()
    }

    /// Those methods as one source.
    pub fn chain(&self, configured: &ConfiguredMethods, address: &ProviderAddr) -> Chain {
        match self.links(configured, address) {
            links if links.is_empty() && !configured.methods.list.is_empty() => Chain::unmatched(),
            links => Chain::new(links),
        }
    }

    /// The folder, which is searched once a run.
    fn folder(&self, path: &Path) -> Arc<FolderSource> {
        let mut folders = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(folders.entry(path.to_owned()).or_insert_with(|| Arc::new(FolderSource::new(path))))
    }

    /// Whether the place of an address may be asked. A place that follows from the name of the host obeys the rule of
    /// discovery documents. A mirror may be anywhere, since the user wrote it.
    ///
    /// # Errors
    /// [`Failure::PrivateHost`].
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

    /// The mirror at this address, with the settings of its method. It is asked for each document once a run.
    fn network_mirror(
        &self,
        configured: &ConfiguredMethods,
        method: &MethodKind,
        url: &str,
    ) -> Result<Arc<NetworkMirrorSource>, Failure> {
        let config = &configured.reading.config;
        let (retries, trusts_all) = match method {
            MethodKind::NetworkMirror { download_retry_count, trust_all_hashes, .. } => {
                (*download_retry_count, *trust_all_hashes)
            }
            _ => (None, false),
        };
        let mut mirrors = self.mirrors.lock().unwrap_or_else(PoisonError::into_inner);
        let settings = (url.to_owned(), retries, trusts_all);
        if let Some(mirror) = mirrors.get(&settings) {
            return Ok(Arc::clone(mirror));
        }
        let access = MirrorAccess {
            web: with_retries(self.access.web.clone(), followed_retries(config)),
            downloads: with_retries(self.access.web.clone(), retries),
            tokens: Arc::clone(&self.access.tokens),
            timeout: timeout(config),
            checksums: if trusts_all { MirrorChecksums::OfAnyPlatform } else { MirrorChecksums::OfPlatform },
        };
        let mirror = Arc::new(NetworkMirrorSource::new(url, access)?);
        mirrors.insert(settings, Arc::clone(&mirror));
        Ok(mirror)
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

    /// What a host offers.
    ///
    /// # Errors
    /// If its discovery document cannot be read.
    pub async fn services(&self, host: &Hostname) -> Result<Services, DiscoveryError> {
        self.discovery.services(host).await
    }

    /// The registry that a host publishes as `modules.v1`.
    ///
    /// # Errors
    /// [`ModuleError::Failed`] if the host publishes no such registry, or one that must not be asked.
    pub async fn module_registry(&self, host: &Hostname) -> Result<ModuleRegistry, ModuleError> {
        let services = self.discovery.services(host).await?;
        let Some(base) = services.modules()? else {
            let (place, origin) = (tofu_oci_types::Place::from(host), services.origin());
            let failure = Failure::NoModuleService(match services.module_versions().as_slice() {
                [] => format!("{origin} names no service for modules"),
                others => format!("{origin} names {}, and modules.v1 is the version that is read", others.join(", ")),
            });
            return Err(ModuleError::Failed { place, failure });
        };
        self.discovery.admit(&services, &host_of(&base))?;
        Ok(ModuleRegistry::new(host.clone(), base, self.access.clone()))
    }

    /// Whether a module of one host may be asked for because a module of another host names it: the host is as far away or
    /// farther, or the user allows it.
    ///
    /// # Errors
    /// [`Failure::PrivateHost`].
    pub async fn admit_called(&self, caller: &Hostname, target: &Hostname) -> Result<(), DiscoveryError> {
        // A `host` block of the user says where the services are.
        if self.blocks.contains(target) {
            return Ok(());
        }
        self.admit_led(caller, target, target.as_str(), target.display()).await
    }

    /// The same of a provider. Under the magic suffix it is the registry that is asked, and no host of that name.
    ///
    /// # Errors
    /// [`Failure::PrivateHost`].
    pub async fn admit_required(&self, caller: &Hostname, provider: &ProviderAddr) -> Result<(), DiscoveryError> {
        let target = provider.hostname();
        match self.suffix.place(provider) {
            Ok(Some(place)) => {
                let registry = place.repository.registry();
                self.admit_led(caller, target, registry, registry.to_owned()).await
            }
            // Nothing is asked for an address without a repository.
            Ok(None) | Err(_) => self.admit_called(caller, target).await,
        }
    }

    /// Whether a module of `caller` may lead to the host `asked` of an address with the host `target`.
    async fn admit_led(
        &self,
        caller: &Hostname,
        target: &Hostname,
        asked: &str,
        shown: String,
    ) -> Result<(), DiscoveryError> {
        let web = &self.access.web;
        if let Ok(namer) = web.root(caller.as_str())
            && web.may_lead_to(&namer, asked).await
        {
            return Ok(());
        }
        let caller = caller.display();
        let problem = format!("a module of {caller} names {shown}, which is on this machine or in a private network");
        let failure = Failure::PrivateHost { host: shown, problem };
        Err(DiscoveryError { host: target.clone(), failure })
    }

    /// A package that a registry of modules has located.
    ///
    /// # Errors
    /// If the repository could not be read, or holds no module.
    pub async fn module_package(
        &self,
        location: &ModuleLocation,
        access: LocationAccess,
        git: Arc<dyn GitProgram>,
    ) -> Result<ModulePackage, ModuleError> {
        match location {
            ModuleLocation::Git(source, from) => {
                let place = Place::Host(host_of(from));
                let named = GitCheckout::named(source.clone(), git, self.access.web.clone(), from);
                let named = named.and_then(|checkout| checkout.with_access(access));
                named.map(ModulePackage::of_git).map_err(|fault| ModuleError::Git {
                    place,
                    repository: source.to_string(),
                    fault: GitFault::Location(fault),
                })
            }
            ModuleLocation::Archive(archive) => Ok(ModulePackage::of_archive(archive, &self.access.web)),
            ModuleLocation::Oci(source) => {
                let client = match access {
                    LocationAccess::User => Arc::clone(&self.client),
                    LocationAccess::Anonymous => self.client.anonymous(),
                };
                let store: Arc<dyn ReadStore> = Arc::new(client.store(source.repository().clone()));
                let (reference, subdir) = (source.reference(), source.subdir().clone());
                match ModulePackage::of_store(Arc::clone(&store), reference, subdir).await {
                    Err(ModuleError::Store(error)) if access == LocationAccess::Anonymous && is_refusal(&error) => {
                        Err(ModuleError::Located { place: store.place(), fault: LocationFault::Login })
                    }
                    // The registry has the module, so this is a fault of what it says.
                    Err(ModuleError::Store(error)) if access == LocationAccess::Anonymous && error.is_not_found() => {
                        let fault = LocationFault::Invalid { problem: "there is no such package".to_owned() };
                        Err(ModuleError::Located { place: store.place(), fault })
                    }
                    Err(error) => Err(error.or_why_missing(&*store, reference).await),
                    found => found,
                }
            }
        }
    }

    /// The package in a git repository that the user wrote, whose submodules are read with this access.
    pub fn git_package(
        &self,
        source: &GitModuleSource,
        git: Arc<dyn GitProgram>,
        submodules: LocationAccess,
    ) -> ModulePackage {
        ModulePackage::of_git(GitCheckout::written(source.clone(), git, self.access.web.clone(), submodules))
    }

    /// The registry that a host publishes as `providers.v1`, and its address; `None` if it publishes none that can be
    /// asked.
    pub async fn registry(&self, host: &Hostname) -> Option<(String, Arc<dyn Source>)> {
        let services = self.discovery.services(host).await.ok()?;
        let base = services.registry().ok()??;
        self.discovery.admit(&services, &host_of(&base)).ok()?;
        let address = shown_url(&base);
        Some((address, Arc::new(RegistrySource::new(host.clone(), base, self.access.clone()))))
    }
}

/// Whether a registry wants to know who asks.
fn is_refusal(error: &StoreError) -> bool {
    matches!(
        error,
        StoreError::Denied { .. }
            | StoreError::Unauthorized { .. }
            | StoreError::Forbidden { .. }
            | StoreError::NoToken { .. }
    )
}

/// A repository, with the cache of manifests if there is one.
fn cached(store: Arc<dyn ReadStore>, manifests: Option<&ManifestFiles>) -> Arc<dyn ReadStore> {
    match manifests {
        Some(files) => Arc::new(CachedStore::new(store, files.clone())),
        None => store,
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

/// The client that tries again so often, if that is said.
fn with_retries(web: WebClient, retries: Option<i64>) -> WebClient {
    match retries {
        Some(retries) => web.with_attempts(u32::try_from(retries).unwrap_or(0).saturating_add(1)),
        None => web,
    }
}

/// How often a document is asked for again, if the user has chosen another number than the usual one. That one is
/// OpenTofu's, which gives up where this program tries again.
fn followed_retries(config: &CliConfig) -> Option<i64> {
    let retries = config.registry_protocols.retry_count;
    (retries != RegistryProtocols::default().retry_count).then_some(retries)
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
