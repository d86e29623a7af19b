//! How connections and requests are to behave.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::clock::{Clock, SystemClock};
use crate::limits::HttpLimits;
use crate::proxies::EnvironmentProxies;
use crate::resolver::{NameService, SystemNames};

/// What a [`crate::HttpClient`] is made from.
#[derive(Clone)]
pub struct HttpOptions {
    /// The `User-Agent` of every request.
    pub user_agent: String,
    /// Certificates that are trusted beside the system's own, in PEM, one or more in each. The system's own are those
    /// of the platform, or of `SSL_CERT_FILE` and `SSL_CERT_DIR` if they are set.
    pub ca_certificates: Vec<Vec<u8>>,
    /// The certificate that the client shows, with its private key, in PEM.
    pub client_identity: Option<Vec<u8>>,
    /// Hosts that are spoken to without TLS: `HOST` (any port) or `HOST:PORT`. A server that speaks HTTPS may redirect
    /// requests for content of a known digest to these hosts; such a request carries no credential.
    ///
    /// Registries on loopback hosts need not be named: plain HTTP is spoken if the host does not answer in TLS.
    pub plain_http: Vec<String>,
    /// Hosts that any host may name and redirect to, wherever they are: `HOST` (any port) or `HOST:PORT`.
    pub private_hosts: Vec<String>,
    /// When a request is made again.
    pub retry: RetryPolicy,
    /// How long each wait may take.
    pub limits: HttpLimits,
    /// The longest time that a server may make one request wait with `Retry-After`, all its waits together.
    pub max_retry_after: Duration,
    /// Through which proxy requests go.
    pub proxies: Proxies,
    /// The clock that waits are made with. Tests hand in one that does not wait.
    pub clock: Arc<dyn Clock>,
    /// What knows the addresses of names. Tests hand in a table.
    pub names: Arc<dyn NameService>,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            user_agent: concat!("tofu-oci/", env!("CARGO_PKG_VERSION")).to_owned(),
            ca_certificates: Vec::new(),
            client_identity: None,
            plain_http: Vec::new(),
            private_hosts: Vec::new(),
            retry: RetryPolicy::default(),
            limits: HttpLimits::default(),
            max_retry_after: Duration::from_mins(2),
            proxies: Proxies::Environment(EnvironmentProxies::default()),
            clock: Arc::new(SystemClock),
            names: Arc::new(SystemNames),
        }
    }
}

impl fmt::Debug for HttpOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpOptions")
            .field("user_agent", &self.user_agent)
            .field("ca_certificates", &self.ca_certificates.len())
            .field("client_identity", &self.client_identity.is_some())
            .field("plain_http", &self.plain_http)
            .field("private_hosts", &self.private_hosts)
            .field("retry", &self.retry)
            .field("limits", &self.limits)
            .field("max_retry_after", &self.max_retry_after)
            .finish_non_exhaustive()
    }
}

/// Why a client could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// A certificate that is trusted beside the system's cannot be read.
    #[error("a CA certificate is not usable: {problem}")]
    CaCertificate { problem: String },
    /// The client certificate or its key cannot be read.
    #[error("the client certificate is not usable: {problem}")]
    ClientIdentity { problem: String },
    /// What was given as a proxy is not an address.
    #[error("the proxy is not usable: {problem}")]
    Proxy { problem: String },
    /// TLS cannot be set up on this machine.
    #[error("TLS cannot be set up: {problem}")]
    Tls { problem: String },
}

/// When a request is made again: after a broken connection and after 408, 429 and 5xx, if that is safe.
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

/// Through which proxy requests go. Loopback hosts are always reached directly.
#[derive(Clone, PartialEq, Eq)]
pub enum Proxies {
    /// Those that the environment names.
    Environment(EnvironmentProxies),
    /// No proxy.
    Direct,
    /// This proxy, for everything. It may hold a password, so nothing prints it.
    Fixed(String),
}

impl fmt::Debug for Proxies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Environment(_) => "Environment",
            Self::Direct => "Direct",
            Self::Fixed(_) => "Fixed(***)",
        })
    }
}
