//! TLS, and hosts of this machine that do not speak it.

use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, ExtendedKeyUsagePurpose as Purpose, IsCa, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use tofu_oci_credentials::Credential;
use tofu_oci_http::HttpOptions;
use tofu_oci_remote::NoCredentials;
use tofu_oci_store::{AccessFault, ReadStore as _, Store as _, StoreError};
use tofu_oci_types::NetworkFault;

use crate::server::{Server, reply};
use crate::support::{Bench, Fixed, bench, bench_with, blob, read};

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
        let (certificate, key) = self.issue();
        server(&certificate, &key, clients)
    }
}

fn server(certificate: &rcgen::Certificate, key: &KeyPair, clients: Option<&Authority>) -> Server {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .unwrap();
    let builder = match clients {
        None => builder.with_no_client_auth(),
        Some(authority) => {
            let mut roots = rustls::RootCertStore::empty();
            roots.add(authority.issuer.der().clone()).unwrap();
            let verifier =
                rustls::server::WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build().unwrap();
            builder.with_client_cert_verifier(verifier)
        }
    };
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let config = builder.with_single_cert(vec![certificate.der().clone()], key).unwrap();
    Server::with_tls(Some(Arc::new(config)), |_, _| reply(200))
}

fn trusting(authority: &Authority, identity: Option<Vec<u8>>) -> Bench {
    let ca_certificates = vec![authority.pem.clone()];
    let options = HttpOptions { ca_certificates, client_identity: identity, ..HttpOptions::default() };
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
        matches!(&error, StoreError::Unreachable { problem, fault: NetworkFault::Certificate, .. } if problem.contains("certificate")),
        "{error}"
    );
    assert!(server.requests().is_empty());
    assert_eq!(bench.retries(), 0, "it will not be trusted the next time");
}

/// A certificate of its own authority for these names.
fn self_signed(names: &[&str], change: impl Fn(&mut CertificateParams)) -> (rcgen::Certificate, KeyPair) {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(names.iter().map(ToString::to_string).collect::<Vec<_>>()).unwrap();
    change(&mut params);
    (params.self_signed(&key).unwrap(), key)
}

/// What a client says that trusts this certificate and meets a server with it.
async fn met(certificate: &rcgen::Certificate, key: &KeyPair) -> Result<bool, StoreError> {
    let options = HttpOptions { ca_certificates: vec![certificate.pem().into_bytes()], ..HttpOptions::default() };
    bench_with(options, Arc::new(NoCredentials)).store(&server(certificate, key, None)).exists(&blob(b"x")).await
}

#[tokio::test]
async fn a_trusted_certificate_that_the_server_shows_itself_was_refused() {
    // As `openssl req -x509` makes it.
    let authority = |params: &mut CertificateParams| params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let (certificate, key) = self_signed(&["127.0.0.1"], authority);
    assert!(met(&certificate, &key).await.unwrap());
    let (certificate, key) = self_signed(&["127.0.0.1"], |_| {});
    assert!(met(&certificate, &key).await.unwrap());
    // One that an authority has signed which is not trusted.
    let (certificate, key) = self::authority().issue();
    assert!(met(&certificate, &key).await.unwrap());
}

#[tokio::test]
async fn a_trusted_certificate_counts_only_for_its_names_and_in_its_time() {
    let old = |params: &mut CertificateParams| {
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        (params.not_before, params.not_after) = (rcgen::date_time_ymd(2001, 1, 1), rcgen::date_time_ymd(2002, 1, 1));
    };
    let client = |params: &mut CertificateParams| {
        params.extended_key_usages = vec![Purpose::ClientAuth];
    };
    let (other, other_key) = self_signed(&["files.test"], |_| {});
    let (expired, expired_key) = self_signed(&["127.0.0.1"], old);
    let (of_client, client_key) = self_signed(&["127.0.0.1"], client);
    // Go looks at the purposes of an authority's certificate too, if a server shows it.
    let (authority, authority_key) = self_signed(&["127.0.0.1"], |params| {
        client(params);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    });
    let fault = async |certificate, key| match met(certificate, key).await {
        Err(StoreError::Unreachable { fault, .. }) => fault,
        got => panic!("{got:?}"),
    };
    assert_eq!(fault(&other, &other_key).await, NetworkFault::CertificateOfAnother);
    assert!(matches!(fault(&expired, &expired_key).await, NetworkFault::CertificateExpired { .. }));
    assert_eq!(fault(&of_client, &client_key).await, NetworkFault::Certificate);
    assert_eq!(fault(&authority, &authority_key).await, NetworkFault::Certificate);
}

#[tokio::test]
async fn a_trusted_certificate_for_any_purpose_was_refused() {
    for is_ca in [IsCa::NoCa, IsCa::Ca(BasicConstraints::Unconstrained)] {
        for purposes in [vec![Purpose::Any], vec![Purpose::ClientAuth, Purpose::ServerAuth]] {
            let (certificate, key) = self_signed(&["127.0.0.1"], |params| {
                params.extended_key_usages.clone_from(&purposes);
                params.is_ca = is_ca;
            });
            assert!(met(&certificate, &key).await.unwrap(), "{is_ca:?} {purposes:?}");
        }
    }
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
    let options = HttpOptions { plain_http: vec![server.host()], ..HttpOptions::default() };
    assert!(bench_with(options, Arc::new(NoCredentials)).store(&server).exists(&blob(b"x")).await.unwrap());
}

#[tokio::test]
async fn a_client_certificate_is_shown() {
    let (authority, clients) = (authority(), authority());
    let server = authority.server(Some(&clients));
    let bench = trusting(&authority, None);
    let error = bench.store(&server).exists(&blob(b"x")).await.unwrap_err();
    assert!(matches!(error, StoreError::Unreachable { fault: NetworkFault::ClientCertificate, .. }), "{error}");
    assert_eq!(bench.retries(), 0, "it has none the next time either");
    let (certificate, key) = clients.issue();
    let identity = format!("{}{}", certificate.pem(), key.serialize_pem()).into_bytes();
    assert!(trusting(&authority, Some(identity)).store(&server).exists(&blob(b"x")).await.unwrap());
}

#[tokio::test]
async fn options_that_are_not_usable_are_said_so() {
    let check = |options: HttpOptions, want: &str| {
        let reporter = Arc::new(tofu_oci_types::NoReporter);
        let error = tofu_oci_remote::RegistryClient::new(options.into(), Arc::new(NoCredentials), reporter).map(|_| ());
        assert_eq!(error.unwrap_err().to_string(), want);
    };
    check(
        HttpOptions { ca_certificates: vec![b"nothing".to_vec()], ..HttpOptions::default() },
        "a CA certificate is not usable: the file holds no PEM certificate",
    );
    check(
        HttpOptions { client_identity: Some(b"nothing".to_vec()), ..HttpOptions::default() },
        "the client certificate is not usable: it must hold a certificate and its private key in PEM",
    );
    let clients = authority();
    let mixed = clients.issue().0.pem() + &clients.issue().1.serialize_pem();
    check(
        HttpOptions { client_identity: Some(mixed.into_bytes()), ..HttpOptions::default() },
        "the client certificate is not usable: the certificate and the private key do not belong together",
    );
    let encrypted =
        clients.issue().0.pem() + "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n";
    check(
        HttpOptions { client_identity: Some(encrypted.into_bytes()), ..HttpOptions::default() },
        "the client certificate is not usable: the private key is encrypted; it must be written without a passphrase",
    );
}

/// A registry that speaks TLS and sends every request to the same address.
fn redirecting(authority: &Authority, target: String) -> Server {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let (certificate, key) = authority.issue();
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], PrivateKeyDer::try_from(key.serialize_der()).unwrap())
        .unwrap();
    Server::with_tls(Some(Arc::new(config)), move |request, _| match request.header("authorization") {
        None => reply(401).header("www-authenticate", "Basic realm=\"lab\""),
        Some(_) => reply(307).header("location", target.clone()),
    })
}

/// A client with a password that may speak plain HTTP with these hosts.
fn with_password(authority: &Authority, plain_http: &[&str]) -> Bench {
    let ca_certificates = vec![authority.pem.clone()];
    let plain_http = plain_http.iter().map(ToString::to_string).collect();
    let options = HttpOptions { ca_certificates, plain_http, ..HttpOptions::default() };
    bench_with(options, Arc::new(Fixed(Credential::basic("user", "secret-word"))))
}

#[tokio::test]
async fn a_redirect_from_https_to_plain_http_is_refused() {
    let plain = Server::start(|_, _| reply(200).body("x"));
    let authority = authority();
    let server = redirecting(&authority, format!("http://{}/o", plain.host()));
    for named in [&[][..], &["files.test"], &["127.0.0.1:1"]] {
        let got = with_password(&authority, named).store(&server).fetch(&blob(b"x")).await.map(|_| ());
        // It is the registry's own host: whoever names that speaks plain HTTP with the registry.
        let refused = matches!(got, Err(StoreError::Forbidden { fault: Some(AccessFault::RedirectDowngrade), .. }));
        assert!(refused, "{named:?}: {got:?}");
    }
    assert!(plain.requests().is_empty());
}

#[tokio::test]
async fn a_blob_may_be_redirected_to_plain_http_on_a_named_host() {
    let plain = Server::start(|_, _| reply(200).body("x"));
    let authority = authority();
    let server = redirecting(&authority, format!("http://{}/o?sig=1", plain.host()));
    let bench = with_password(&authority, &[&plain.host()]);
    assert_eq!(read(&bench.store(&server), &blob(b"x")).await.unwrap(), b"x"[..]);
    assert!(bench.store(&server).exists(&blob(b"x")).await.unwrap());
    for request in plain.requests() {
        let secrets = ["authorization", "cookie", "referer", "proxy-authorization"];
        assert!(secrets.iter().all(|name| request.header(name).is_none()), "{}", request.line());
    }
    // What comes over plain HTTP is what was asked for, or nothing.
    let got = read(&bench.store(&server), &blob(b"y")).await.map(drop);
    assert!(matches!(got, Err(StoreError::DigestMismatch { .. })), "{got:?}");
}

#[tokio::test]
async fn what_no_digest_protects_stays_on_https_whatever_is_named() {
    // It has no blob, so an upload would begin.
    let plain = Server::start(|_, _| reply(404));
    let authority = authority();
    let server = redirecting(&authority, format!("http://{}/o", plain.host()));
    let bench = with_password(&authority, &[&plain.host()]);
    let store = bench.store(&server);
    let tag = tofu_oci_types::Reference::Tag("1.0.0".parse().unwrap());
    let downgrade =
        |error: StoreError| matches!(error, StoreError::Forbidden { fault: Some(AccessFault::RedirectDowngrade), .. });
    assert!(downgrade(store.tags().await.unwrap_err()));
    assert!(downgrade(store.manifest(&tag).await.unwrap_err()));
    assert!(downgrade(store.resolve(&tag).await.unwrap_err()));
    assert!(downgrade(store.referrers(&blob(b"x").digest).await.unwrap_err()));
    let fresh = bench.store(&server);
    assert!(downgrade(fresh.push(&blob(b"x"), &bytes::Bytes::from_static(b"x")).await.unwrap_err()));
    let reached: Vec<String> = plain.requests().iter().map(|request| request.method.clone()).collect();
    assert_eq!(reached, ["HEAD", "GET"], "only the questions for the blob, by its digest");
}
