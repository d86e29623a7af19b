//! A certificate that an authority of its own has signed.

use std::io;
use std::time::Duration;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose,
};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::server::ParsedCertificate;
use zeroize::Zeroizing;

/// A day.
pub(crate) const DAY: Duration = Duration::from_hours(24);

/// A certificate for a server, with the one authority that has signed it and has then forgotten its own key. All texts are PEM.
pub struct IssuedCertificate {
    /// The certificate of the authority: clients that trust it trust the server.
    pub authority: String,
    pub certificate: String,
    /// The key of `certificate`.
    pub key: Zeroizing<String>,
}

impl IssuedCertificate {
    /// A new one for these hostnames and addresses, valid from yesterday, for clocks that are behind, for so many days from now.
    /// `authority` is the name of the authority.
    ///
    /// # Errors
    /// If the machine has no randomness for keys, or a certificate cannot have one of the names.
    pub fn new(authority: &str, names: &[String], days: u32) -> io::Result<Self> {
        Self::issued(authority, names, days).map_err(io::Error::other)
    }

    fn issued(authority: &str, names: &[String], days: u32) -> Result<Self, rcgen::Error> {
        let within = |params: &mut CertificateParams| {
            let now = std::time::SystemTime::now();
            params.not_before = (now - DAY).into();
            params.not_after = (now + days * DAY).into();
        };
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, authority);
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        within(&mut params);
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
        let mut params = CertificateParams::new(names)?;
        params.distinguished_name.push(DnType::CommonName, names.first().map_or("localhost", String::as_str));
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        within(&mut params);
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &authority)?;
        Ok(Self {
            authority: authority.pem(),
            certificate: certificate.pem(),
            key: Zeroizing::new(key.serialize_pem()),
        })
    }
}

/// Whether a certificate, as PEM, is for this hostname or address; false if it is no certificate.
pub fn is_certificate_for(certificate: &[u8], name: &str) -> bool {
    let is_for = || {
        let certificate = CertificateDer::from_pem_slice(certificate).ok()?;
        let certificate = ParsedCertificate::try_from(&certificate).ok()?;
        rustls::client::verify_server_name(&certificate, &ServerName::try_from(name).ok()?).ok()
    };
    is_for().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_is_for_its_names_alone() {
        let names = ["127.0.0.1", "::1", "registry.acme.example"].map(ToOwned::to_owned);
        let issued = IssuedCertificate::new("test", &names, 1).unwrap();
        assert!(names.iter().all(|name| is_certificate_for(issued.certificate.as_bytes(), name)));
        for other in ["localhost", "127.0.0.2", "acme.example", "not a name"] {
            assert!(!is_certificate_for(issued.certificate.as_bytes(), other), "{other}");
        }
        assert!(!is_certificate_for(b"no certificate", "127.0.0.1"));
    }
}
