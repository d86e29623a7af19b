//! Why an `OpenPGP` key cannot be read, and why a signature does not count.

use std::fmt;
use std::time::SystemTime;

use tofu_oci_types::Moment;

use crate::KeyId;

/// A file of keys that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenPgpError {
    /// It is larger than what is read.
    #[error("the OpenPGP key file has {bytes} bytes, and at most {limit} are read")]
    TooLarge {
        /// Its size in bytes.
        bytes: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// It is not a sequence of `OpenPGP` certificates, or something lies before, between or after them.
    #[error("the OpenPGP key is malformed: {problem}")]
    Malformed { problem: String },
    /// It holds a secret key.
    #[error("this is an OpenPGP secret key; what verifies signatures is its public key (gpg --export --armor)")]
    Secret,
    /// A primary key of a version or form that is not supported.
    #[error("the OpenPGP key is of a kind that is not supported: {problem}")]
    Unsupported { problem: String },
}

/// Why a detached signature does not count.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenPgpFault {
    /// The document or the signature file is larger than what is read.
    #[error("the {what} has {bytes} bytes, and at most {limit} are read")]
    TooLarge {
        what: &'static str,
        /// Its size in bytes.
        bytes: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// It is not a detached signature.
    #[error("the OpenPGP signature is malformed: {problem}")]
    Malformed { problem: String },
    /// A signature of a version or with a critical demand that is not supported.
    #[error("the OpenPGP signature is of a kind that is not supported: {problem}")]
    Unsupported { problem: String },
    /// So many signatures and keys were found that this one was not looked at.
    #[error("the OpenPGP signature was not looked at, because there are too many signatures and keys")]
    TooMuch,
    /// None of the keys is the one that the signature names.
    #[error("the OpenPGP signature was made by {issuer}, which is not one of the keys")]
    UnknownKey {
        /// The fingerprint that the signature names, or its key id of 16 digits.
        issuer: String,
    },
    /// The key that the signature names did not sign this document.
    #[error("the OpenPGP signature does not fit: {key} did not sign this text")]
    BadSignature { key: KeyId },
    /// A digest that can be forged.
    #[error("{of} uses {algorithm}, which can be forged")]
    WeakDigest { algorithm: String, of: WeakPart },
    /// A key that is too short or of an algorithm that is not accepted.
    #[error("the {part} of {key} cannot be trusted: {problem}")]
    WeakKey { key: KeyId, part: KeyPart, problem: String },
    /// The owner revoked the key, and the revocation counts for this signature.
    #[error("the {part} of {key} was revoked on {}: {reason}", Moment::from(*.when).day())]
    Revoked { key: KeyId, part: KeyPart, when: SystemTime, reason: Reason },
    /// Nothing proves that the key that signed belongs to the certificate.
    #[error("the {part} of {key} is not bound to it: {problem}")]
    NotBound { key: KeyId, part: KeyPart, problem: &'static str },
    /// The key that signed is for other purposes.
    #[error("the {part} of {key} is not meant for signing")]
    NotForSigning { key: KeyId, part: KeyPart },
    /// The signature claims to be older than the key that made it.
    #[error("the signature is dated {}, before the {part} of {key} was made ({})", Moment::from(*.signed).day(), Moment::from(*.made).day())]
    BeforeKey { key: KeyId, part: KeyPart, signed: SystemTime, made: SystemTime },
    /// The signature claims to be made in the future.
    #[error("the signature by {key} is dated {}, which is in the future", Moment::from(*.signed).day())]
    Future { key: KeyId, signed: SystemTime },
    /// The signature was made with a key that had expired by then.
    #[error("the signature is dated {}, after the {part} of {key} expired on {}", Moment::from(*.signed).day(), Moment::from(*.expired).day())]
    AfterExpiry { key: KeyId, part: KeyPart, signed: SystemTime, expired: SystemTime },
}

/// A part of a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyPart {
    Primary,
    Subkey {
        /// Its fingerprint in upper-case hexadecimal digits.
        fingerprint: String,
    },
    UserId,
}

/// What was signed with a weak digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WeakPart {
    Document,
    /// What the primary key says about itself.
    SelfSignature,
    /// What binds a subkey to the primary key.
    Binding,
    /// What binds the primary key to a subkey that signs.
    BackSignature,
}

/// Why a key was revoked.
///
/// Spec: RFC 9580, section 5.2.3.31.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// None was given, or an unknown one: taken as the worst.
    Unknown,
    /// Another key took its place.
    Superseded,
    /// Somebody else may have the secret key.
    Compromised,
    /// It is no longer used.
    Retired,
    /// The name is no longer valid.
    UserIdInvalid,
}

impl fmt::Display for KeyPart {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Primary => formatter.write_str("primary key"),
            Self::Subkey { fingerprint } => write!(formatter, "subkey {fingerprint}"),
            Self::UserId => formatter.write_str("user id"),
        }
    }
}

impl fmt::Display for WeakPart {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Document => "the signature",
            Self::SelfSignature => "the primary key's signature of itself",
            Self::Binding => "the signature that binds the subkey",
            Self::BackSignature => "the subkey's signature of the primary key",
        })
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Unknown => "no reason given",
            Self::Superseded => "superseded by another key",
            Self::Compromised => "the secret key is compromised",
            Self::Retired => "retired",
            Self::UserIdInvalid => "the user id is no longer valid",
        })
    }
}
