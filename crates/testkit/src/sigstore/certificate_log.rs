//! A log of certificates, which promises in each of them that it has seen it.
//!
//! Spec: RFC 6962, section 3.

use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{CustomExtension, KeyPair, PublicKeyData as _, SigningKey as _};
use serde_json::{Value, json};

use super::der::{OCTETS, content, parts, tagged};
use super::texts::{SINCE, sha256};

/// The extension with the promises.
const PROMISES: [u64; 10] = [1, 3, 6, 1, 4, 1, 11129, 2, 4, 2];

#[derive(Debug)]
pub(super) struct CertificateLog(KeyPair);

impl CertificateLog {
    pub(super) fn generate() -> Self {
        Self(KeyPair::generate().expect("the system has random numbers"))
    }

    /// Its member of a trusted root.
    pub(super) fn described(&self) -> Value {
        let public = self.0.subject_public_key_info();
        json!({
            "baseUrl": "https://certificates.sigstore.example",
            "hashAlgorithm": "SHA2_256",
            "publicKey": {
                "rawBytes": STANDARD.encode(&public),
                "keyDetails": "PKIX_ECDSA_P256_SHA_256",
                "validFor": { "start": SINCE },
            },
            "logId": { "keyId": STANDARD.encode(sha256(&public)) },
        })
    }

    /// What a certificate gets that has no promise yet.
    pub(super) fn promise(&self, certificate: &[u8], issuer: &KeyPair, at: SystemTime) -> CustomExtension {
        let at = at.duration_since(UNIX_EPOCH).expect("the clock is past 1970").as_millis();
        let at = u64::try_from(at).expect("the clock is before the year 500 million").to_be_bytes();
        let certified = parts(content(certificate))[0];
        let length = u32::try_from(certified.len()).expect("a short certificate").to_be_bytes();
        let issuer = sha256(&issuer.subject_public_key_info());
        let signed = [&[0, 0], at.as_slice(), &[0, 1], &issuer, &length[1..], certified, &[0, 0]].concat();
        let signature = self.0.sign(&signed).expect("a key of our own signs");
        let id = sha256(&self.0.subject_public_key_info());
        let promise = [&[0], id.as_slice(), &at, &[0, 0], &[4, 3], &counted(&signature)].concat();
        CustomExtension::from_oid_content(&PROMISES, tagged(OCTETS, &counted(&counted(&promise))))
    }
}

/// With its length before it.
fn counted(bytes: &[u8]) -> Vec<u8> {
    [u16::try_from(bytes.len()).expect("a short text").to_be_bytes().as_slice(), bytes].concat()
}
