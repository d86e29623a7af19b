//! Detached `OpenPGP` signatures.

mod date;
mod fault;
mod key;

use std::time::SystemTime;

pub use fault::{KeyPart, OpenPgpError, OpenPgpFault, Reason, WeakPart};
pub use key::OpenPgpKey;

use crate::KeyId;

/// A signature that verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenPgpSignature {
    /// The certificate: its primary key.
    pub key: KeyId,
    /// The fingerprint of the primary key or subkey that signed, in upper-case hexadecimal digits.
    pub signed_by: String,
    /// When the signature says it was made.
    pub created: SystemTime,
    /// Whether it is good without reserve.
    pub standing: KeyStanding,
}

/// Whether a signature that verified is good without reserve.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyStanding {
    /// Nothing speaks against it.
    Good,
    /// The key, or the signature itself, has expired since. `OpenTofu` accepts it with a warning, and refuses it with
    /// `OPENTOFU_ENFORCE_GPG_EXPIRATION=true`.
    Expired {
        /// What expired.
        what: Expired,
        /// When.
        when: SystemTime,
    },
    /// The key was superseded or retired after it had made this signature. `OpenTofu` refuses it.
    Retired {
        /// What was revoked.
        part: KeyPart,
        /// When.
        when: SystemTime,
        /// Why.
        reason: Reason,
    },
}

/// What has expired.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Expired {
    /// A key.
    Key(KeyPart),
    /// The signature of the document.
    Signature,
    /// A signature that a key depends on.
    Binding(KeyPart),
}

/// Verifies a detached signature of a document.
pub fn verify_detached(
    document: &[u8],
    signature: &[u8],
    keys: &[OpenPgpKey],
    now: SystemTime,
) -> Result<OpenPgpSignature, OpenPgpFault> {
    let _ = (document, signature, keys, now);
    Err(OpenPgpFault::Malformed { problem: "not yet".to_owned() })
}

/// Verifies each signature in a file of detached signatures of one document.
pub fn verify_each(
    document: &[u8],
    signature: &[u8],
    keys: &[OpenPgpKey],
    now: SystemTime,
) -> Result<Vec<Result<OpenPgpSignature, OpenPgpFault>>, OpenPgpFault> {
    let _ = (document, signature, keys, now);
    Err(OpenPgpFault::Malformed { problem: "not yet".to_owned() })
}
