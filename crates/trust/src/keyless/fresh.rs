//! Bundles that were made a moment ago: whoever makes one learns at once whether others can verify it.

use std::time::SystemTime;

use sigstore_verify::crypto::parse_certificate_info;

use super::{KeylessFault, prove, read};
use crate::PublicKey;
use crate::dsse::Envelope;
use crate::json;

/// Demands that a bundle with a certificate, made a moment ago, proves its statement by one of the built-in roots.
///
/// If none of them names its authority, it is of another Sigstore instance. Then the key of its certificate must have signed the
/// statement, and the certificate must be valid now.
///
/// # Errors
/// Why others could not verify it.
pub fn prove_fresh(bundle: &[u8], now: SystemTime) -> Result<(), String> {
    let proven = match prove(bundle, &[], now) {
        Ok(_) => Ok(()),
        // The clock of the log may be ahead of this one.
        Err(KeylessFault::UnknownAuthority | KeylessFault::Future) => signed_by_itself(bundle, now),
        Err(fault) => Err(fault),
    };
    proven.map_err(|fault| fault.to_string())
}

fn signed_by_itself(bytes: &[u8], now: SystemTime) -> Result<(), KeylessFault> {
    let malformed = |problem: &str| KeylessFault::Malformed(problem.to_owned());
    let value = json::parse(bytes).map_err(KeylessFault::Malformed)?;
    let envelope = value.get("dsseEnvelope").ok_or_else(|| malformed("`dsseEnvelope` is missing"))?;
    let envelope = Envelope::parse(envelope).map_err(KeylessFault::Malformed)?;
    let bundle = read(bytes)?;
    let certificate = bundle.signing_certificate().and_then(|certificate| parse_certificate_info(certificate).ok());
    let certificate = certificate.ok_or_else(|| malformed("its certificate cannot be read"))?;
    let key = PublicKey::from_spki_der(certificate.public_key.as_bytes()).map_err(|_| KeylessFault::Unsupported)?;
    if !key.verifies(&envelope.signed_bytes(), &envelope.signature) {
        return Err(KeylessFault::Signature);
    }
    let seconds = now.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let is_over = u64::try_from(certificate.not_after.as_second()).is_ok_and(|end| end < seconds);
    if is_over { Err(KeylessFault::Expired) } else { Ok(()) }
}
