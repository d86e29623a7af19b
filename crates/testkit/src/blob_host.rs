//! "The other host" of cloud registries: another origin for blobs that refuses registry credentials.

use std::sync::Arc;

use crate::certificates::ClientCertificate;
use crate::fault::{Rule, RuleList};
use crate::log::{Log, LoggedRequest};
use crate::registry::endpoint::{Endpoint, Role};
use crate::registry::server::{ServerThread, bind};
use crate::registry::{Auth, AuthState, Registry};

/// A second origin over the content of a registry.
///
/// It serves `/signed` followed by the registry's own path, reading and uploading, without credentials, and answers
/// 400 when a request carries `Authorization`, as object stores do. Like the registry it speaks TLS or plain HTTP.
#[derive(Debug)]
pub struct BlobHost {
    endpoint: Arc<Endpoint>,
    _server: ServerThread,
}

impl BlobHost {
    /// Starts one beside the registry, with the registry's certificate and behaviour.
    pub fn start(registry: &Registry) -> Self {
        let (socket, address) = bind();
        let scheme = if registry.certificates().is_some() { "https" } else { "http" };
        let of_registry = registry.endpoint();
        let endpoint = Arc::new(Endpoint {
            role: Role::BlobHost,
            origin: format!("{scheme}://{address}"),
            content: of_registry.content.clone(),
            behaviour: Arc::clone(&of_registry.behaviour),
            auth: Arc::new(AuthState::new(Auth::None, String::new())),
            log: Log::default(),
            rules: RuleList::default(),
        });
        let tls = registry.certificates().map(|made| made.server_config(ClientCertificate::NotAsked));
        let server = ServerThread::start(vec![(socket, Arc::clone(&endpoint))], tls.as_ref());
        Self { endpoint, _server: server }
    }

    /// `127.0.0.1:PORT`.
    pub fn address(&self) -> &str {
        self.endpoint.origin.split_once("://").map_or("", |(_, address)| address)
    }

    /// What a redirect puts before the registry's path.
    pub fn signed_prefix(&self) -> String {
        format!("{}/signed", self.endpoint.origin)
    }

    /// Everything that has arrived, in order.
    pub fn requests(&self) -> Vec<LoggedRequest> {
        self.endpoint.log.requests()
    }

    /// Adds a rule after the present ones.
    pub fn fault(&self, rule: Rule) {
        self.endpoint.rules.add(rule);
    }
}
