//! Detached `OpenPGP` signatures, as `GnuPG` makes them of a SHA256SUMS file.
//!
//! The crate `pgp` reads packets and does the mathematics; what a certificate must prove is asked here.
//!
//! ```text
//! key file ─ armor ─ packets ─ key            what the primary key signed, verified: names, subkeys, revocations
//! signature file ─ armor ─ packets ─┐
//! document ─────────────────────────┴ mod     which key does the signature name? does it fit?
//!                                      └ checks    was that key bound, for signing, alive and not revoked?
//! ```
//!
//! What `OpenTofu` does differently is a table in `docs/reference/openpgp.md`.

mod algorithms;
mod armor;
mod certificate;
mod checks;
mod contents;
mod fault;
mod issuer;
mod key;
mod secret_key;
mod self_signature;
mod standing;
#[cfg(test)]
mod tests;
mod work;

use std::time::SystemTime;

use pgp::packet::{Packet, Signature, SignatureType, SignatureVersion};
use pgp::types::VerifyingKey;

use algorithms::{not_understood, weak_digest};
use armor::{ArmorBlock, Unframed};
use checks::{Component, Judge, Times};
pub use contents::{OpenPgpContents, openpgp_contents};
pub use fault::{KeyPart, OpenPgpError, OpenPgpFault, Reason, WeakPart};
use issuer::{IssuerMatch, issuer, names, upper_hex};
pub use key::OpenPgpKey;
pub use secret_key::{OpenPgpSecretKey, OpenPgpSecretKeyError};
use self_signature::{Validity, moment};
pub use standing::{Expired, KeyStanding, OpenPgpSignature};
use work::SIGNATURES;
pub(crate) use work::VerifyBudget;
pub use work::{KEYS_LIMIT, SIGNATURES_LIMIT};

use crate::sums::SUMS_LIMIT;

/// Verifies a detached signature of a document with any of these keys.
///
/// Of several signatures in the file the best one counts. The document may have [`SUMS_LIMIT`] bytes.
///
/// # Errors
/// The fault of the signature by one of the keys, before one of a signature by others.
pub fn verify_detached(
    document: &[u8],
    signature: &[u8],
    keys: &[OpenPgpKey],
    now: SystemTime,
) -> Result<OpenPgpSignature, OpenPgpFault> {
    let results = verify_each(document, signature, keys, now)?;
    let empty = Err(OpenPgpFault::Malformed { problem: "it holds no signature".to_owned() });
    results.into_iter().reduce(better).unwrap_or(empty)
}

/// Verifies each signature in a file of detached signatures of one document: one result for each, in their order.
///
/// The file is binary or armored, and holds nothing but signatures; it may have [`SIGNATURES_LIMIT`] bytes.
///
/// # Errors
/// What is wrong with the file as a whole.
///
/// Spec: RFC 9580, section 10.4.
pub fn verify_each(
    document: &[u8],
    signature: &[u8],
    keys: &[OpenPgpKey],
    now: SystemTime,
) -> Result<Vec<Result<OpenPgpSignature, OpenPgpFault>>, OpenPgpFault> {
    verify_within(document, signature, &OpenPgpKey::merged(keys.iter().cloned()), now, &mut VerifyBudget::default())
}

/// The same with distinct certificates, until the work for strangers is used up.
pub(crate) fn verify_within(
    document: &[u8],
    signature: &[u8],
    keys: &[OpenPgpKey],
    now: SystemTime,
    work: &mut VerifyBudget,
) -> Result<Vec<Result<OpenPgpSignature, OpenPgpFault>>, OpenPgpFault> {
    let limits = [("document", document, SUMS_LIMIT), ("OpenPGP signature", signature, SIGNATURES_LIMIT)];
    for (what, bytes, limit) in limits {
        if bytes.len() > limit {
            return Err(OpenPgpFault::TooLarge { what, bytes: bytes.len(), limit });
        }
    }
    let signatures = signatures(signature)?;
    Ok(signatures.iter().map(|signature| verify(document, signature.as_ref(), keys, now, work)).collect())
}

/// A file of detached signatures without its ASCII armor, as `Terraform` and `OpenTofu` read it.
///
/// # Errors
/// If it holds something else.
pub fn binary_signature(file: &[u8]) -> Result<Vec<u8>, OpenPgpFault> {
    let malformed = |problem: String| OpenPgpFault::Malformed { problem };
    armor::bytes(file, ArmorBlock::Signatures).map_err(|error| match error {
        Unframed::Secret => malformed("it is a secret key".to_owned()),
        Unframed::Malformed(problem) => malformed(problem),
    })
}

/// The signatures in a file; a fault for each of an unknown kind.
fn signatures(file: &[u8]) -> Result<Vec<Result<Signature, OpenPgpFault>>, OpenPgpFault> {
    let malformed = |problem: String| OpenPgpFault::Malformed { problem };
    let bytes = binary_signature(file)?;
    let mut signatures = Vec::new();
    for packet in armor::packets(&bytes) {
        match packet.map_err(|fault| malformed(fault.to_string()))? {
            (_, Ok(Packet::Signature(signature))) => signatures.push(Ok(signature)),
            // The library's own words are for programmers, and may hold a backtrace.
            (pgp::types::Tag::Signature, Err(_)) => signatures.push(Err(malformed("it cannot be read".to_owned()))),
            (tag, _) => return Err(malformed(format!("it has a packet that is not a signature ({tag:?})"))),
        }
        if signatures.len() > SIGNATURES {
            return Err(malformed(format!("it has more than {SIGNATURES} signatures")));
        }
    }
    Ok(signatures)
}

fn verify(
    document: &[u8],
    signature: Result<&Signature, &OpenPgpFault>,
    keys: &[OpenPgpKey],
    now: SystemTime,
    work: &mut VerifyBudget,
) -> Result<OpenPgpSignature, OpenPgpFault> {
    let signature = signature.map_err(OpenPgpFault::clone)?;
    let created = understood(signature)?;
    let candidates: Vec<_> = keys.iter().flat_map(|key| named(key, signature)).collect();
    if candidates.is_empty() {
        return Err(OpenPgpFault::UnknownKey { issuer: issuer(signature) });
    }
    if let Some(algorithm) = weak_digest(signature) {
        return Err(OpenPgpFault::WeakDigest { algorithm, of: WeakPart::Document });
    }
    let times = Times { signed: created, now };
    let judged = candidates.into_iter().map(|(key, component)| {
        if !work.document() {
            return Err(OpenPgpFault::TooMuch);
        }
        let signed_by = match component {
            Component::Primary => fits(document, signature, key, &key.primary)?,
            Component::Subkey(subkey) => fits(document, signature, key, &subkey.key)?,
        };
        let validity = Validity::of(signature.signature_expiration_time());
        let standing = Judge { key, component, times }.standing(validity)?;
        Ok(OpenPgpSignature { key: key.id(), signed_by, created, standing })
    });
    judged.reduce(better).unwrap_or_else(|| Err(OpenPgpFault::UnknownKey { issuer: issuer(signature) }))
}

/// When a signature of a document was made, if it is one that can be judged.
fn understood(signature: &Signature) -> Result<SystemTime, OpenPgpFault> {
    let malformed = |problem: &str| OpenPgpFault::Malformed { problem: problem.to_owned() };
    if !matches!(signature.version(), SignatureVersion::V4 | SignatureVersion::V6) {
        let problem = format!("version {}", u8::from(signature.version()));
        return Err(OpenPgpFault::Unsupported { problem });
    }
    if !matches!(signature.typ(), Some(SignatureType::Binary | SignatureType::Text)) {
        return Err(malformed("it is not a signature of a document"));
    }
    if let Some(problem) = not_understood(signature) {
        return Err(OpenPgpFault::Unsupported { problem });
    }
    signature.created().map(moment).ok_or_else(|| malformed("it has no date"))
}

/// The keys of a certificate that a signature names.
fn named<'a>(key: &'a OpenPgpKey, signature: &Signature) -> Vec<(&'a OpenPgpKey, Component<'a>)> {
    let mut found = Vec::new();
    if names(signature, &key.primary) == IssuerMatch::This {
        found.push((key, Component::Primary));
    }
    let subkeys = key.subkeys.iter().filter(|subkey| names(signature, &subkey.key) == IssuerMatch::This);
    found.extend(subkeys.map(|subkey| (key, Component::Subkey(subkey))));
    found
}

/// The fingerprint of the key, if it made the signature.
fn fits(
    document: &[u8],
    signature: &Signature,
    key: &OpenPgpKey,
    signer: &impl VerifyingKey,
) -> Result<String, OpenPgpFault> {
    let fits = signature.verify(signer, document);
    fits.map_err(|_| OpenPgpFault::BadSignature { key: key.id() })?;
    Ok(upper_hex(signer.fingerprint().as_bytes()))
}

type VerifyResult = Result<OpenPgpSignature, OpenPgpFault>;

/// The better one of two results; the first of two that are as good.
fn better(first: VerifyResult, second: VerifyResult) -> VerifyResult {
    let rank = |result: &VerifyResult| match result {
        Ok(OpenPgpSignature { standing: KeyStanding::Good, .. }) => 0,
        Ok(OpenPgpSignature { standing: KeyStanding::Retired { .. }, .. }) => 1,
        Ok(OpenPgpSignature { standing: KeyStanding::Expired { .. }, .. }) => 2,
        Err(OpenPgpFault::UnknownKey { .. }) => 4,
        Err(_) => 3,
    };
    if rank(&second) < rank(&first) { second } else { first }
}
