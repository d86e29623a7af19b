//! What was found beside a release, unverified.

use tofu_oci_types::Digest;

/// One thing that may say who stands for a release.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Evidence {
    /// A Sigstore bundle.
    Bundle {
        /// The manifest that holds it.
        origin: Digest,
        /// The bundle, at most 1 MiB.
        bytes: Vec<u8>,
    },
    /// A signature in the form of the tag `sha256-HEX.sig`.
    CosignTag {
        /// The manifest that holds it.
        origin: Digest,
        /// What was signed.
        payload: Vec<u8>,
        /// The signature in base64.
        signature: String,
    },
    /// The checksums of a release, and signatures over them.
    Sums {
        /// The manifest that holds them.
        origin: Digest,
        /// The file `SHA256SUMS`.
        sums: Vec<u8>,
        /// Detached signatures over it.
        signatures: Vec<Vec<u8>>,
        /// Public keys that came along. Nothing makes them trusted.
        keys: Vec<Vec<u8>>,
    },
    /// Something that claims to be one of these and cannot be read.
    Unreadable {
        /// The manifest.
        origin: Digest,
        /// What is wrong with it.
        problem: String,
    },
}
