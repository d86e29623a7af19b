//! What is known of a signature that verified.

use std::time::SystemTime;

use super::fault::{KeyPart, Reason};
use crate::key_id::KeyId;

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
        /// What expired; the first, of several.
        what: Expired,
        when: SystemTime,
    },
    /// The key was superseded or retired after it had made this signature. `OpenTofu` refuses it.
    Retired { part: KeyPart, when: SystemTime, reason: Reason },
}

/// What has expired.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Expired {
    Key(KeyPart),
    /// The signature of the document.
    Signature,
    /// A signature that a key depends on.
    Binding(KeyPart),
}
