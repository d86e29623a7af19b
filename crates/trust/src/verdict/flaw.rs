//! Why a signature does not count.

use std::fmt;

use serde::{Deserialize, Serialize};
use tofu_oci_fault::Fault;
use tofu_oci_types::{Digest, Version};

use crate::KeyId;

/// Why a signature does not count, or how it contradicts the release. Texts are as the signer wrote them.
#[derive(Clone, Debug, PartialEq, Eq, Fault)]
#[non_exhaustive]
pub enum Flaw {
    /// a trusted signature says that the release is another provider
    #[fault("other-provider")]
    #[hint("this is not what it is offered as: check the address and the repository")]
    OtherProvider {
        named: String,
        /// The provider of the release, or `a module`.
        wanted: String,
    },
    /// a trusted signature says that the release is another version
    #[fault("other-version")]
    #[hint("this is not what it is offered as: check the address and the repository")]
    OtherVersion {
        named: String,
        /// The version of the release.
        wanted: Box<Version>,
    },
    /// a trusted signature is of another index
    #[fault("other-index")]
    #[hint("its publisher must sign the release anew")]
    OtherIndex {
        /// Which one, if it says so.
        signed: Option<Digest>,
    },
    /// a trusted `SHA256SUMS` gives an archive another checksum
    #[fault("other-package", todo = "do not install it; tell the publisher")]
    #[hint("this is not what it is offered as: check the address and the repository")]
    OtherPackage {
        /// Whose file, such as `terraform-provider-widget_1.0.0_linux_amd64.zip`.
        file_name: String,
    },
    /// a signature does not name the provider or the version
    #[fault("unnamed-signature", todo = "sign with both names, or set `unnamed = \"warn\"`")]
    #[hint("with cosign: -a org.opentofu.provider.address=ADDR -a org.opentofu.provider.version=VERSION")]
    #[hint("to accept such signatures, write unnamed = \"warn\" into the rule of trust.toml")]
    Unnamed { missing: Missing },
    /// no key signed a statement of the type that the rule demands
    #[fault("predicate-type", todo = "correct `predicate_types`, or sign that statement")]
    PredicateType { found: String },
    /// `verify` only: a signed `SHA256SUMS` lists no archive of this release
    #[fault("not-listed", todo = "the publisher attaches the right file")]
    NotListed,
    /// the key of the signature is not one of yours, or the signature is damaged
    #[fault("unknown-key")]
    #[hint("if the key is its publisher's, add a [[key]] to trust.toml and name it in the rule")]
    UnknownKey {
        /// What the signature says about its key.
        claimed: Option<String>,
    },
    /// A key made it that was found beside it, and that is not trusted.
    #[fault(code = "unknown-key")]
    #[hint("if the key is its publisher's, add a [[key]] to trust.toml and name it in the rule")]
    TravellingKey { key: KeyId },
    /// the signature does not verify, or cannot be read
    #[fault("bad-signature")]
    #[hint("its publisher must sign the release anew")]
    BadSignature { problem: String },
    /// the key had expired when it signed, or the policy refuses keys that have expired since
    #[fault("expired-key")]
    #[hint("if its owner has prolonged the key, put the new public key into the file of trust.toml")]
    ExpiredKey { what: String },
    /// the owner revoked the key
    #[fault("revoked-key")]
    #[hint("its publisher must sign the release anew, with a good key")]
    RevokedKey {
        /// Which, when and why.
        what: String,
    },
    /// the signature uses SHA-1, MD5 or RIPEMD-160
    #[fault("weak-digest")]
    #[hint("its publisher must sign the release anew, with a good key")]
    WeakDigest { what: String },
    /// `verify` only: a certificate made the signature; tofu-oci accepts keys alone
    #[fault("keyless", todo = "the publisher signs with a key too")]
    #[hint("if the key is its publisher's, add a [[key]] to trust.toml and name it in the rule")]
    Keyless,
    /// `verify` only: a `SHA256SUMS` has no signature
    #[fault("no-signature", todo = "the publisher signs the file")]
    NoSignature,
    /// `verify` only: the signature cannot be read
    #[fault("unreadable")]
    #[hint("its publisher must sign the release anew")]
    Unreadable { problem: String },
}

impl Flaw {
    /// Whether a trusted signature says that the release is something else than what it is offered as.
    pub fn contradicts(&self) -> bool {
        matches!(self, Self::OtherProvider { .. } | Self::OtherVersion { .. } | Self::OtherPackage { .. })
    }

    /// How much it explains why an unsigned release is refused, 0 the most. `None` if it explains nothing. What is broken
    /// explains little unless it is certain whose it is: anybody can put it beside a release.
    pub(super) fn rank(&self, key_is_known: bool) -> Option<u8> {
        match self {
            Self::RevokedKey { .. } => Some(0),
            Self::ExpiredKey { .. } => Some(1),
            Self::WeakDigest { .. } => Some(2),
            Self::Unnamed { .. } => Some(3),
            Self::OtherIndex { .. } => Some(4),
            Self::BadSignature { .. } if key_is_known => Some(5),
            Self::TravellingKey { .. } => Some(6),
            Self::UnknownKey { .. } => Some(7),
            Self::Keyless => Some(8),
            Self::BadSignature { .. } => Some(9),
            Self::Unreadable { .. } => Some(10),
            Self::OtherProvider { .. }
            | Self::OtherVersion { .. }
            | Self::OtherPackage { .. }
            | Self::PredicateType { .. }
            | Self::NotListed
            | Self::NoSignature => None,
        }
    }
}

/// What the signature does or is, without a subject: `is for another version, 1.0.0`.
impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherProvider { named, .. } => write!(f, "is for another provider, {named}"),
            Self::OtherVersion { named, .. } => write!(f, "is for another version, {named}"),
            Self::OtherIndex { signed: Some(signed) } => write!(f, "is a signature of another index, {signed}"),
            Self::OtherIndex { signed: None } => f.write_str("is a signature of something else"),
            Self::OtherPackage { file_name } => write!(f, "lists another {file_name} than the one offered"),
            Self::Unnamed { missing } => write!(f, "does not name {missing}"),
            Self::PredicateType { found } => write!(f, "says something else about it: {found}"),
            Self::NotListed => f.write_str("lists no archive of this release"),
            Self::UnknownKey { .. } => f.write_str("is by a key that is not one of yours, or it was damaged"),
            Self::TravellingKey { key } => match key.openpgp_fingerprint() {
                Some(fingerprint) => write!(f, "is by a key that travels with it: {fingerprint}, not one of yours"),
                None => write!(f, "is by a key that travels with it: {key}, not one of yours"),
            },
            Self::BadSignature { problem } => f.write_str(problem),
            Self::ExpiredKey { what } | Self::RevokedKey { what } | Self::WeakDigest { what } => f.write_str(what),
            Self::Keyless => f.write_str("was made with a certificate; only signatures by keys are supported"),
            Self::NoSignature => f.write_str("has no signature"),
            Self::Unreadable { problem } => write!(f, "cannot be read: {problem}"),
        }
    }
}

/// What a signature does not name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Missing {
    /// The provider.
    Address,
    /// The version.
    Version,
    /// Neither.
    Both,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Address => "the provider",
            Self::Version => "the version",
            Self::Both => "the provider and the version",
        })
    }
}
