//! Documents of any kind, over HTTPS or plain HTTP.

use std::sync::{Arc, Mutex};

use crate::certificates::{Certificates, ClientCertificate};
use crate::fault::{Answer, Computed, Fault, Rule, RuleList};
use crate::log::{Log, LoggedRequest};
use crate::registry::content::RegistryContent;
use crate::registry::endpoint::{Endpoint, Role};
use crate::registry::server::{ServerThread, bind};
use crate::registry::{Auth, AuthState, Behaviour};

/// A server on 127.0.0.1 that answers as its rules say, and 404 to everything else.
#[derive(Debug)]
pub struct WebServer {
    endpoint: Arc<Endpoint>,
    certificates: Option<Certificates>,
    _server: ServerThread,
}

impl WebServer {
    /// One that speaks TLS, with a certificate of a new authority for these names beside `localhost` and `127.0.0.1`.
    pub fn start(names: &[&str]) -> Self {
        Self::with_certificates(&Certificates::for_names(names))
    }

    /// One with this certificate, so that several servers can be trusted by one authority.
    pub fn with_certificates(certificates: &Certificates) -> Self {
        Self::answering(certificates, no_pages())
    }

    /// One whose pages are what the closure answers, as far as no rule does.
    pub fn answering(certificates: &Certificates, pages: Computed) -> Self {
        Self::with(Some(certificates.clone()), pages)
    }

    /// One that speaks plain HTTP.
    pub fn plain() -> Self {
        Self::with(None, no_pages())
    }

    fn with(certificates: Option<Certificates>, pages: Computed) -> Self {
        let (socket, address) = bind();
        let scheme = if certificates.is_some() { "https" } else { "http" };
        let endpoint = Arc::new(Endpoint {
            role: Role::Web(pages),
            origin: format!("{scheme}://{address}"),
            content: RegistryContent::default(),
            behaviour: Arc::new(Mutex::new(Behaviour::default())),
            auth: Arc::new(AuthState::new(Auth::None, String::new())),
            log: Log::default(),
            rules: RuleList::default(),
        });
        let tls = certificates.as_ref().map(|made| made.server_config(ClientCertificate::NotAsked));
        let server = ServerThread::start(vec![(socket, Arc::clone(&endpoint))], tls.as_ref());
        Self { endpoint, certificates, _server: server }
    }

    /// `127.0.0.1:PORT`.
    pub fn address(&self) -> &str {
        self.endpoint.origin.split_once("://").map_or("", |(_, address)| address)
    }

    /// `https://127.0.0.1:PORT`, or with `http:`.
    pub fn origin(&self) -> &str {
        &self.endpoint.origin
    }

    /// The certificate of the authority, in PEM; `None` for a server without TLS.
    pub fn ca_pem(&self) -> Option<&str> {
        self.certificates.as_ref().map(Certificates::ca_pem)
    }

    /// Gives this answer at this path (`*` is any characters). The first matching rule counts.
    pub fn page(&self, path: &str, answer: Answer) {
        self.fault(Rule::on("*", path).then(Fault::Answer(answer)));
    }

    /// Gives this answer there from now on, whatever an earlier page is.
    pub fn page_instead(&self, path: &str, answer: Answer) {
        self.endpoint.rules.add_first(Rule::on("*", path).then(Fault::Answer(answer)));
    }

    /// Adds a rule after the present ones.
    pub fn fault(&self, rule: Rule) {
        self.endpoint.rules.add(rule);
    }

    /// Removes all rules and pages.
    pub fn clear(&self) {
        self.endpoint.rules.clear();
    }

    /// Everything that has arrived, in order.
    pub fn requests(&self) -> Vec<LoggedRequest> {
        self.endpoint.log.requests()
    }
}

fn no_pages() -> Computed {
    Computed::new(|_, _| Answer::not_found())
}
