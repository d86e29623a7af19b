//! Servers for one program on this machine, with a certificate that exists as long as they do.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tofu_oci_types::Reporter;

use crate::issued::{DAY, IssuedCertificate};
use crate::{AccessLogger, ServeError, Server, ServerCertificates, ServerLimits, ServerOptions};

/// A certificate authority that has signed one certificate, for 127.0.0.1 and `localhost`, and has then forgotten its
/// own key.
pub struct Loopback {
    authority: String,
    certificates: Arc<ServerCertificates>,
}

impl Loopback {
    /// A new authority. Its certificates are valid for eight days.
    ///
    /// # Errors
    /// If the machine has no randomness for keys.
    pub fn new() -> io::Result<Self> {
        let names = ["127.0.0.1".to_owned(), "localhost".to_owned()];
        let issued = IssuedCertificate::new("tofu-oci run", &names, 8)?;
        let certificates = ServerCertificates::of_pem(issued.certificate.as_bytes(), issued.key.as_bytes());
        let certificates = Arc::new(certificates.map_err(io::Error::other)?);
        Ok(Self { authority: issued.authority, certificates })
    }

    /// The certificate of the authority, as PEM: clients that trust it trust the servers.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// A server at a free port of this machine.
    ///
    /// # Errors
    /// If the machine has no free port.
    pub async fn bind(&self, reporter: Arc<dyn Reporter>) -> Result<Server, ServeError> {
        Server::bind(ServerOptions {
            listen: vec![SocketAddr::from((Ipv4Addr::LOCALHOST, 0))],
            listen_metrics: None,
            certificates: Some(Arc::clone(&self.certificates)),
            // The program may be suspended, and this process with it.
            limits: ServerLimits { write_timeout: DAY, ..ServerLimits::default() },
            proxies: Vec::new(),
            grace: Duration::ZERO,
            log: AccessLogger::off(),
            reporter,
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::routing::get;
    use tofu_oci_types::NoReporter;

    use super::*;
    use crate::counts::Counts;
    use crate::{BaseUrl, ServedSite};

    #[tokio::test]
    async fn only_clients_that_trust_the_authority_reach_the_server() {
        let loopback = Loopback::new().unwrap();
        let server = loopback.bind(Arc::new(NoReporter)).await.unwrap();
        let base: BaseUrl = format!("https://{}/", server.addresses()[0]).parse().unwrap();
        let url = base.join("hello");
        let router = Router::new().route("/hello", get(|| async { "hello" }));
        let (client, counts) = (Arc::new(|_: &_| None), Counts::default());
        let site = ServedSite { router, base, client, counts, kept_bytes: Arc::new(|| 0) };
        let server = tokio::spawn(server.serve(site, std::future::pending()));
        let _ = rustls::crypto::ring::default_provider().install_default();
        let trusting = reqwest::Certificate::from_pem(loopback.authority().as_bytes()).unwrap();
        let client = reqwest::Client::builder().tls_certs_only([trusting]).no_proxy().build().unwrap();
        assert_eq!(client.get(&url).send().await.unwrap().text().await.unwrap(), "hello");
        let other = Loopback::new().unwrap();
        let stranger = reqwest::Certificate::from_pem(other.authority().as_bytes()).unwrap();
        let client = reqwest::Client::builder().tls_certs_only([stranger]).no_proxy().build().unwrap();
        assert!(client.get(&url).send().await.unwrap_err().is_connect());
        server.abort();
    }
}
