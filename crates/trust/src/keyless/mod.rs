//! Signatures by certificates ("keyless"): who made a statement, proven by an authority, its logs and its clocks.
//!
//! ```text
//! bundle --prove(trusted roots, now)--> Proven { ProvenIdentity, Statement }
//!                                           --Identity::admits--> the version that it names, or which member is another
//! ```
//!
//! Nothing outside knows the crate that reads Sigstore's formats. What it says is judged here.

mod crypto;
mod described;
mod forges;
mod fresh;
mod identity;
mod numbers;
mod proven_identity;
mod roots;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::SystemTime;

use serde_json::Value;
use sigstore_verify::types::{Bundle, Sha256Hash, SignatureContent};
use sigstore_verify::{CertificateError, Error, TimestampError, TransparencyLogError};
use tofu_oci_types::Digest;

pub use described::{DescribedRoot, RootMember};
pub use fresh::prove_fresh;
pub(crate) use identity::OtherMember;
pub use identity::{Identity, IdentityProblem, TrustedIdentity};
pub use numbers::{HostNumbers, NumberOf};
pub use proven_identity::ProvenIdentity;
use proven_identity::one_slash;
use roots::Names;
pub use roots::built_in_roots;
pub(crate) use roots::{ROOTS_DATE, RootName, TrustedRoot};

use crate::dsse::Envelope;
use crate::json;
use crate::statement::Statement;

/// The largest certificate, in characters of base64.
const CERTIFICATE: usize = 32 * 1024;
/// The most entries of logs: each is verified, and signers write one.
const ENTRIES: usize = 4;
/// The most timestamps that are read.
const TIMESTAMPS: usize = 8;
/// By how many seconds a timestamp may be ahead of the clock of this machine: a release may be installed the moment that it is
/// signed.
const SLOW_CLOCK: u64 = 10;
/// The most hashes in a proof of a log: a log of that many levels has more entries than a number can count.
const PROOF: usize = 64;

/// A statement, and who is proven to have made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Proven {
    pub(crate) identity: ProvenIdentity,
    /// Every root that proves it, at least one.
    pub(crate) roots: Vec<RootName>,
    pub(crate) statement: Statement,
}

/// Why a bundle with a certificate proves nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum KeylessFault {
    #[error("the bundle is malformed: {0}")]
    Malformed(String),
    #[error("its certificate is of an authority that no trusted root names; the built-in roots are of {ROOTS_DATE}")]
    UnknownAuthority,
    #[error("its certificate is not one of the authority that it names, or was not valid when the signature was made")]
    Certificate,
    #[error("the authority did not count when the signature was made")]
    AuthorityTime,
    #[error("its certificate does not say whose it is")]
    Nameless,
    #[error("its certificate was not valid when the signature was made")]
    CertificateTime,
    #[error("its certificate is not valid any more")]
    Expired,
    #[error("its certificate stands in no log of certificates that counts")]
    CertificateLog,
    #[error("nothing proves when it was made, and its certificate is valid for minutes")]
    NoTime,
    #[error("its timestamp is not one of an authority that counts")]
    Timestamp,
    #[error("it was made later than the clock of this machine says")]
    Future,
    #[error("it is in no transparency log that counts")]
    Log,
    #[error("the entry of the transparency log is of something else")]
    LogEntry,
    #[error("the signature does not verify with the key of its certificate")]
    Signature,
    #[error("it uses something that this version cannot verify")]
    Unsupported,
}

/// The statement in a bundle with a certificate, if one of the built-in roots or of `more` proves who made it.
///
/// A root proves by what it names: one that names a transparency log demands a proof of it, and one that names a log of
/// certificates demands its promise. So GitHub's own instance, which has neither, counts under its own root alone.
pub(crate) fn prove(bytes: &[u8], more: &[Arc<TrustedRoot>], now: SystemTime) -> Result<Proven, KeylessFault> {
    let malformed = |problem: &str| KeylessFault::Malformed(problem.to_owned());
    let value = json::parse(bytes).map_err(KeylessFault::Malformed)?;
    within_limits(&value).map_err(KeylessFault::Malformed)?;
    // Bundles before v0.3 have a chain in its place.
    let material = json::object(&value, "verificationMaterial").map_err(KeylessFault::Malformed)?;
    json::object(material, "certificate").map_err(KeylessFault::Malformed)?;
    let envelope = value.get("dsseEnvelope").ok_or_else(|| malformed("`dsseEnvelope` is missing"))?;
    let envelope = Envelope::parse(envelope).map_err(KeylessFault::Malformed)?;
    let statement = Statement::parse(&envelope.payload).map_err(KeylessFault::Malformed)?;
    let bundle = read(bytes)?;
    // Both readers must have read the same.
    let is_same = match &bundle.content {
        SignatureContent::DsseEnvelope(read) => {
            read.payload.as_bytes() == envelope.payload && read.signature.sig.as_bytes() == envelope.signature
        }
        _ => false,
    };
    if !is_same {
        return Err(malformed("its envelope cannot be read"));
    }
    // Which of the subjects counts is for the caller; that the payload is signed is shown by any of them.
    let digest = statement.subjects.iter().find_map(|subject| subject.digest.as_ref());
    let digest = digest.ok_or_else(|| malformed("no subject has a `sha256`"))?;
    let (identity, roots) = verified(&bundle, digest, TrustedRoot::built_in().iter().chain(more), now)?;
    let root = match roots.as_slice() {
        [RootName::File(path), ..] => Some(path.clone()),
        _ => None,
    };
    let identity = ProvenIdentity { root, ..identity };
    // The statement of GitHub alone is as good as its certificate.
    let published = statement.published.as_ref().filter(|_| roots.contains(&RootName::GitHub));
    Ok(Proven { identity: identity.with_release(published), roots, statement })
}

/// Who has signed a file, if a bundle of whatever form proves it: the question of Sigstore's conformance suite. Of a release,
/// statements alone count.
///
/// # Errors
/// Why nothing is proven.
pub fn prove_file(
    bundle: &[u8],
    file: &Digest,
    root: Option<&[u8]>,
    now: SystemTime,
) -> Result<ProvenIdentity, String> {
    let own = root.map(|text| TrustedRoot::read(RootName::File(String::new()), text)).transpose()?.map(Arc::new);
    within_limits(&json::parse(bundle)?)?;
    let bundle = read(bundle).map_err(|fault| fault.to_string())?;
    // A root that is named is the only one.
    let built_in = TrustedRoot::built_in().iter().filter(|root| own.is_none() && root.name == RootName::PublicGood);
    let proven = verified(&bundle, file, built_in.chain(&own), now);
    proven.map(|(identity, _)| identity).map_err(|fault| fault.to_string())
}

fn read(bytes: &[u8]) -> Result<Bundle, KeylessFault> {
    let malformed = |problem: &str| KeylessFault::Malformed(problem.to_owned());
    let text = std::str::from_utf8(bytes).map_err(|_| malformed("it is not UTF-8"))?;
    crypto::install();
    Bundle::from_json(text).map_err(|_| malformed("a member of it has another form"))
}

/// Who has signed what has this digest, and every one of the roots that proves it.
fn verified<'a>(
    bundle: &Bundle,
    digest: &Digest,
    roots: impl Iterator<Item = &'a Arc<TrustedRoot>>,
    now: SystemTime,
) -> Result<(ProvenIdentity, Vec<RootName>), KeylessFault> {
    let malformed = |problem: &str| KeylessFault::Malformed(problem.to_owned());
    let digest = Sha256Hash::from_hex(digest.encoded()).map_err(|_| malformed("no subject has a `sha256`"))?;
    let seconds = now.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let is_future = |time: i64, slow: u64| u64::try_from(time).is_ok_and(|time| time > seconds.saturating_add(slow));
    let entries = &bundle.verification_material.tlog_entries;
    // The crate below demands the same of a log's time by its own clock, to the second.
    if entries.iter().filter_map(|entry| entry.integrated_time).any(|time| is_future(time.as_second(), 0)) {
        return Err(KeylessFault::Future);
    }
    let names = bundle.signing_certificate().and_then(|certificate| Names::of(certificate.as_bytes()));
    let names = names.ok_or_else(|| malformed("its certificate cannot be read"))?;
    let mut fault = KeylessFault::UnknownAuthority;
    let (mut proven, mut by) = (None, Vec::new());
    for root in roots.filter(|root| root.claims(&names)) {
        match root.verifier.verify(digest, bundle, &root.demands) {
            Ok(verified) => {
                let times = verified.verified_timestamps();
                if times.iter().any(|time| is_future(time.as_second(), SLOW_CLOCK)) {
                    fault = KeylessFault::Future;
                    continue;
                }
                let identity = verified.certificate().filter(|_| verified.certificate_verified() && !times.is_empty());
                let Some(identity) = identity.and_then(ProvenIdentity::of) else {
                    fault = KeylessFault::Nameless;
                    continue;
                };
                if root.is_for(identity.issuer.as_deref()) {
                    by.push(root.name.clone());
                    proven = Some(identity);
                } else {
                    fault = KeylessFault::UnknownAuthority;
                }
            }
            Err(error) => fault = fault_of(&error),
        }
    }
    // All of them have read one certificate.
    Ok((proven.ok_or(fault)?, by))
}

/// Bounds what costs work or memory before it is read again.
fn within_limits(bundle: &Value) -> Result<(), String> {
    let material = json::object(bundle, "verificationMaterial")?;
    if let Some(certificate) = material.get("certificate")
        && json::text(certificate, "rawBytes")?.len() > CERTIFICATE
    {
        return Err("its certificate is too large".to_owned());
    }
    let times = material.get("timestampVerificationData").and_then(|data| data.get("rfc3161Timestamps"));
    if times.and_then(Value::as_array).is_some_and(|times| times.len() > TIMESTAMPS) {
        return Err(format!("it has more than {TIMESTAMPS} timestamps"));
    }
    let entries = material.get("tlogEntries").and_then(Value::as_array);
    if entries.is_some_and(|entries| entries.len() > ENTRIES) {
        return Err(format!("it has more than {ENTRIES} entries of logs"));
    }
    for entry in entries.into_iter().flatten() {
        let hashes = entry.get("inclusionProof").and_then(|proof| proof.get("hashes")).and_then(Value::as_array);
        if hashes.is_some_and(|hashes| hashes.len() > PROOF) {
            return Err(format!("a proof has more than {PROOF} hashes"));
        }
    }
    Ok(())
}

/// The fault in our own words.
fn fault_of(error: &Error) -> KeylessFault {
    match error {
        Error::SignatureInvalid(_) => KeylessFault::Signature,
        Error::Certificate(error) => match error {
            CertificateError::NoValidAuthority { .. } => KeylessFault::AuthorityTime,
            CertificateError::NotYetValid { .. } | CertificateError::Expired { .. } => KeylessFault::CertificateTime,
            CertificateError::Sct(_) => KeylessFault::CertificateLog,
            _ => KeylessFault::Certificate,
        },
        Error::TransparencyLog(error) => match error {
            TransparencyLogError::EntryMismatch(_) => KeylessFault::LogEntry,
            TransparencyLogError::IntegratedTime(_) => KeylessFault::CertificateTime,
            _ => KeylessFault::Log,
        },
        Error::Timestamp(TimestampError::NoVerifiedTimestamp(_)) => KeylessFault::NoTime,
        Error::Timestamp(_) => KeylessFault::Timestamp,
        Error::Bundle(_) => KeylessFault::Log,
        Error::InvalidBundle(_) | Error::Types(_) => {
            KeylessFault::Malformed("a member of it has another form".to_owned())
        }
        _ => KeylessFault::Unsupported,
    }
}
