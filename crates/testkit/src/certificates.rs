//! A throwaway certificate authority with one server and one client certificate.

use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};

/// Whether a TLS listener asks for a client certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientCertificate {
    /// No certificate is asked for.
    NotAsked,
    /// A handshake without a certificate of our own authority fails.
    Required,
}

/// When the server's certificate is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Validity {
    /// Now.
    Now,
    /// In 2001.
    Expired,
    /// In 2101.
    NotYet,
}

/// A private authority, a server certificate for `localhost`, `127.0.0.1` and `::1`, and a client certificate.
///
/// All texts are PEM. Keys are ECDSA P-256 in PKCS#8.
#[derive(Clone, Debug)]
pub struct Certificates {
    ca: String,
    server: String,
    server_key: String,
    client_identity: String,
}

impl Certificates {
    /// A new authority; no two calls give the same keys.
    pub fn generate() -> Self {
        Self::for_names(&[])
    }

    /// The same, and the server's certificate is for these DNS names too (punycode for international ones).
    pub fn for_names(more: &[&str]) -> Self {
        Self::valid(more, Validity::Now)
    }

    /// The same with a server's certificate that is valid at some time.
    pub fn valid(more: &[&str], validity: Validity) -> Self {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, "tofu-oci test authority");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let authority = CertifiedIssuer::self_signed(params, new_key()).expect("a fixed certificate request is valid");

        let issue = |names: &[&str], common_name: &str, usage: ExtendedKeyUsagePurpose| {
            let names: Vec<String> = names.iter().map(ToString::to_string).collect();
            let mut params = CertificateParams::new(names).expect("fixed names are valid");
            params.distinguished_name.push(DnType::CommonName, common_name);
            let year = match validity {
                Validity::Now => None,
                Validity::Expired => Some(2001),
                Validity::NotYet => Some(2101),
            };
            if let Some(year) = year {
                params.not_before = rcgen::date_time_ymd(year, 1, 1);
                params.not_after = rcgen::date_time_ymd(year + 1, 1, 1);
            }
            params.extended_key_usages = vec![usage];
            params.use_authority_key_identifier_extension = true;
            let key = new_key();
            let certificate = params.signed_by(&key, &authority).expect("a fixed certificate request is valid");
            (certificate.pem(), key.serialize_pem())
        };
        let (server, server_key) = issue(
            &[&["localhost", "127.0.0.1", "::1"], more].concat(),
            "localhost",
            ExtendedKeyUsagePurpose::ServerAuth,
        );
        let (client, client_key) = issue(&[], "tofu-oci test client", ExtendedKeyUsagePurpose::ClientAuth);

        Self { ca: authority.pem(), server, server_key, client_identity: client + &client_key }
    }

    /// The authority's certificate, for `--ca-file`.
    pub fn ca_pem(&self) -> &str {
        &self.ca
    }

    /// The server's certificate.
    pub fn server_pem(&self) -> &str {
        &self.server
    }

    /// The server's private key.
    pub fn server_key_pem(&self) -> &str {
        &self.server_key
    }

    /// The client's certificate followed by its private key.
    pub fn client_identity_pem(&self) -> &str {
        &self.client_identity
    }

    /// A configuration that speaks HTTP/1.1 over TLS 1.2 or 1.3.
    pub(crate) fn server_config(&self, clients: ClientCertificate) -> Arc<ServerConfig> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .expect("ring supports the default protocol versions");
        let builder = match clients {
            ClientCertificate::NotAsked => builder.with_no_client_auth(),
            ClientCertificate::Required => {
                let mut roots = RootCertStore::empty();
                let ca = CertificateDer::from_pem_slice(self.ca.as_bytes()).expect("the authority is PEM of our own");
                roots.add(ca).expect("the authority is a certificate of our own");
                let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
                    .build()
                    .expect("one root is enough for a verifier");
                builder.with_client_cert_verifier(verifier)
            }
        };
        let chain = CertificateDer::from_pem_slice(self.server.as_bytes()).expect("the certificate is PEM of our own");
        let key = PrivateKeyDer::from_pem_slice(self.server_key.as_bytes()).expect("the key is PEM of our own");
        let mut config = builder.with_single_cert(vec![chain], key).expect("key and certificate were made together");
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Arc::new(config)
    }
}

fn new_key() -> KeyPair {
    KeyPair::generate().expect("the system has random numbers")
}
