//! Which key a signature names as its maker.

use pgp::packet::Signature;
use pgp::types::{KeyDetails, KeyId as ShortId};

/// Whether a signature names a key as its maker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IssuerMatch {
    This,
    Another,
    /// None at all.
    Unnamed,
}

/// Whether a signature names this key: every fingerprint and every short id in it must be the key's.
pub(super) fn names(signature: &Signature, key: &impl KeyDetails) -> IssuerMatch {
    let (fingerprints, ids) = (signature.issuer_fingerprint(), signature.issuer_key_id());
    if fingerprints.is_empty() && ids.is_empty() {
        return IssuerMatch::Unnamed;
    }
    let (fingerprint, id) = (key.fingerprint(), key.legacy_key_id());
    let this = fingerprints.iter().all(|named| **named == fingerprint) && ids.iter().all(|named| **named == id);
    if this { IssuerMatch::This } else { IssuerMatch::Another }
}

/// Whether a signature names one of these fingerprints.
pub(super) fn names_any(signature: &Signature, fingerprints: &[&[u8]]) -> bool {
    // The short id of version 4 is the end of the fingerprint.
    let short = |id: &&ShortId| fingerprints.iter().any(|fingerprint| fingerprint.ends_with(id.as_ref()));
    signature.issuer_fingerprint().iter().any(|named| fingerprints.contains(&named.as_bytes()))
        || signature.issuer_key_id().iter().any(short)
}

/// What a signature calls the key that made it.
pub(super) fn issuer(signature: &Signature) -> String {
    let fingerprint = signature.issuer_fingerprint().first().map(|fingerprint| upper_hex(fingerprint.as_bytes()));
    let id = || signature.issuer_key_id().first().map(|id| upper_hex(id.as_ref()));
    fingerprint.or_else(id).unwrap_or_else(|| "a key that it does not name".to_owned())
}

/// Bytes in upper-case hexadecimal digits.
pub(super) fn upper_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02X}")).collect()
}
