//! Names of ends become stores.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use tofu_oci_disk::Waiter;
use tofu_oci_http::{ClientError, HostTokens, HttpClient, HttpLimits, HttpOptions, Proxies};
use tofu_oci_logins::{Access, CredentialResolver, HostMachine, HostTokenResolver, LastingCredentials, ReadLogins};
use tofu_oci_remote::{ClientOptions, CredentialProvider, ExchangeObserver, RegistryClient};
use tofu_oci_source::GitProgram;
use tofu_oci_store::{DirStore, MemoryStore, ReadStore, Store};
use tofu_oci_types::{NoReporter, Reporter};

use crate::args::{Network, Timeout};
use crate::diagnostic::Diagnostic;
use crate::ends::End;
use crate::environment::{ReadConfig, RealFiles};
use crate::exit::Exit;
use crate::git_program::RealGit;
use crate::helper_program::{NoHelpers, RealMachine};
use crate::proxies;

/// The resolver of this run, once it has been read. It explains errors about access.
pub(crate) type ResolverSlot = Arc<OnceLock<Arc<CredentialResolver>>>;

/// Opens ends. One client speaks to every registry of this run. Clones share what they have opened.
#[derive(Clone)]
pub(crate) struct Connector {
    network: Network,
    access: Access,
    machine: Arc<dyn HostMachine>,
    waiter: Waiter,
    reporter: Arc<dyn Reporter>,
    resolver: ResolverSlot,
    client: OnceLock<Arc<RegistryClient>>,
    config: OnceLock<ReadConfig>,
    logins: LoginReading,
}

/// How often logins are read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LoginReading {
    Once,
    /// Again and again, since they change during the run.
    Lasting,
}

impl Connector {
    /// Reads nothing and asks nothing before an end is opened.
    pub(crate) fn new(
        network: &Network,
        access: Access,
        waiter: Waiter,
        reporter: Arc<dyn Reporter>,
        resolver: ResolverSlot,
    ) -> Self {
        let network = network.clone();
        let machine = Arc::new(RealMachine(network.timeout));
        let (client, config, logins) = (OnceLock::new(), OnceLock::new(), LoginReading::Once);
        Self { network, access, machine, waiter, reporter, resolver, client, config, logins }
    }

    /// Who this run is to registries.
    pub(crate) fn access(&self) -> &Access {
        &self.access
    }

    /// The program that fetches from git repositories.
    pub(crate) fn git(&self) -> Arc<dyn GitProgram> {
        Arc::new(RealGit(self.network.timeout))
    }

    /// The CLI configuration, read once a run: where providers are, and who registries are shown.
    pub(crate) fn config(&self, chdir: Option<&Path>) -> Result<&ReadConfig, Diagnostic> {
        if let Some(config) = self.config.get() {
            return Ok(config);
        }
        let config = ReadConfig::read(chdir)?;
        Ok(self.config.get_or_init(|| config))
    }

    /// The same with a CLI configuration that has been read.
    pub(crate) fn with_config(self, config: ReadConfig) -> Self {
        Self { config: config.into(), ..self }
    }

    /// The same, without credentials.
    pub(crate) fn anonymous(self) -> Self {
        Self { access: Access::Anonymous, ..self }
    }

    /// The same without credential helpers, which may ask the user questions.
    pub(crate) fn without_helpers(self) -> Self {
        Self { machine: Arc::new(NoHelpers(RealMachine(self.network.timeout))), ..self }
    }

    /// The same for a process that outlives logins: it reads them again and again.
    pub(crate) fn lasting(self) -> Self {
        Self { logins: LoginReading::Lasting, ..self }
    }

    /// Opens an end to read from it.
    pub(crate) fn source(&self, end: &End) -> Result<Arc<dyn ReadStore>, Diagnostic> {
        Ok(match end {
            End::Registry(repository) => Arc::new(self.client()?.store(repository.clone())),
            End::Layout(dir) => Arc::new(DirStore::open(dir)?),
        })
    }

    /// Opens an end to look what would be written there. A dry run does not create a missing directory.
    pub(crate) fn preview(&self, end: &End) -> Result<Arc<dyn ReadStore>, Diagnostic> {
        match end {
            End::Layout(dir) if !dir.exists() => Ok(Arc::new(MemoryStore::new(end.place()))),
            _ => self.source(end),
        }
    }

    /// Opens an end to write to it. The first write makes a missing directory.
    pub(crate) fn destination(&self, end: &End) -> Result<Arc<dyn Store>, Diagnostic> {
        Ok(match end {
            End::Registry(repository) => Arc::new(self.client()?.store(repository.clone())),
            End::Layout(dir) => {
                Arc::new(DirStore::create_on_write(dir)?.waiting(self.waiter.clone(), Arc::clone(&self.reporter)))
            }
        })
    }

    /// The tokens of origin registries and network mirrors. The arguments that say who asks leave no place for them.
    pub(crate) fn host_tokens(&self) -> Result<Arc<dyn HostTokens>, Diagnostic> {
        let Access::Ambient { chdir } = &self.access else { return Ok(Arc::new(BTreeMap::new())) };
        let ReadConfig { environment, reading } = self.config(chdir.as_deref())?;
        let (machine, reporter) = (Arc::clone(&self.machine), Arc::clone(&self.reporter));
        Ok(Arc::new(HostTokenResolver::new(machine, environment, &RealFiles, reading, reporter)))
    }

    /// How this run waits for folders that other programs write, and who hears of it.
    pub(crate) fn waiting(&self) -> (Waiter, Arc<dyn Reporter>) {
        (self.waiter.clone(), Arc::clone(&self.reporter))
    }

    /// The one client of this run. Credentials are read now, and asked for when a registry demands them.
    pub(crate) fn client(&self) -> Result<Arc<RegistryClient>, Diagnostic> {
        if let Some(client) = self.client.get() {
            return Ok(Arc::clone(client));
        }
        let resolver = Arc::new(CredentialResolver::by(&self.machine, &self.access, |chdir| {
            let ReadConfig { environment, reading } = self.config(chdir)?;
            CredentialResolver::read(&self.machine, environment, reading)
                .strict(self.reporter.as_ref())
                .map_err(|refusal| Diagnostic::from(&refusal))
        })?);
        let resolver = Arc::clone(self.resolver.get_or_init(|| resolver));
        let credentials: Arc<dyn CredentialProvider> = match self.logins {
            LoginReading::Once => resolver,
            LoginReading::Lasting => {
                Arc::new(LastingCredentials::new(resolver, self.read_logins(), Arc::clone(&self.reporter)))
            }
        };
        let client = client(&self.network, credentials, None, &self.reporter)?;
        Ok(Arc::clone(self.client.get_or_init(|| client)))
    }
    /// Reads the user's files once more. The first reading has reported their warnings.
    fn read_logins(&self) -> ReadLogins {
        let (machine, access) = (Arc::clone(&self.machine), self.access.clone());
        Box::new(move || {
            let read = |chdir: Option<&Path>| {
                let ReadConfig { environment, reading } = ReadConfig::read(chdir)?;
                let resolver = CredentialResolver::read(&machine, &environment, &reading);
                resolver.strict(&NoReporter).map_err(|refusal| Diagnostic::from(&refusal))
            };
            CredentialResolver::by(&machine, &access, read).map_err(|diagnostic| diagnostic.text().to_owned())
        })
    }
}

/// The user's credentials, whatever is wrong with the files.
pub(crate) fn user_credentials(config: &ReadConfig, timeout: Timeout) -> CredentialResolver {
    let machine: Arc<dyn HostMachine> = Arc::new(RealMachine(timeout));
    CredentialResolver::read(&machine, &config.environment, &config.reading)
}

/// The user's tokens for origin registries and network mirrors.
pub(crate) fn user_tokens(config: &ReadConfig, timeout: Timeout, reporter: &Arc<dyn Reporter>) -> HostTokenResolver {
    let machine: Arc<dyn HostMachine> = Arc::new(RealMachine(timeout));
    HostTokenResolver::new(machine, &config.environment, &RealFiles, &config.reading, Arc::clone(reporter))
}

/// A client of one's own.
pub(crate) fn client(
    network: &Network,
    credentials: Arc<dyn CredentialProvider>,
    observer: Option<Arc<dyn ExchangeObserver>>,
    reporter: &Arc<dyn Reporter>,
) -> Result<Arc<RegistryClient>, Diagnostic> {
    let mut http = HttpOptions { proxies: Proxies::Environment(proxies::by_environment()), ..HttpOptions::default() };
    for file in &network.ca_file {
        http.ca_certificates.push(read(file)?);
    }
    if let Some(certificate) = &network.client_cert {
        let mut identity = read(certificate)?;
        if let Some(key) = &network.client_key {
            identity.push(b'\n');
            identity.extend(read(key)?);
        }
        http.client_identity = Some(identity);
    }
    http.plain_http.clone_from(&network.plain_http);
    http.private_hosts.clone_from(&network.private_host);
    http.retry.attempts = network.attempts;
    http.max_retry_after = network.max_wait.0;
    http.limits = HttpLimits::within(network.timeout.0);
    let options = ClientOptions { http, token_hosts: network.token_host.clone(), observer, ..ClientOptions::default() };
    RegistryClient::new(options, credentials, Arc::clone(reporter)).map_err(|error| {
        let diagnostic = match unusable(network, &error) {
            Some(text) => Diagnostic::usage(text),
            None => Diagnostic::of(Exit::Usage, &error),
        };
        match error {
            ClientError::ClientIdentity { problem } if !problem.contains("PEM") => diagnostic,
            _ => diagnostic.hint("--ca-file, --client-cert and --client-key take PEM files"),
        }
    })
}

/// What is wrong with which file, if it is one of the options.
fn unusable(network: &Network, error: &ClientError) -> Option<String> {
    match error {
        ClientError::CaCertificate { .. } => network.ca_file.iter().find_map(|file| {
            let options = HttpOptions { ca_certificates: vec![read(file).ok()?], ..HttpOptions::default() };
            match HttpClient::new(options, Arc::new(NoReporter)).err()? {
                ClientError::CaCertificate { problem } => Some(format!("{} cannot be used: {problem}", file.display())),
                _ => None,
            }
        }),
        ClientError::ClientIdentity { problem } => {
            let files: Vec<_> =
                network.client_cert.iter().chain(&network.client_key).map(|file| file.display().to_string()).collect();
            Some(format!("{} cannot be used: {problem}", files.join(" with ")))
        }
        _ => None,
    }
}

fn read(file: &Path) -> Result<Vec<u8>, Diagnostic> {
    /// No certificates of a system are larger.
    const LIMIT: u64 = 16 << 20;
    tofu_oci_disk::read_file(file, LIMIT).map_err(|error| {
        Diagnostic::usage(format!("cannot read {}: {error}", file.display()))
            .hint("--ca-file, --client-cert and --client-key name PEM files")
    })
}
