//! The settings as values, and what holds if a setting is omitted.

use std::net::SocketAddr;
use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

use tofu_oci_fetch::RenamedReleases;
use tofu_oci_mirror::{AttestationTemplate, DenyRule, MinAge, MirroredAddress, UpstreamUse, VersionRule};
use tofu_oci_types::{Hostname, ModuleAddr, ModulePattern, Pattern, Predecessor, Predecessors, ProviderAddr, Scheme};

use super::address_range::AddressRange;
use crate::catalog::served_by::most_specific;
use crate::{BaseUrl, ClientRule, LinkOptions, ModuleLocations, ZipDelivery};

/// What is served, to whom and how.
#[derive(Clone, Debug)]
pub struct BridgeConfig {
    /// Where connections are accepted; at least one address.
    pub listen: Vec<SocketAddr>,
    /// Where `/metrics` is answered to everyone; without it, nowhere.
    pub listen_metrics: Option<SocketAddr>,
    /// What clients write; `None` for what `listen` says.
    pub url: Option<BaseUrl>,
    /// The hostnames whose providers and modules the registry protocols offer here.
    pub hosts: Vec<Hostname>,
    /// Which checksums the network mirror lists, the first one first.
    pub hashes: Vec<Scheme>,
    /// The bridge's own OpenPGP key, relative to the file.
    pub signing_key: Option<PathBuf>,
    /// Whether clients are sent to the registry for archives.
    pub delivery: ZipDelivery,
    /// Whether upstreams may be asked.
    pub upstreams: UpstreamUse,
    /// The trust policy, relative to the file.
    pub trust: Option<PathBuf>,
    /// Hosts whose addresses count as those of another host.
    pub predecessors: Vec<Predecessor>,
    /// The certificate; without it connections are in clear text.
    pub tls: Option<TlsFiles>,
    /// Whether clear text may leave this machine.
    pub plain_http: bool,
    /// The proxies in front of the bridge: what they say about their clients counts.
    pub proxies: Vec<AddressRange>,
    /// Where the line of each request goes.
    pub access_log: AccessLog,
    /// How long requests may take to finish after the bridge was stopped.
    pub grace: Duration,
    /// The providers that are served, in the order of the file.
    pub providers: Vec<ServedProviders>,
    /// The modules that are served, in the order of the file.
    pub modules: Vec<ServedModules>,
    /// Who may ask; empty for everyone.
    pub clients: Vec<ClientRule>,
    /// The links of archives, if clients are listed.
    pub links: LinkSettings,
    /// What one client may take.
    pub limits: ServerLimits,
    pub cache: CacheSettings,
}

/// The PEM files of a certificate, relative to the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate, then those that signed it.
    pub certificate: PathBuf,
    pub key: PathBuf,
}

/// Where the line of each request goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum AccessLog {
    #[default]
    Stdout,
    /// To the end of a file, relative to the file of the settings.
    File(PathBuf),
    Off,
}

/// A place as it is written, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenPlace {
    /// What `--from` takes; for an upstream also `direct`.
    pub text: String,
    /// Its place in the text of the file, in bytes.
    pub span: Range<usize>,
}

/// Providers, and the place that has them.
#[derive(Clone, Debug)]
pub struct ServedProviders {
    /// The providers; at least one pattern.
    pub include: Vec<Pattern>,
    /// Those of them that are not served.
    pub exclude: Vec<Pattern>,
    pub from: WrittenPlace,
    /// What the place lacks is fetched by these rules, if there are any.
    pub pull: Option<PullRules>,
    /// What becomes of its releases that say another address.
    pub renamed: RenamedReleases,
}

/// Modules, and the repositories that have them.
#[derive(Clone, Debug)]
pub struct ServedModules {
    /// The modules; at least one pattern.
    pub include: Vec<ModulePattern>,
    /// Those of them that are not served.
    pub exclude: Vec<ModulePattern>,
    /// The template of the repositories, or `oci:DIR`.
    pub from: WrittenPlace,
    /// What the repositories lack is fetched by these rules, if there are any.
    pub pull: Option<PullRules<ModuleAddr>>,
    /// Where `OpenTofu` fetches them.
    pub locations: ModuleLocations,
    /// What becomes of its packages that say another address.
    pub renamed: RenamedReleases,
}

/// What a place may fetch from its upstream.
#[derive(Clone, Debug)]
pub struct PullRules<A: MirroredAddress = ProviderAddr> {
    /// The upstreams, in order; at least one.
    pub upstream: Vec<WrittenPlace>,
    /// How long a version must have been seen.
    pub min_age: MinAge,
    /// If there are any, only what one of them allows may be fetched.
    pub allow: Vec<VersionRule<A>>,
    /// What one of them denies is never fetched.
    pub deny: Vec<DenyRule<A>>,
    /// Where attestations of what is fetched are, relative to the file. Modules have none.
    pub attestations: Option<AttestationTemplate>,
}

/// The links of archives and checksums, which carry their own permission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkSettings {
    /// How long a link is good.
    pub lifetime: Duration,
    /// A file with a secret that all instances share, relative to the file; without it the clients' tokens decide.
    pub secret: Option<PathBuf>,
}

/// What clients may take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerLimits {
    /// Open connections; more of them wait.
    pub connections: usize,
    /// Open connections of one address: one more ends one without a request, or waits. Proxies may have any number.
    pub connections_per_address: usize,
    /// Requests in a second by one client, of which the next wait; `None` for any number.
    pub requests_per_second: Option<u32>,
    /// The bytes of one request's line and headers, at least 8 KiB.
    pub header_bytes: usize,
    /// How long the headers of a request may take.
    pub header_timeout: Duration,
    /// How long a connection may wait for its next request.
    pub idle_timeout: Duration,
    /// How long a client may take no byte of its answer.
    pub write_timeout: Duration,
    /// Requests of one HTTP/2 connection at a time.
    pub streams: u32,
}

/// What is kept, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheSettings {
    /// The folder of the zips that are made here, relative to the file; `None` for one in the user's cache.
    pub dir: Option<PathBuf>,
    /// How many bytes it holds.
    pub size: u64,
    /// How long lists and releases are not asked for again.
    pub metadata: Duration,
}

impl Default for LinkSettings {
    fn default() -> Self {
        Self { lifetime: LinkOptions::default().lifetime, secret: None }
    }
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            connections: 1024,
            connections_per_address: 512,
            requests_per_second: None,
            header_bytes: 32 << 10,
            header_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_mins(1),
            write_timeout: Duration::from_mins(1),
            streams: 128,
        }
    }
}

impl Default for CacheSettings {
    fn default() -> Self {
        Self { dir: None, size: 10_000_000_000, metadata: Duration::from_mins(1) }
    }
}

impl BridgeConfig {
    /// How long requests may take to finish after the bridge was stopped.
    pub const DEFAULT_GRACE: Duration = Duration::from_secs(30);

    /// Where connections are accepted if neither the file nor an option says it.
    pub const DEFAULT_LISTEN: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 8080);

    /// These providers for everyone of this machine, with every setting as it is if omitted.
    pub fn serving(providers: Vec<ServedProviders>) -> Self {
        Self {
            listen: vec![Self::DEFAULT_LISTEN],
            listen_metrics: None,
            url: None,
            hosts: Vec::new(),
            hashes: vec![Scheme::Zh],
            signing_key: None,
            delivery: ZipDelivery::PassedOn,
            upstreams: UpstreamUse::Asked,
            trust: None,
            predecessors: Vec::new(),
            tls: None,
            plain_http: false,
            proxies: Vec::new(),
            access_log: AccessLog::default(),
            grace: Self::DEFAULT_GRACE,
            providers,
            modules: Vec::new(),
            clients: Vec::new(),
            links: LinkSettings::default(),
            limits: ServerLimits::default(),
            cache: CacheSettings::default(),
        }
    }

    /// Whether a provider of this host may be served.
    pub fn has_providers_of(&self, host: &Hostname) -> bool {
        let is_included = |pattern: &Pattern| pattern.hostname().is_none_or(|named| named == host);
        self.providers.iter().flat_map(|served| &served.include).any(is_included)
    }

    /// Whether a module of this host may be served.
    pub fn has_modules_of(&self, host: &Hostname) -> bool {
        let is_included = |pattern: &ModulePattern| pattern.hostname().is_none_or(|named| named == host);
        self.modules.iter().flat_map(|served| &served.include).any(is_included)
    }

    /// Which of its places a provider is served from, by number.
    pub fn provider_place(&self, predecessors: &Predecessors, address: &ProviderAddr) -> Option<usize> {
        let patterns = self.providers.iter().map(|served| (&*served.include, &*served.exclude));
        most_specific(patterns, &predecessors.names(address), Pattern::matches, Pattern::covers)
    }

    /// Which of its places a module is served from, by number.
    pub fn module_place(&self, predecessors: &Predecessors, address: &ModuleAddr) -> Option<usize> {
        let patterns = self.modules.iter().map(|served| (&*served.include, &*served.exclude));
        most_specific(patterns, &predecessors.module_names(address), ModulePattern::matches, ModulePattern::covers)
    }

    /// Which addresses count as one.
    pub fn all_predecessors(&self) -> Predecessors {
        self.predecessors.iter().cloned().collect()
    }

    /// What clients write, if the bridge listens at this address. An address that means every one of this machine
    /// becomes `localhost`.
    pub fn base_url(&self, bound: SocketAddr) -> BaseUrl {
        if let Some(url) = &self.url {
            return url.clone();
        }
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        let text = match bound {
            any if any.ip().is_unspecified() => format!("{scheme}://localhost:{}/", any.port()),
            one => format!("{scheme}://{one}/"),
        };
        text.parse().expect("a scheme, an address and a port are a URL")
    }
}
