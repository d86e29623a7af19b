//! Which certificates TLS trusts, those of the options and of the system, and which one the client shows.

use std::sync::{Arc, OnceLock};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

use crate::options::{ClientError, HttpOptions};
use crate::problem::tls_text;

/// The certificates that a client trusts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Roots {
    /// Those of the options.
    Given,
    /// Those and the system's, which takes longer to set up than most runs on this machine take in all.
    AndSystem,
}

/// How a client speaks TLS.
///
/// # Errors
/// If a certificate or the client's key cannot be used, or the system has no certificates.
pub(crate) fn tls(options: &HttpOptions, roots: Roots) -> Result<ClientConfig, ClientError> {
    let provider = match CryptoProvider::get_default() {
        Some(provider) => Arc::clone(provider),
        None => Arc::new(rustls::crypto::ring::default_provider()),
    };
    let failed = |error: Error| ClientError::Tls { problem: tls_text(&error) };
    let identity = identity(options, &provider)?;
    let (given, store) = given(options)?;
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(failed)?;
    let builder = if roots == Roots::Given && given.is_empty() {
        builder.with_root_certificates(store)
    } else {
        let algorithms = provider.signature_verification_algorithms;
        let chains: Arc<dyn ServerCertVerifier> = match roots {
            Roots::Given => WebPkiServerVerifier::builder_with_provider(store.into(), provider)
                .build()
                .map_err(|error| ClientError::Tls { problem: error.to_string() })?,
            Roots::AndSystem => Arc::new(
                rustls_platform_verifier::Verifier::new_with_extra_roots(given.clone(), provider).map_err(failed)?,
            ),
        };
        let verifier = TrustedServers { chains, given, roots, algorithms };
        builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier))
    };
    let mut config = match identity {
        Some(identity) => builder.with_client_cert_resolver(Arc::new(identity)),
        None => builder.with_no_client_auth(),
    };
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

/// The certificates of the options, and the same as roots.
fn given(options: &HttpOptions) -> Result<(Vec<CertificateDer<'static>>, RootCertStore), ClientError> {
    let (mut all, mut store) = (Vec::new(), RootCertStore::empty());
    let invalid = |problem: String| ClientError::CaCertificate { problem };
    for pem in &options.ca_certificates {
        let before = all.len();
        for certificate in CertificateDer::pem_slice_iter(pem) {
            let certificate =
                certificate.map_err(|_| invalid("what it holds between BEGIN and END is not PEM".to_owned()))?;
            store.add(certificate.clone()).map_err(|error| invalid(tls_text(&error)))?;
            all.push(certificate);
        }
        if all.len() == before {
            return Err(invalid("the file holds no PEM certificate".to_owned()));
        }
    }
    Ok((all, store))
}

/// The client's certificate with its key. Whether the certificate is good is the server's business: only the two must belong
/// together.
fn identity(options: &HttpOptions, provider: &CryptoProvider) -> Result<Option<SingleCertAndKey>, ClientError> {
    let Some(pem) = &options.client_identity else { return Ok(None) };
    let unusable = |problem: &str| ClientError::ClientIdentity { problem: problem.to_owned() };
    let no_pem = || {
        let is_encrypted = pem.windows(9).any(|word| word == b"ENCRYPTED");
        unusable(if is_encrypted {
            "the private key is encrypted; it must be written without a passphrase"
        } else {
            "it must hold a certificate and its private key in PEM"
        })
    };
    let chain: Vec<CertificateDer<'static>> =
        CertificateDer::pem_slice_iter(pem).collect::<Result<_, _>>().map_err(|_| no_pem())?;
    let key = PrivateKeyDer::from_pem_slice(pem).map_err(|_| no_pem())?;
    let own = chain.first().ok_or_else(no_pem)?;
    let key = provider
        .key_provider
        .load_private_key(key)
        .map_err(|_| unusable("the private key is damaged, or of a kind that is not supported"))?;
    // It reads certificates of every version of X.509; what chains are built of must be of version 3.
    let own = webpki::anchor_from_trusted_cert(own).map_err(|_| unusable("the certificate cannot be read"))?;
    let is_of_it = |public: &[u8]| public.ends_with(&own.subject_public_key_info);
    if key.public_key().is_some_and(|public| !is_of_it(&public)) {
        return Err(unusable("the certificate and the private key do not belong together"));
    }
    Ok(Some(CertifiedKey::new(chain, key).into()))
}

/// Accepts a server whose certificate a trusted one has signed, and one whose certificate is itself trusted, be it that of an
/// authority, as programs in Go do.
#[derive(Debug)]
struct TrustedServers {
    chains: Arc<dyn ServerCertVerifier>,
    given: Vec<CertificateDer<'static>>,
    roots: Roots,
    algorithms: WebPkiSupportedAlgorithms,
}

impl TrustedServers {
    fn trusts(&self, certificate: &CertificateDer<'_>) -> bool {
        self.given.contains(certificate) || self.roots == Roots::AndSystem && of_system().contains(certificate)
    }
}

/// The certificates of the system, which are read once.
fn of_system() -> &'static [CertificateDer<'static>] {
    static CERTIFICATES: OnceLock<Vec<CertificateDer<'static>>> = OnceLock::new();
    CERTIFICATES.get_or_init(|| rustls_native_certs::load_native_certs().certs)
}

/// Whether a certificate says nothing of its purposes, or that servers are one.
///
/// Spec: RFC 5280, sections 4.1 and 4.2.1.12.
fn is_for_servers(certificate: &CertificateDer<'_>) -> Option<bool> {
    const EXTENSIONS: u8 = 0xa3;
    const EXTENDED_KEY_USAGE: &[u8] = &[0x55, 0x1d, 0x25];
    const ANY: &[u8] = &[0x55, 0x1d, 0x25, 0x00];
    const SERVER_AUTH: &[u8] = &[0x2b, 6, 1, 5, 5, 7, 3, 1];
    let content = |bytes| elements(bytes)?.into_iter().next().map(|(_, content)| content);
    let body = elements(content(content(certificate)?)?)?;
    let Some((_, extensions)) = body.iter().find(|(tag, _)| *tag == EXTENSIONS) else { return Some(true) };
    for (_, extension) in elements(content(extensions)?)? {
        // Its name, perhaps whether it is critical, and its value.
        if let [(_, EXTENDED_KEY_USAGE), .., (_, value)] = elements(extension)?[..] {
            return Some(elements(content(value)?)?.iter().any(|(_, purpose)| [ANY, SERVER_AUTH].contains(purpose)));
        }
    }
    Some(true)
}

/// The tags and contents of the DER elements that make up these bytes.
fn elements(mut bytes: &[u8]) -> Option<Vec<(u8, &[u8])>> {
    let mut found = Vec::new();
    while let [tag, first, rest @ ..] = bytes {
        // A length that does not fit into seven bits says how many bytes it takes.
        let wide = usize::from(first.checked_sub(0x80).unwrap_or_default());
        let (length, rest) = rest.split_at_checked(wide)?;
        let long = || length.iter().try_fold(0_usize, |sum, byte| Some(sum.checked_mul(256)? + usize::from(*byte)));
        let length = if wide == 0 { usize::from(*first) } else { long()? };
        let (content, after) = rest.split_at_checked(length)?;
        found.push((*tag, content));
        bytes = after;
    }
    bytes.is_empty().then_some(found)
}

impl ServerCertVerifier for TrustedServers {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let chained = self.chains.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        let is_revoked = matches!(chained, Err(Error::InvalidCertificate(CertificateError::Revoked)));
        if chained.is_ok() || is_revoked || !self.trusts(end_entity) {
            return chained;
        }
        let certificate = ParsedCertificate::try_from(end_entity)?;
        // Without any root, what is wrong with the certificate itself comes before its missing issuer.
        let alone = verify_server_cert_signed_by_trust_anchor(
            &certificate,
            &RootCertStore::empty(),
            &[],
            now,
            self.algorithms.all,
        );
        match alone {
            Err(Error::InvalidCertificate(
                CertificateError::UnknownIssuer
                | CertificateError::InvalidPurpose
                | CertificateError::InvalidPurposeContext { .. },
            )) => {}
            Err(Error::InvalidCertificate(CertificateError::Other(other)))
                if matches!(other.0.downcast_ref(), Some(webpki::Error::CaUsedAsEndEntity)) => {}
            Err(error) => return Err(error),
            Ok(()) => return chained,
        }
        if is_for_servers(end_entity) != Some(true) {
            return Err(Error::InvalidCertificate(CertificateError::InvalidPurpose));
        }
        verify_server_name(&certificate, server_name)?;
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.chains.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.chains.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.chains.supported_verify_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `openssl x509 -req` makes it without a file of extensions: of version 1.
    const VERSION_1: &str = "-----BEGIN CERTIFICATE-----
MIIBFzCBvQIUbJrGwy4C/NgJNEi0kvxYum7ieHcwCgYIKoZIzj0EAwIwDTELMAkG
A1UEAwwCY2kwIBcNMjYxMTI4MTkxMzEwWhgPMjEyNjExMDQxOTEzMTBaMA0xCzAJ
BgNVBAMMAmNpMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEvXfHxjU7vFP8XbFB
1n+SroSNwAbUNyVd7zepF8GtKpjZ5rp9Cgg9foL+LMRqnVzb16mF1Nc4g+s0FCSw
ABkDgzAKBggqhkjOPQQDAgNJADBGAiEA6RJv4csvL01pm6ky6q0yN7AiI0bv0N7M
2Qqgwp1zO70CIQDLR4z18aLkVqXUz05PMx0myfZgynzUdyGTvEEOn5e01w==
-----END CERTIFICATE-----
";
    const KEY: &str = "-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg2u//dd+vAnV+C1aG
is4eu+3Z9ICMlXIRJt9OtxrSnaGhRANCAAS9d8fGNTu8U/xdsUHWf5KuhI3ABtQ3
JV3vN6kXwa0qmNnmun0KCD1+gv4sxGqdXNvXqYXU1ziD6zQUJLAAGQOD
-----END PRIVATE KEY-----
";

    #[test]
    fn a_client_certificate_of_version_1_was_called_an_unusable_authority() {
        let identity = |pem: String| {
            let options = HttpOptions { client_identity: Some(pem.into_bytes()), ..HttpOptions::default() };
            tls(&options, Roots::Given)
        };
        assert!(identity(format!("{VERSION_1}{KEY}")).unwrap().client_auth_cert_resolver.has_certs());
        let damaged = VERSION_1.replace("MIIBFzCBvQI", "MIIBFzCBvQM");
        assert!(matches!(identity(format!("{damaged}{KEY}")), Err(ClientError::ClientIdentity { .. })));
    }
}
