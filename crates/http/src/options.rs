//! How a client is to behave.

use std::fmt;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use tofu_oci_credentials::Credential;
use tofu_oci_types::RepositoryRef;

use crate::exchange::ExchangeObserver;
use crate::limits::Limits;
use crate::names::system_addresses;

/// What a [`crate::RegistryClient`] is made from.
#[derive(Clone)]
pub struct ClientOptions {
    /// The `User-Agent` of every request.
    pub user_agent: String,
    /// Certificates that are trusted beside the system's own, in PEM, one or more in each. The system's own are those
    /// of the platform, or of `SSL_CERT_FILE` and `SSL_CERT_DIR` where they are set.
    pub ca_certificates: Vec<Vec<u8>>,
    /// The certificate that the client shows, with its private key, in PEM.
    pub client_identity: Option<Vec<u8>>,
    /// Registries that are spoken to without TLS: `HOST` (any port) or `HOST:PORT`. A registry that speaks HTTPS may
    /// redirect requests for content of a known digest to these hosts; they carry no credential there.
    ///
    /// Loopback hosts need not be named: TLS is tried, and left away where the host does not speak it.
    pub plain_http: Vec<String>,
    /// Token servers that may be asked and told the registry's password, whatever their site or address: `HOST` (any
    /// port) or `HOST:PORT`. One that is asked over plain HTTP for a registry that speaks HTTPS must be in
    /// [`ClientOptions::plain_http`] too.
    pub token_hosts: Vec<String>,
    /// When a request is made again.
    pub retry: RetryPolicy,
    /// How long each wait may take.
    pub limits: Limits,
    /// The longest time that a registry may make one request wait with `Retry-After`, all its waits together.
    pub max_retry_after: Duration,
    /// Whether blobs may be sent in chunks.
    pub chunk: ChunkMode,
    /// Through which proxy requests go.
    pub proxies: Proxies,
    /// The clock that waits are made with; a test hands in one that does not wait.
    pub clock: Arc<dyn Clock>,
    /// Who knows the addresses of names; a test hands in a table.
    pub names: Arc<dyn Names>,
    /// Who is told how access came about.
    pub witness: Option<Arc<dyn ExchangeObserver>>,
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self {
            user_agent: concat!("tofu-oci/", env!("CARGO_PKG_VERSION")).to_owned(),
            ca_certificates: Vec::new(),
            client_identity: None,
            plain_http: Vec::new(),
            token_hosts: Vec::new(),
            retry: RetryPolicy::default(),
            limits: Limits::default(),
            max_retry_after: Duration::from_mins(2),
            chunk: ChunkMode::Fallback,
            proxies: Proxies::Environment,
            clock: Arc::new(SystemClock),
            names: Arc::new(SystemNames),
            witness: None,
        }
    }
}

impl fmt::Debug for ClientOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientOptions")
            .field("user_agent", &self.user_agent)
            .field("ca_certificates", &self.ca_certificates.len())
            .field("client_identity", &self.client_identity.is_some())
            .field("plain_http", &self.plain_http)
            .field("token_hosts", &self.token_hosts)
            .field("retry", &self.retry)
            .field("limits", &self.limits)
            .field("max_retry_after", &self.max_retry_after)
            .field("chunk", &self.chunk)
            .finish_non_exhaustive()
    }
}

/// When a request is made again: after a broken connection and after 408, 429 and 5xx, where that is safe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// How many times a request is made at most, the first one counted.
    pub attempts: u32,
    /// The upper bound of the first wait; that of each further one is twice as long. The wait is drawn evenly between
    /// half of the bound and the bound.
    pub base: Duration,
    /// The longest wait between two attempts.
    pub cap: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { attempts: 5, base: Duration::from_millis(500), cap: Duration::from_secs(30) }
    }
}

/// Whether a blob may be sent in chunks (`PATCH`). One `PUT` is what every registry takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunkMode {
    /// When the registry refuses the one `PUT` because of its length, or its connection has broken twice.
    Fallback,
    /// Never.
    Never,
    /// Always: for registries behind a proxy that cuts long requests silently.
    Always,
}

/// Through which proxy requests go. Loopback hosts are always reached directly.
#[derive(Clone, PartialEq, Eq)]
pub enum Proxies {
    /// Those that `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` name.
    Environment,
    /// None.
    Direct,
    /// This one, for everything. It may hold a password, so nothing prints it.
    Fixed(String),
}

impl fmt::Debug for Proxies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Environment => "Environment",
            Self::Direct => "Direct",
            Self::Fixed(_) => "Fixed(***)",
        })
    }
}

/// Time: what the clock says, and waiting.
#[async_trait]
pub trait Clock: Send + Sync {
    /// Now, for dates in `Retry-After`.
    fn now(&self) -> SystemTime;

    /// Comes back after this time.
    async fn sleep(&self, time: Duration);
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

#[async_trait]
impl Clock for SystemClock {
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    async fn sleep(&self, time: Duration) {
        tokio::time::sleep(time).await;
    }
}

/// The name service. Proxies look names up themselves.
#[async_trait]
pub trait Names: Send + Sync {
    /// The addresses of a name.
    ///
    /// # Errors
    /// When there is no such name, or no name service answers.
    async fn addresses(&self, name: &str) -> io::Result<Vec<IpAddr>>;
}

/// The system's.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemNames;

#[async_trait]
impl Names for SystemNames {
    async fn addresses(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        system_addresses(name).await
    }
}

/// Finds the credential of a repository. Asked once for each repository, and only when its registry wants one.
#[async_trait]
pub trait CredentialProvider: Send + Sync {
    /// The credential, or none when there is none: the registry is then asked anonymously.
    ///
    /// # Errors
    /// When a credential is configured and could not be had.
    async fn credential(&self, repository: &RepositoryRef) -> Result<Option<Credential>, CredentialFault>;
}

/// Why a credential that is configured could not be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CredentialFault {
    /// A stable kebab-case name, such as `helper-failed`.
    pub code: String,
    /// A sentence for people: lower case, no full stop, no secret.
    pub problem: String,
    /// What helps, where something is known to.
    pub hint: Option<String>,
}

/// Nobody: every request is anonymous.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoCredentials;

#[async_trait]
impl CredentialProvider for NoCredentials {
    async fn credential(&self, _repository: &RepositoryRef) -> Result<Option<Credential>, CredentialFault> {
        Ok(None)
    }
}
