//! The connections: to the outside, perhaps through a proxy, and to this machine, never through one.
//!
//! HTTP/1.1 only: one connection per parallel transfer is faster for large bodies than streams of one HTTP/2 connection.

use std::sync::{Arc, OnceLock};

use reqwest::redirect::Policy;
use reqwest::{Certificate, Client, ClientBuilder, Identity, Proxy, Request, Response};
use url::Url;

use crate::ahead::Shelf;
use crate::options::{HttpOptions, Proxies};
use crate::problem::NetworkProblem;
use crate::redirect::is_loopback;
use crate::resolver::Resolver;

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
    /// What was given as a proxy is not an address.
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

/// An exchange without an answer.
#[derive(Debug)]
pub struct NoAnswer {
    /// What kept the answer from coming.
    pub problem: NetworkProblem,
    /// Whether the next attempt would end alike: a certificate that is not trusted, a port of this machine where no
    /// program listens.
    pub lasting: bool,
}

pub(crate) struct Connections {
    outside: Client,
    /// Made when it is first needed: reading the system's certificates takes its time.
    local: OnceLock<Client>,
    options: HttpOptions,
    shelf: Shelf,
}

impl Connections {
    pub(crate) fn new(options: &HttpOptions, resolver: &Resolver) -> Result<Self, ClientError> {
        if rustls::crypto::CryptoProvider::get_default().is_none() {
            // If another thread is faster, its provider is used.
            let _ = rustls::crypto::ring::default_provider().install_default();
        }
        let shelf = Shelf::default();
        let outside = build(options, resolver, &shelf)?;
        Ok(Self { outside, local: OnceLock::new(), options: options.clone(), shelf })
    }

    /// Sends a request and waits for the head of its answer.
    pub(crate) async fn execute(&self, request: Request, resolver: &Resolver) -> Result<Response, reqwest::Error> {
        Shelf::execute(self.to(request.url(), resolver), request).await
    }

    /// Makes connections to the host of an address, for requests that will come soon. It does not wait for them.
    pub(crate) fn make_ahead(&self, url: &Url, count: usize, resolver: &Resolver) {
        self.shelf.make(self.to(url, resolver), url, count);
    }

    /// Forgets those connections: no request will need them.
    pub(crate) fn forget_ahead(&self, url: &Url) {
        self.shelf.clear(url);
    }

    /// The connections to the host of an address.
    fn to(&self, url: &Url, resolver: &Resolver) -> &Client {
        if !is_loopback(url) || self.options.proxies == Proxies::Direct {
            return &self.outside;
        }
        self.local.get_or_init(|| {
            let direct = HttpOptions { proxies: Proxies::Direct, ..self.options.clone() };
            // The same options have made a client before. If the system fails now, that client is used.
            build(&direct, resolver, &self.shelf).unwrap_or_else(|_| self.outside.clone())
        })
    }
}

fn build(options: &HttpOptions, resolver: &Resolver, shelf: &Shelf) -> Result<Client, ClientError> {
    let certificates = certificates(options)?;
    let identity = identity(options)?;
    let builder = || -> Result<ClientBuilder, ClientError> {
        let mut builder = Client::builder()
            .user_agent(&options.user_agent)
            .http1_only()
            .redirect(Policy::none())
            .referer(false)
            .retry(reqwest::retry::never())
            .connect_timeout(options.limits.connect)
            .dns_resolver(Arc::new(resolver.clone()))
            .connector_layer(shelf.clone())
            .tcp_nodelay(true);
        #[cfg(target_os = "linux")]
        {
            // The table of limits decides how long a host may take nothing, not the kernel.
            builder = builder.tcp_user_timeout(None);
        }
        if let Some(identity) = &identity {
            builder = builder.identity(identity.clone());
        }
        Ok(match &options.proxies {
            Proxies::Environment => builder,
            Proxies::Direct => builder.no_proxy(),
            Proxies::Fixed(address) => {
                let proxy = Proxy::all(address.as_str())
                    .map_err(|_| ClientError::Proxy { problem: "what was given is not an address".to_owned() })?;
                builder.proxy(proxy)
            }
        })
    };
    let problem = match builder()?.tls_certs_merge(certificates.clone()).build() {
        Ok(client) => return Ok(client),
        Err(error) => NetworkProblem::of(error, options.clock.now()).text,
    };
    // A machine without system roots (a bare container) still reaches plain hosts and those of `--ca-file`.
    builder()?.tls_certs_only(certificates.clone()).build().map_err(|_| {
        if certificates.is_empty() { ClientError::Tls { problem } } else { ClientError::CaCertificate { problem } }
    })
}

fn certificates(options: &HttpOptions) -> Result<Vec<Certificate>, ClientError> {
    let mut all = Vec::new();
    for pem in &options.ca_certificates {
        let invalid = |problem: String| ClientError::CaCertificate { problem };
        let some = Certificate::from_pem_bundle(pem)
            .map_err(|error| invalid(NetworkProblem::of(error, options.clock.now()).text))?;
        if some.is_empty() {
            return Err(invalid("the file holds no PEM certificate".to_owned()));
        }
        all.extend(some);
    }
    Ok(all)
}

fn identity(options: &HttpOptions) -> Result<Option<Identity>, ClientError> {
    let Some(pem) = &options.client_identity else { return Ok(None) };
    let identity = Identity::from_pem(pem).map_err(|_| ClientError::ClientIdentity {
        problem: "it must hold a certificate and its private key in PEM".to_owned(),
    })?;
    Ok(Some(identity))
}
