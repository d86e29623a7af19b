//! Names of ends become stores.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use tofu_oci_disk::Waiter;
use tofu_oci_http::{ClientError, HostTokens, HttpClient, HttpLimits, HttpOptions};
use tofu_oci_logins::{Access, CredentialResolver, HostMachine, HostTokenResolver};
use tofu_oci_mapper::RepositoryTemplate;
use tofu_oci_remote::{ClientOptions, CredentialProvider, ExchangeObserver, RegistryClient};
use tofu_oci_store::{DirStore, ReadStore, Store};
use tofu_oci_types::{NoReporter, Place, ProviderAddr, ReleaseName, Reporter, RepositoryRef};

use crate::args::{Network, Timeout};
use crate::diagnostic::Diagnostic;
use crate::environment::{ReadConfig, RealFiles};
use crate::exit::Exit;
use crate::helper_program::{NoHelpers, RealMachine};
use crate::invocation;

/// One end, as people name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// A repository of a registry.
    Registry(RepositoryRef),
    /// An OCI image layout directory.
    Layout(PathBuf),
}

impl End {
    /// Reads `REGISTRY/REPOSITORY` or `oci:DIR`.
    pub(crate) fn parse(text: &str) -> Result<Self, Diagnostic> {
        if let Some(rest) = without_scheme(text) {
            return Err(scheme_given(text, rest));
        }
        if let Some(dir) = text.strip_prefix("oci:") {
            if dir.is_empty() {
                return Err(Diagnostic::usage("`oci:` names no directory").hint("write it as oci:DIR"));
            }
            return Ok(Self::Layout(PathBuf::from(dir)));
        }
        text.parse().map(Self::Registry).map_err(|error| {
            let diagnostic = Diagnostic::of(Exit::Usage, &error);
            let plain = text.trim().trim_end_matches('/').to_lowercase();
            if plain != text && plain.parse::<RepositoryRef>().is_ok() {
                return diagnostic.hint(format!("write {plain}"));
            }
            if Path::new(text).is_dir() || text.starts_with(['.', '/']) {
                return diagnostic.hint(format!("a directory is written oci:{text}"));
            }
            if let Some((repository, _)) = text.rsplit_once(':')
                && repository.parse::<RepositoryRef>().is_ok()
            {
                return diagnostic
                    .hint(format!("name the repository alone, {repository}{}", invocation::and_the_version()));
            }
            let diagnostic =
                diagnostic.hint("write REGISTRY/REPOSITORY, such as ghcr.io/acme/opentofu-provider-widget, or oci:DIR");
            // What double quotes leave of `…/${namespace}/${type}` and `…-${type}`.
            if text.contains("//") || text.ends_with(['-', '_', '.']) {
                return diagnostic.hint("quote a template with ' for your shell: 'ghcr.io/acme/${type}'");
            }
            diagnostic
        })
    }
}

/// What follows the scheme of a repository that is written as an address of the web or of a module: `https://ghcr.io/x`,
/// `oci://ghcr.io/x`. `oci:///srv/x` is `oci:` and a path.
fn without_scheme(text: &str) -> Option<&str> {
    let (scheme, rest) = text.strip_prefix("oci::").unwrap_or(text).split_once("://")?;
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.chars().all(|one| one.is_ascii_alphanumeric() || "+-.".contains(one));
    (is_scheme && !rest.starts_with('/')).then_some(rest)
}

/// A repository that is written with a scheme. `rest` is what follows it.
fn scheme_given(text: &str, rest: &str) -> Diagnostic {
    let diagnostic = match text.parse::<RepositoryRef>() {
        Err(error) => Diagnostic::of(Exit::Usage, &error),
        Ok(repository) => Diagnostic::usage(format!("`{repository}` is written with a scheme")),
    };
    let rest = rest.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    let (host, path) = rest.split_once('/').unwrap_or((rest, "REPOSITORY"));
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let is_template = text.contains("${") || text.contains("%{");
    let without = format!("{host}/{path}");
    let is_version = matches!(without.parse(), Ok(ReleaseName::Repository { .. }));
    let name = path.rsplit_once(':').filter(|(name, _)| !is_template && !name.is_empty()).map(|(name, _)| name);
    let diagnostic = match name {
        Some(name) if !is_version => {
            diagnostic.hint(format!("drop the scheme and name the repository alone: {host}/{name}"))
        }
        _ => diagnostic.hint(format!("drop the scheme: {}", invocation::quoted(&without))),
    };
    match text.strip_prefix("oci:").filter(|dir| Path::new(dir).is_dir()) {
        Some(dir) => diagnostic.hint(format!("the directory is written oci:/{}", dir.trim_start_matches('/'))),
        None => diagnostic,
    }
}

impl End {
    /// Where it is.
    pub(crate) fn place(&self) -> Place {
        match self {
            Self::Registry(repository) => Place::Registry(repository.clone()),
            Self::Layout(dir) => Place::Layout(dir.clone()),
        }
    }
}

impl std::fmt::Display for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.place().fmt(f)
    }
}

/// The resolver of this run, once it has been read; what an error about access is explained with.
pub(crate) type ResolverSlot = Arc<OnceLock<Arc<CredentialResolver>>>;

/// Opens ends; every registry is spoken to by the one client of this run.
pub(crate) struct Connector {
    network: Network,
    access: Access,
    machine: Arc<dyn HostMachine>,
    waiter: Waiter,
    reporter: Arc<dyn Reporter>,
    resolver: ResolverSlot,
    client: OnceLock<Arc<RegistryClient>>,
    config: OnceLock<ReadConfig>,
}

impl Connector {
    /// Nothing is read and nothing is asked before an end is opened.
    pub(crate) fn new(
        network: &Network,
        access: Access,
        waiter: Waiter,
        reporter: Arc<dyn Reporter>,
        resolver: ResolverSlot,
    ) -> Self {
        let network = network.clone();
        let machine = Arc::new(RealMachine(network.timeout));
        Self { network, access, machine, waiter, reporter, resolver, client: OnceLock::new(), config: OnceLock::new() }
    }

    /// Who this run is to registries.
    pub(crate) fn access(&self) -> &Access {
        &self.access
    }

    /// The CLI configuration, read once a run: where providers are, and who registries are shown.
    ///
    /// # Errors
    /// When the current directory is gone.
    pub(crate) fn config(&self, chdir: Option<&Path>) -> Result<&ReadConfig, Diagnostic> {
        if let Some(config) = self.config.get() {
            return Ok(config);
        }
        let config = ReadConfig::read(chdir)?;
        Ok(self.config.get_or_init(|| config))
    }

    /// The same, and nobody is shown anything.
    pub(crate) fn anonymous(self) -> Self {
        Self { access: Access::Anonymous, ..self }
    }

    /// The same without credential helpers, which may ask the user something.
    pub(crate) fn without_helpers(self) -> Self {
        Self { machine: Arc::new(NoHelpers(RealMachine(self.network.timeout))), ..self }
    }

    /// Opens an end to read from it.
    pub(crate) fn source(&self, end: &End) -> Result<Arc<dyn ReadStore>, Diagnostic> {
        Ok(match end {
            End::Registry(repository) => Arc::new(self.client()?.store(repository.clone())),
            End::Layout(dir) => Arc::new(DirStore::open(dir)?),
        })
    }

    /// Opens an end to write to it; a directory that is missing is made by the first write.
    pub(crate) fn destination(&self, end: &End) -> Result<Arc<dyn Store>, Diagnostic> {
        Ok(match end {
            End::Registry(repository) => Arc::new(self.client()?.store(repository.clone())),
            End::Layout(dir) => {
                Arc::new(DirStore::create_on_write(dir)?.waiting(self.waiter.clone(), Arc::clone(&self.reporter)))
            }
        })
    }

    /// The tokens of origin registries and network mirrors. The arguments that say who asks leave no place for them.
    ///
    /// # Errors
    /// When the current directory is gone.
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
    ///
    /// # Errors
    /// When a certificate cannot be read or used, and when the user's files are wrong about credentials.
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
        let client = client(&self.network, resolver, None, &self.reporter)?;
        Ok(Arc::clone(self.client.get_or_init(|| client)))
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
///
/// # Errors
/// When a certificate cannot be read or used.
pub(crate) fn client(
    network: &Network,
    credentials: Arc<dyn CredentialProvider>,
    observer: Option<Arc<dyn ExchangeObserver>>,
    reporter: &Arc<dyn Reporter>,
) -> Result<Arc<RegistryClient>, Diagnostic> {
    let mut http = HttpOptions::default();
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
    http.retry.attempts = network.attempts;
    http.max_retry_after = network.max_wait.0;
    http.limits = HttpLimits::within(network.timeout.0);
    let options = ClientOptions { http, token_hosts: network.token_host.clone(), observer, ..ClientOptions::default() };
    RegistryClient::new(options, credentials, Arc::clone(reporter)).map_err(|error| {
        let diagnostic = match unusable(network, &error) {
            Some(text) => Diagnostic::usage(text),
            None => Diagnostic::of(Exit::Usage, &error),
        };
        diagnostic.hint("--ca-file, --client-cert and --client-key take PEM files")
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

/// Where `--from` says that providers are: one end, or one for each address by a template.
#[derive(Clone, Debug)]
pub(crate) enum From {
    /// One end for whatever is asked for.
    One(End),
    /// A template for registries.
    Repositories(RepositoryTemplate),
    /// A template for OCI image layout directories.
    Layouts(RepositoryTemplate),
}

impl From {
    /// Reads `--from`.
    pub(crate) fn parse(text: &str) -> Result<Self, Diagnostic> {
        if !text.contains("${") && !text.contains("%{") {
            return End::parse(text).map(Self::One);
        }
        if let Some(rest) = without_scheme(text) {
            return Err(scheme_given(text, rest));
        }
        let template = |text: &str| {
            text.parse::<RepositoryTemplate>().map_err(|error| {
                Diagnostic::of(Exit::Usage, &error)
                    .code(error.code())
                    .hint(error.instead())
                    .hint("quote the template for your shell: it would take ${…} for a variable of its own")
            })
        };
        match text.strip_prefix("oci:") {
            Some(dir) => RepositoryTemplate::parse_loose(dir)
                .map(Self::Layouts)
                .map_err(|error| Diagnostic::of(Exit::Usage, &error).code(error.code()).hint(error.instead())),
            None => template(text).map(Self::Repositories),
        }
    }

    /// The end for an address.
    pub(crate) fn end(&self, address: &ProviderAddr) -> Result<End, Diagnostic> {
        match self {
            Self::One(end) => Ok(end.clone()),
            Self::Repositories(template) => {
                let place = template
                    .place(address)
                    .map_err(|error| Diagnostic::of(Exit::Fixable, &error).code(error.code()))?;
                Ok(End::Registry(place.repository))
            }
            Self::Layouts(template) => {
                let dir = template
                    .render(address)
                    .map_err(|error| Diagnostic::of(Exit::Fixable, &error).code(error.code()))?;
                Ok(End::Layout(PathBuf::from(dir)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_refused(text: &str, exit: Exit) {
        let diagnostic = End::parse(text).expect_err("must be refused");
        assert_eq!(diagnostic.exit(), exit, "{text}");
    }

    #[test]
    fn an_end_is_a_repository_or_a_directory() {
        let registry = "127.0.0.1:5000/acme/widget".parse().map(End::Registry);
        assert_eq!(End::parse("127.0.0.1:5000/acme/widget").ok(), registry.ok());
        assert_eq!(End::parse("oci:a/b").ok(), Some(End::Layout(PathBuf::from("a/b"))));
        check_refused("oci:", Exit::Usage);
        check_refused("./folder", Exit::Usage);
        check_refused("https://ghcr.io/acme/widget", Exit::Usage);
        check_refused("ghcr.io/acme/widget:1.0.0", Exit::Usage);
    }

    #[track_caller]
    fn check_hint(text: &str, want: &str) {
        let diagnostic = match From::parse(text) {
            Ok(from) => panic!("{text} is taken for {from:?}"),
            Err(diagnostic) => diagnostic,
        };
        assert!(diagnostic.hints().iter().any(|hint| hint == want), "{text}: {:?}", diagnostic.hints());
        assert!(diagnostic.text().contains("without a scheme"), "{text}: {}", diagnostic.text());
    }

    #[test]
    fn a_repository_with_a_scheme_is_never_taken_for_a_directory() {
        check_hint("oci://ghcr.io/acme/widget", "drop the scheme: ghcr.io/acme/widget");
        check_hint("https://ghcr.io/acme/widget/", "drop the scheme: ghcr.io/acme/widget");
        check_hint("http://127.0.0.1:5000/acme/widget", "drop the scheme: 127.0.0.1:5000/acme/widget");
        check_hint("OCI://ghcr.io/acme/widget", "drop the scheme: ghcr.io/acme/widget");
        check_hint("docker://ghcr.io/acme/widget?x=1", "drop the scheme: ghcr.io/acme/widget");
        check_hint("oci::oci://ghcr.io/acme/widget", "drop the scheme: ghcr.io/acme/widget");
        check_hint("oci://ada:SECRET@ghcr.io/acme/widget", "drop the scheme: ghcr.io/acme/widget");
        check_hint("oci://ghcr.io", "drop the scheme: ghcr.io/REPOSITORY");
        check_hint("oci://ghcr.io/acme/widget:1.4.0", "drop the scheme: ghcr.io/acme/widget:1.4.0");
        check_hint(
            "oci://ghcr.io/acme/widget:latest",
            "drop the scheme and name the repository alone: ghcr.io/acme/widget",
        );
        check_hint("oci://ghcr.io/${namespace}/${type}", "drop the scheme: 'ghcr.io/${namespace}/${type}'");
        check_hint("https://ghcr.io/${namespace}/${type}", "drop the scheme: 'ghcr.io/${namespace}/${type}'");
    }

    #[test]
    fn a_path_with_several_slashes_is_a_directory() {
        assert_eq!(End::parse("oci:///srv/x").ok(), Some(End::Layout(PathBuf::from("///srv/x"))));
        assert_eq!(End::parse("oci:/srv/x").ok(), Some(End::Layout(PathBuf::from("/srv/x"))));
        assert_eq!(End::parse("oci:a://b").ok(), Some(End::Layout(PathBuf::from("a://b"))));
    }
}
