//! TLS, and hosts of this machine that do not speak it.

use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use tofu_oci_remote::{ClientOptions, NoCredentials};
use tofu_oci_store::{NetworkFault, ReadStore as _, StoreError};

use crate::server::{Server, reply};
use crate::support::{Bench, bench, bench_with, blob};

struct Authority {
    pem: Vec<u8>,
    issuer: CertifiedIssuer<'static, KeyPair>,
}

fn authority() -> Authority {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    Authority { pem: issuer.pem().into_bytes(), issuer }
}

impl Authority {
    /// A certificate for 127.0.0.1 and its key, in PEM.
    fn issue(&self) -> (rcgen::Certificate, KeyPair) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
        (params.signed_by(&key, &self.issuer).unwrap(), key)
    }

    fn server(&self, clients: Option<&Self>) -> Server {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = rustls::ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .unwrap();
        let builder = match clients {
            None => builder.with_no_client_auth(),
            Some(authority) => {
                let mut roots = rustls::RootCertStore::empty();
                roots.add(authority.issuer.der().clone()).unwrap();
                let verifier = rustls::server::WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
                    .build()
                    .unwrap();
                builder.with_client_cert_verifier(verifier)
            }
        };
        let (certificate, key) = self.issue();
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let config = builder.with_single_cert(vec![certificate.der().clone()], key).unwrap();
        Server::with_tls(Some(Arc::new(config)), |_, _| reply(200))
    }
}

fn trusting(authority: &Authority, identity: Option<Vec<u8>>) -> Bench {
    let ca_certificates = vec![authority.pem.clone()];
    let options = ClientOptions { ca_certificates, client_identity: identity, ..ClientOptions::default() };
    bench_with(options, Arc::new(NoCredentials))
}

#[tokio::test]
async fn a_loopback_host_that_speaks_tls_is_asked_over_tls() {
    let authority = authority();
    let server = authority.server(None);
    assert!(trusting(&authority, None).store(&server).exists(&blob(b"x")).await.unwrap());
}

#[tokio::test]
async fn a_certificate_that_is_not_trusted_is_an_error_and_never_plain_http() {
    let server = authority().server(None);
    let bench = bench();
    let error = bench.store(&server).exists(&blob(b"x")).await.unwrap_err();
    assert!(
        matches!(&error, StoreError::Unreachable { problem, fault: NetworkFault::Tls, .. } if problem.contains("certificate")),
        "{error}"
    );
    assert!(server.requests().is_empty());
    assert_eq!(bench.retries(), 0, "it will not be trusted the next time");
}

#[tokio::test]
async fn a_loopback_host_that_does_not_speak_tls_is_asked_plainly() {
    let server = Server::start(|_, _| reply(200));
    let bench = bench();
    for _ in 0..2 {
        assert!(bench.store(&server).exists(&blob(b"x")).await.unwrap());
    }
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn a_host_that_was_named_so_is_asked_plainly() {
    let server = Server::start(|_, _| reply(200));
    let options = ClientOptions { plain_http: vec![server.host()], ..ClientOptions::default() };
    assert!(bench_with(options, Arc::new(NoCredentials)).store(&server).exists(&blob(b"x")).await.unwrap());
}

#[tokio::test]
async fn a_client_certificate_is_shown() {
    let (authority, clients) = (authority(), authority());
    let server = authority.server(Some(&clients));
    assert!(trusting(&authority, None).store(&server).exists(&blob(b"x")).await.is_err());
    let (certificate, key) = clients.issue();
    let identity = format!("{}{}", certificate.pem(), key.serialize_pem()).into_bytes();
    assert!(trusting(&authority, Some(identity)).store(&server).exists(&blob(b"x")).await.unwrap());
}

#[tokio::test]
async fn options_that_are_not_usable_are_said_so() {
    let check = |options: ClientOptions, want: &str| {
        let reporter = Arc::new(tofu_oci_types::NoReporter);
        let error = tofu_oci_remote::RegistryClient::new(options, Arc::new(NoCredentials), reporter).map(|_| ());
        assert_eq!(error.unwrap_err().to_string(), want);
    };
    check(
        ClientOptions { ca_certificates: vec![b"nothing".to_vec()], ..ClientOptions::default() },
        "a CA certificate is not usable: the file holds no PEM certificate",
    );
    check(
        ClientOptions { client_identity: Some(b"nothing".to_vec()), ..ClientOptions::default() },
        "the client certificate is not usable: it must hold a certificate and its private key in PEM",
    );
}

#[tokio::test]
async fn a_redirect_from_https_to_plain_http_is_refused() {
    let plain = Server::start(|_, _| reply(200).body("x"));
    let authority = authority();
    let target = format!("http://{}/o", plain.host());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let (certificate, key) = authority.issue();
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], PrivateKeyDer::try_from(key.serialize_der()).unwrap())
        .unwrap();
    let server = Server::with_tls(Some(Arc::new(config)), move |_, _| reply(307).header("location", target.clone()));
    let got = trusting(&authority, None).store(&server).fetch(&blob(b"x")).await.map(|_| ());
    assert!(matches!(got, Err(StoreError::Forbidden { .. })), "{got:?}");
    assert!(plain.requests().is_empty());
}
