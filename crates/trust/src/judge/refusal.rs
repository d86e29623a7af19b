//! Why a release must not be used.

use std::fmt;

use serde::{Deserialize, Serialize};
use tofu_oci_types::{Digest, ProviderAddr, Version, printable};

/// Why a release must not be used. `Display` is one sentence about the release in one line, lower case, no full stop:
/// line breaks and other control characters of foreign text are replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The version is another index than the one seen before.
    MovedTag {
        /// The index that is pinned.
        pinned: Digest,
        /// The index that is offered.
        offered: Digest,
    },
    /// A trusted signature of this index says that it is another provider.
    OtherProvider {
        /// Whose signature.
        by: String,
        /// What it names.
        named: String,
        /// What was asked for.
        wanted: ProviderAddr,
    },
    /// A trusted signature of this index says that it is another version.
    OtherVersion {
        /// Whose signature.
        by: String,
        /// What it names.
        named: String,
        /// What was asked for.
        wanted: Version,
    },
    /// A trusted `SHA256SUMS` says that an archive is another one.
    OtherPackage {
        /// Whose signature.
        by: String,
        /// The file that it lists.
        file_name: String,
    },
    /// A trusted signature, but of something else.
    OtherIndex {
        /// Whose signature.
        by: String,
        /// What it is a signature of, where it says so.
        signed: Option<Digest>,
    },
    /// A signature that does not name all that it should.
    UnnamedSignature {
        /// Whose signature.
        by: String,
        /// What it does not name.
        missing: Missing,
    },
    /// A key was revoked.
    RevokedKey {
        /// Which, when and why.
        what: String,
    },
    /// A key has expired.
    ExpiredKey {
        /// What has expired, and when.
        what: String,
    },
    /// A digest that can be forged.
    WeakDigest {
        /// Which, and where.
        what: String,
    },
    /// Nobody has signed the statement that is asked for.
    PredicateType {
        /// What is asked for.
        wanted: String,
        /// What was signed instead.
        found: Vec<String>,
    },
    /// Too few keys.
    Threshold {
        /// Whose signatures count.
        by: Vec<String>,
        /// How many keys are asked for.
        wanted: usize,
    },
    /// A signature that does not verify.
    BadSignature {
        /// Why.
        problem: String,
    },
    /// A signature by a key that is none of the user's.
    UnknownKey {
        /// What is known of the key.
        key: Option<String>,
    },
    /// There is no signature, and there was one before, of this version or of another one.
    WasSigned {
        /// Whose.
        by: Vec<String>,
    },
    /// There is no signature.
    Unsigned,
}

impl Refusal {
    /// A stable kebab-case name.
    pub fn code(&self) -> &'static str {
        match self {
            Self::MovedTag { .. } => "moved-tag",
            Self::OtherProvider { .. } => "other-provider",
            Self::OtherVersion { .. } => "other-version",
            Self::OtherPackage { .. } => "other-package",
            Self::OtherIndex { .. } => "other-index",
            Self::UnnamedSignature { .. } => "unnamed-signature",
            Self::RevokedKey { .. } => "revoked-key",
            Self::ExpiredKey { .. } => "expired-key",
            Self::WeakDigest { .. } => "weak-digest",
            Self::PredicateType { .. } => "predicate-type",
            Self::Threshold { .. } => "threshold",
            Self::BadSignature { .. } => "bad-signature",
            Self::UnknownKey { .. } => "unknown-key",
            Self::WasSigned { .. } => "was-signed",
            Self::Unsigned => "unsigned",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&printable(&self.sentence()))
    }
}

impl Refusal {
    /// The sentence, with foreign text as its signer wrote it.
    fn sentence(&self) -> String {
        match self {
            Self::MovedTag { pinned, offered } => {
                format!("the version has moved: it was {pinned} before, and is {offered} now")
            }
            Self::OtherProvider { by, named, wanted } => {
                format!("the signature by {by} says that this is {named}, not {wanted}")
            }
            Self::OtherVersion { by, named, wanted } => {
                format!("the signature by {by} says that this is version {named}, not {wanted}")
            }
            Self::OtherPackage { by, file_name } => {
                format!("the SHA256SUMS signed by {by} lists another {file_name} than the one offered")
            }
            Self::OtherIndex { by, signed: Some(signed) } => {
                format!("the signature by {by} is of another index, {signed}")
            }
            Self::OtherIndex { by, signed: None } => format!("the signature by {by} is of something else"),
            Self::UnnamedSignature { by, missing } => format!("the signature by {by} does not name {missing}"),
            Self::RevokedKey { what } | Self::ExpiredKey { what } | Self::WeakDigest { what } => what.clone(),
            Self::PredicateType { wanted, found } if found.is_empty() => {
                format!("nobody has signed a statement of type {wanted}")
            }
            Self::PredicateType { wanted, found } => {
                format!("nobody has signed a statement of type {wanted}, only {}", found.join(", "))
            }
            Self::Threshold { by, wanted } => {
                let keys = if by.len() == 1 { "key" } else { "keys" };
                format!("it is signed by {} {keys} ({}), and {wanted} are asked for", by.len(), by.join(", "))
            }
            Self::BadSignature { problem } => problem.clone(),
            Self::UnknownKey { key: Some(key) } => format!("it is signed by {key}, which is not one of your keys"),
            Self::UnknownKey { key: None } => {
                "it is signed by a key that is not one of yours, or its signature was damaged".to_owned()
            }
            Self::WasSigned { by } => {
                format!("it is not signed, and this provider was signed by {} before", by.join(", "))
            }
            Self::Unsigned => "it is not signed".to_owned(),
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
