//! What all repositories share.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use tofu_oci_credentials::Credential;
use tofu_oci_types::{Reporter, RepositoryRef};

use crate::authority::{Authority, Source};
use crate::exchange::ExchangeObserver;
use crate::hosts::Hosts;
use crate::http::Http;
use crate::options::{ClientOptions, CredentialProvider};
use crate::secret_scrubber::SecretScrubber;
use crate::standing_in::Lists;
use crate::store::RemoteStore;

/// Why a client could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// A certificate that is trusted beside the system's cannot be read.
    #[error("a CA certificate is not usable: {problem}")]
    CaCertificate {
        /// What is wrong with it.
        problem: String,
    },
    /// The client certificate or its key cannot be read.
    #[error("the client certificate is not usable: {problem}")]
    ClientIdentity {
        /// What is wrong with it.
        problem: String,
    },
    /// The proxy's address is none.
    #[error("the proxy is not usable: {problem}")]
    Proxy {
        /// What is wrong with it.
        problem: String,
    },
    /// TLS cannot be set up on this machine.
    #[error("TLS cannot be set up: {problem}")]
    Tls {
        /// What is wrong.
        problem: String,
    },
}

/// Connections, tokens, and what was learned about hosts: one for a whole run.
pub struct RegistryClient {
    pub(crate) options: ClientOptions,
    pub(crate) reporter: Arc<dyn Reporter>,
    pub(crate) http: Arc<Http>,
    pub(crate) hosts: Hosts,
    pub(crate) authority: Authority,
    /// Warnings that have been passed on.
    pub(crate) warnings: Mutex<HashSet<String>>,
    /// Secrets that were sent.
    pub(crate) told: Arc<SecretScrubber>,
    /// Registries that have shown that they have no referrers API.
    pub(crate) no_referrers: Mutex<HashSet<String>>,
    /// The tags that stand in for that API and were written.
    pub(crate) lists: Mutex<Lists>,
}

impl RegistryClient {
    /// A client that has not spoken to anybody yet.
    pub fn new(
        options: ClientOptions,
        credentials: Arc<dyn CredentialProvider>,
        reporter: Arc<dyn Reporter>,
    ) -> Result<Arc<Self>, ClientError> {
        Ok(Arc::new(Self {
            http: Arc::new(Http::new(&options)?),
            hosts: Hosts::new(&options.plain_http, &options.token_hosts),
            authority: Authority::new(Source::Provider(credentials)),
            warnings: Mutex::default(),
            told: Arc::default(),
            no_referrers: Mutex::default(),
            lists: Mutex::default(),
            options,
            reporter,
        }))
    }

    /// The same connections with this credential, or none, and nothing learned about who is let in.
    pub(crate) fn with_credential(
        &self,
        credential: Option<Credential>,
        witness: Option<Arc<dyn ExchangeObserver>>,
    ) -> Arc<Self> {
        Arc::new(Self {
            http: Arc::clone(&self.http),
            hosts: Hosts::new(&self.options.plain_http, &self.options.token_hosts),
            authority: Authority::new(Source::Given(credential)),
            warnings: Mutex::default(),
            told: Arc::clone(&self.told),
            no_referrers: Mutex::default(),
            lists: Mutex::default(),
            options: ClientOptions { witness, ..self.options.clone() },
            reporter: Arc::clone(&self.reporter),
        })
    }

    /// One repository as a store. Nothing is asked of the registry yet.
    pub fn store(self: &Arc<Self>, repository: RepositoryRef) -> RemoteStore {
        RemoteStore::new(Arc::clone(self), repository)
    }
}
