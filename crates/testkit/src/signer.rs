//! Tokens that a real registry:2 accepts: JWTs signed with ES256 that carry their certificate (`x5c`).
//!
//! Spec: distribution 2.8, `docs/spec/auth/jwt.md`; RFC 7515 section 4.1.6; RFC 7518 section 3.4.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, KeyPair, SigningKey as _};

pub(crate) const ISSUER: &str = "testkit-issuer";

/// registry:2 accepts a token this long after its end, because clocks differ.
/// Spec: distribution 2.8, `registry/auth/token/token.go`, `Leeway`.
const LEEWAY: u64 = 60;

/// A signing key with its self-signed certificate.
#[derive(Debug)]
pub(crate) struct TokenSigner {
    key: KeyPair,
    certificate: rcgen::Certificate,
    serial: AtomicU64,
}

impl TokenSigner {
    pub(crate) fn generate() -> Self {
        let key = KeyPair::generate().expect("the system has random numbers");
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, "tofu-oci test token issuer");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let certificate = params.self_signed(&key).expect("a fixed certificate request is valid");
        Self { key, certificate, serial: AtomicU64::new(0) }
    }

    /// The certificate for `auth.token.rootcertbundle`.
    pub(crate) fn certificate_pem(&self) -> String {
        self.certificate.pem()
    }

    /// A token for these accesses, accepted by registry:2 for `ttl`, and on to the next full second.
    pub(crate) fn sign(&self, service: &str, subject: &str, access: &serde_json::Value, ttl: Duration) -> String {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("the clock is past 1970").as_secs();
        let header =
            serde_json::json!({"typ": "JWT", "alg": "ES256", "x5c": [STANDARD.encode(self.certificate.der())]});
        let claims = serde_json::json!({
            "iss": ISSUER, "sub": subject, "aud": service, "nbf": now - 10, "iat": now,
            "exp": now + 1 + ttl.as_secs() - LEEWAY,
            "jti": self.serial.fetch_add(1, Ordering::Relaxed).to_string(), "access": access,
        });
        let signed =
            format!("{}.{}", URL_SAFE_NO_PAD.encode(header.to_string()), URL_SAFE_NO_PAD.encode(claims.to_string()));
        let signature = self.key.sign(signed.as_bytes()).expect("a key of our own signs");
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(fixed(&signature)))
    }
}

/// An ECDSA P-256 signature in DER (two integers) as JWS wants it: both numbers in 32 bytes.
fn fixed(der: &[u8]) -> [u8; 64] {
    let mut out = [0; 64];
    // SEQUENCE and its length, which is below 128 for this curve.
    let mut rest = &der[2..];
    for half in out.chunks_mut(32) {
        let length = usize::from(rest[1]);
        let number = &rest[2..2 + length];
        let number = &number[number.len().saturating_sub(32)..];
        half[32 - number.len()..].copy_from_slice(number);
        rest = &rest[2 + length..];
    }
    out
}
