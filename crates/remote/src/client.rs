//! What all repositories share.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use tofu_oci_credentials::Credential;
use tofu_oci_http::{ClientError, HttpClient};
use tofu_oci_types::Reporter;
use tokio::sync::Semaphore;

use crate::authority::{Authorizer, CredentialSource};
use crate::credential::CredentialProvider;
use crate::hosts::Hosts;
use crate::network::RegistryNetwork;
use crate::options::{ChunkMode, ClientOptions};
use crate::referrer_list::ReferrerLists;

/// How many large blobs may come before anyone reads them: what is not read fills buffers on the way.
const LARGE_AHEAD: usize = 2;

/// Connections, tokens, and what was learned about registries: one for a whole run.
pub struct RegistryClient {
    pub(crate) network: RegistryNetwork,
    pub(crate) chunk: ChunkMode,
    pub(crate) authority: Authorizer,
    /// Warnings that have been passed on.
    pub(crate) warnings: Mutex<HashSet<String>>,
    /// Registries that have shown that they have no referrers API.
    pub(crate) no_referrers: Mutex<HashSet<String>>,
    /// The tags that list referrers in place of that API and were written.
    pub(crate) lists: Mutex<ReferrerLists>,
    /// Turns of large blobs that come before anyone reads them.
    pub(crate) large_ahead: Arc<Semaphore>,
}

impl RegistryClient {
    /// A client that has made no request yet.
    ///
    /// # Errors
    /// If a certificate, an identity or a proxy cannot be used.
    pub fn new(
        options: ClientOptions,
        credentials: Arc<dyn CredentialProvider>,
        reporter: Arc<dyn Reporter>,
    ) -> Result<Arc<Self>, ClientError> {
        let hosts = Arc::new(Hosts::new(&options.http.plain_http, &options.token_hosts));
        let network =
            RegistryNetwork { http: HttpClient::new(options.http, reporter)?, hosts, observer: options.observer };
        Ok(Arc::new(Self::over(network, options.chunk, CredentialSource::Provider(credentials))))
    }

    /// The same connections with this credential, or without any, before anything was learned about access.
    pub(crate) fn with_credential(&self, credential: Option<Credential>) -> Arc<Self> {
        Arc::new(Self::over(self.network.clone(), self.chunk, CredentialSource::Given(credential)))
    }

    /// The same connections, and no registry is shown a credential.
    #[must_use]
    pub fn anonymous(&self) -> Arc<Self> {
        self.with_credential(None)
    }

    /// The connections, for requests that are not a registry's.
    pub fn http(&self) -> &Arc<HttpClient> {
        &self.network.http
    }

    fn over(network: RegistryNetwork, chunk: ChunkMode, source: CredentialSource) -> Self {
        Self {
            network,
            chunk,
            authority: Authorizer::new(source),
            warnings: Mutex::default(),
            no_referrers: Mutex::default(),
            lists: Mutex::default(),
            large_ahead: Arc::new(Semaphore::new(LARGE_AHEAD)),
        }
    }
}
