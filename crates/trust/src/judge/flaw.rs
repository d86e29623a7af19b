//! Why a signature does not count.

use std::fmt;

use serde::{Deserialize, Serialize};
use tofu_oci_types::{Digest, Version};

use crate::KeyId;

/// Why a signature does not count, or how it contradicts the release. Texts are as the signer wrote them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Flaw {
    /// It names another provider.
    OtherProvider {
        named: String,
        /// The provider of the release, or `a module`.
        wanted: String,
    },
    /// It names another version.
    OtherVersion {
        named: String,
        /// The version of the release.
        wanted: Box<Version>,
    },
    /// It is a signature of another index.
    OtherIndex {
        /// Which one, if it says so.
        signed: Option<Digest>,
    },
    /// It lists other archives for platforms of this release.
    OtherPackage {
        /// Whose file, such as `terraform-provider-widget_1.0.0_linux_amd64.zip`.
        file_name: String,
    },
    /// It does not name the provider, the version or both.
    Unnamed {
        /// What it does not name.
        missing: Missing,
    },
    /// It is a statement of another type than the rule asks for.
    PredicateType { found: String },
    /// A signed `SHA256SUMS` that lists no archive of this release.
    NotListed,
    /// No trusted key made it, or it was damaged: without a hint the two look the same.
    UnknownKey {
        /// What the signature says about its key.
        claimed: Option<String>,
    },
    /// A key made it that was found beside it, and that is not trusted.
    TravellingKey { key: KeyId },
    /// It does not verify.
    BadSignature { problem: String },
    /// The key has expired since.
    ExpiredKey { what: String },
    RevokedKey {
        /// Which, when and why.
        what: String,
    },
    /// It uses a digest that can be forged.
    WeakDigest { what: String },
    /// It was made with a certificate and not with a key.
    Keyless,
    /// A `SHA256SUMS` without a signature.
    NoSignature,
    /// It could not be read.
    Unreadable { problem: String },
}

impl Flaw {
    /// A stable kebab-case name.
    pub fn code(&self) -> &'static str {
        match self {
            Self::OtherProvider { .. } => "other-provider",
            Self::OtherVersion { .. } => "other-version",
            Self::OtherIndex { .. } => "other-index",
            Self::OtherPackage { .. } => "other-package",
            Self::Unnamed { .. } => "unnamed-signature",
            Self::PredicateType { .. } => "predicate-type",
            Self::NotListed => "not-listed",
            Self::UnknownKey { .. } | Self::TravellingKey { .. } => "unknown-key",
            Self::BadSignature { .. } => "bad-signature",
            Self::ExpiredKey { .. } => "expired-key",
            Self::RevokedKey { .. } => "revoked-key",
            Self::WeakDigest { .. } => "weak-digest",
            Self::Keyless => "keyless",
            Self::NoSignature => "no-signature",
            Self::Unreadable { .. } => "unreadable",
        }
    }

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
