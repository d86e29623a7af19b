//! The connections: to the outside, perhaps through a proxy, and to this machine, never through one.
//!
//! HTTP/1.1 only: one connection per parallel transfer is faster for large bodies than streams of one HTTP/2 connection.

use std::sync::{Arc, OnceLock};

use reqwest::redirect::Policy;
use reqwest::{Client, Proxy, Request, Response};
use url::Url;

use crate::address_scope::AddressScope;
use crate::ahead::Shelf;
use crate::options::{ClientError, HttpOptions, Proxies};
use crate::problem::NetworkProblem;
use crate::redirect::is_loopback;
use crate::resolver::{ASKED_HOST, Resolver, key};
use crate::tls::{Roots, tls};

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
    /// Trusts what the options name, and no certificate of the system.
    bare: Client,
    /// By how near the hosts may be, the nearest last. Each is made when it is first needed, as the other two are: a run that
    /// asks no host does not read the system's certificates.
    outside: [OnceLock<Client>; 3],
    local: OnceLock<Client>,
    /// To this machine without TLS: no certificate is looked at.
    local_plain: OnceLock<Client>,
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
        let bare = build(options, resolver, &shelf, Roots::Given)?;
        let [local, local_plain] = Default::default();
        Ok(Self { bare, outside: Default::default(), local, local_plain, options: options.clone(), shelf })
    }

    /// Why no request can be sent to an address: the environment names a proxy that cannot be used.
    pub(crate) fn unsupported_proxy(&self, url: &Url) -> Option<String> {
        match &self.options.proxies {
            Proxies::Environment(proxies) => proxies.unsupported_for(url),
            Proxies::Direct | Proxies::Fixed(_) => None,
        }
    }

    /// Sends a request to a host that is no nearer than this, and waits for the head of its answer.
    pub(crate) async fn execute(
        &self,
        request: Request,
        nearest: AddressScope,
        resolver: &Resolver,
    ) -> Result<Response, reqwest::Error> {
        let client = self.to(request.url(), nearest, resolver);
        if nearest == AddressScope::Machine {
            return Shelf::execute(client, request).await;
        }
        let host = key(request.url().host_str().unwrap_or_default());
        ASKED_HOST.scope(host, client.execute(request)).await
    }

    /// Makes connections to the host of an address, for requests that will come soon. It does not wait for them.
    pub(crate) fn make_ahead(&self, url: &Url, count: usize, resolver: &Resolver) {
        if self.unsupported_proxy(url).is_none() {
            self.shelf.make(self.to(url, AddressScope::Machine, resolver), url, count);
        }
    }

    /// Forgets those connections: no request will need them.
    pub(crate) fn forget_ahead(&self, url: &Url) {
        self.shelf.clear(url);
    }

    /// The connections to the host of an address, which is no nearer than this.
    fn to(&self, url: &Url, nearest: AddressScope, resolver: &Resolver) -> &Client {
        let resolver = &resolver.within(nearest);
        let given = |options: &HttpOptions| {
            build(options, resolver, &self.shelf, Roots::Given).unwrap_or_else(|_| self.bare.clone())
        };
        let with_system = |options: &HttpOptions| {
            // A machine without certificates (a bare container) still reaches plain hosts and those of `--ca-file`.
            build(options, resolver, &self.shelf, Roots::AndSystem).unwrap_or_else(|_| given(options))
        };
        if !is_loopback(url) || self.options.proxies == Proxies::Direct {
            return self.outside[nearest as usize].get_or_init(|| with_system(&self.options));
        }
        let options = HttpOptions { proxies: Proxies::Direct, ..self.options.clone() };
        match url.scheme() {
            "http" => self.local_plain.get_or_init(|| given(&options)),
            _ => self.local.get_or_init(|| with_system(&options)),
        }
    }
}

fn build(options: &HttpOptions, resolver: &Resolver, shelf: &Shelf, roots: Roots) -> Result<Client, ClientError> {
    let mut builder = Client::builder()
        .user_agent(&options.user_agent)
        .http1_only()
        .redirect(Policy::none())
        .referer(false)
        .retry(reqwest::retry::never())
        .connect_timeout(options.limits.connect)
        .dns_resolver(Arc::new(resolver.clone()))
        .connector_layer(shelf.clone())
        .tcp_nodelay(true)
        .tls_backend_preconfigured(tls(options, roots)?);
    #[cfg(target_os = "linux")]
    {
        // The table of limits decides how long a host may take nothing, not the kernel.
        builder = builder.tcp_user_timeout(None);
    }
    builder = match &options.proxies {
        Proxies::Environment(proxies) => {
            let proxies = proxies.clone();
            builder.proxy(Proxy::custom(move |url| proxies.proxy_for(url)))
        }
        Proxies::Direct => builder.no_proxy(),
        Proxies::Fixed(address) => {
            let proxy = Proxy::all(address.as_str())
                .map_err(|_| ClientError::Proxy { problem: "what was given is not an address".to_owned() })?;
            builder.proxy(proxy)
        }
    };
    builder.build().map_err(|error| ClientError::Tls { problem: NetworkProblem::of(error, options.clock.now()).text })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connections(options: &HttpOptions) -> Result<Connections, ClientError> {
        let resolver = Resolver::new(Arc::clone(&options.names));
        Connections::new(options, &resolver)
    }

    #[test]
    fn the_systems_certificates_are_read_for_a_request_that_needs_them_and_not_before() {
        let connections = connections(&HttpOptions::default()).unwrap();
        let resolver = Resolver::new(Arc::clone(&connections.options.names));
        connections.to(&"http://127.0.0.1:5000/".parse().unwrap(), AddressScope::Machine, &resolver);
        assert!(connections.local_plain.get().is_some());
        assert!(connections.outside.iter().all(|client| client.get().is_none()) && connections.local.get().is_none());
        connections.to(&"https://127.0.0.1:5000/".parse().unwrap(), AddressScope::Machine, &resolver);
        assert!(connections.outside.iter().all(|client| client.get().is_none()) && connections.local.get().is_some());
        connections.to(&"https://registry.example.com/".parse().unwrap(), AddressScope::Machine, &resolver);
        assert!(connections.outside[AddressScope::Machine as usize].get().is_some());
    }

    #[test]
    fn a_connection_was_made_ahead_past_a_proxy_that_is_not_supported() {
        let variable = |name: &str| (name == "HTTPS_PROXY").then(|| "ftp://proxy.example".to_owned());
        let proxies = Proxies::Environment(crate::proxies::EnvironmentProxies::read(variable));
        let connections = connections(&HttpOptions { proxies, ..HttpOptions::default() }).unwrap();
        let resolver = Resolver::new(Arc::clone(&connections.options.names));
        connections.make_ahead(&"https://registry.example.com/".parse().unwrap(), 1, &resolver);
        assert!(connections.outside.iter().all(|client| client.get().is_none()));
    }

    #[test]
    fn what_the_options_name_is_refused_at_once() {
        let damaged = b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".to_vec();
        let options = HttpOptions { ca_certificates: vec![damaged], ..HttpOptions::default() };
        assert!(matches!(connections(&options), Err(ClientError::CaCertificate { .. })));
        let options = HttpOptions { client_identity: Some(b"no PEM".to_vec()), ..HttpOptions::default() };
        assert!(matches!(connections(&options), Err(ClientError::ClientIdentity { .. })));
        let options = HttpOptions { proxies: Proxies::Fixed("no address".to_owned()), ..HttpOptions::default() };
        assert!(matches!(connections(&options), Err(ClientError::Proxy { .. })));
    }
}
