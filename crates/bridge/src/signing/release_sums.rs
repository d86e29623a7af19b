//! Signed checksums, as values.

use std::collections::BTreeMap;

use bytes::Bytes;
use tofu_oci_types::{Digest, Platform};

/// A `SHA256SUMS` with its signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReleaseSums {
    pub text: Bytes,
    /// Its binary detached `OpenPGP` signature.
    pub signature: Bytes,
    /// The keys that the signature verifies with.
    pub keys: Vec<SumsKey>,
    /// The zip of each platform.
    pub zips: BTreeMap<Platform, SumsZip>,
}

/// A zip that a `SHA256SUMS` has a line for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SumsZip {
    /// The name that the file has for it.
    pub name: String,
    /// A SHA-256.
    pub digest: Digest,
    /// In bytes.
    pub size: u64,
}

/// A public key, as the download document names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SumsKey {
    /// 16 hexadecimal digits in capitals.
    pub key_id: String,
    /// The key in ASCII armor.
    pub ascii_armor: String,
}
