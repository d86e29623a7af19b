//! What became of each signature.

use std::collections::BTreeSet;
use std::fmt;

use tofu_oci_types::{Digest, PackageHash};

use super::Missing;
use crate::{Form, KeyId};

/// One signature that was looked at. Texts of it are as the signer wrote them: whoever shows them cleans them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Examined {
    /// How it was written down; nothing where that could not be read.
    pub form: Option<Form>,
    /// The manifest that it was found in.
    pub origin: Digest,
    /// The key that made it, where that is certain.
    pub key: Option<KeyId>,
    /// What the policy or the pins call that key.
    pub key_name: Option<String>,
    /// What the signature says about its key.
    pub claimed_key: Option<String>,
    /// The provider that it names.
    pub address: Option<String>,
    /// The version that it names.
    pub version: Option<String>,
    /// What it says about its subject.
    pub predicate_type: Option<String>,
    /// The archives of this release that a signed `SHA256SUMS` lists.
    pub zips: BTreeSet<PackageHash>,
    /// What became of it.
    pub outcome: Outcome,
}

impl Examined {
    pub(super) fn new(form: Option<Form>, origin: &Digest, outcome: Outcome) -> Self {
        Self {
            form,
            origin: origin.clone(),
            key: None,
            key_name: None,
            claimed_key: None,
            address: None,
            version: None,
            predicate_type: None,
            zips: BTreeSet::new(),
            outcome,
        }
    }
}

/// What became of a signature. `Display` is one sentence, lower case, no full stop.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// It counts.
    Counts,
    /// It counts although it does not name all that it should.
    CountsUnnamed {
        /// What it does not name.
        missing: Missing,
    },
    /// It counts although the key has expired since.
    CountsExpired {
        /// What has expired.
        what: String,
    },
    /// It names another provider.
    OtherProvider {
        /// Which.
        named: String,
    },
    /// It names another version.
    OtherVersion {
        /// Which.
        named: String,
    },
    /// It is a signature of another index.
    OtherIndex {
        /// Which one, where it says so.
        signed: Option<Digest>,
    },
    /// It lists other archives for platforms of this release.
    OtherPackage {
        /// Whose file, such as `terraform-provider-widget_1.0.0_linux_amd64.zip`.
        file_name: String,
    },
    /// It names neither the provider nor the version, or only one of the two.
    Unnamed {
        /// What it does not name.
        missing: Missing,
    },
    /// It says something else than is asked for.
    PredicateType {
        /// What.
        found: String,
    },
    /// A signed `SHA256SUMS` without one archive of this release.
    NotListed,
    /// No key of ours made it, or it was damaged: without a hint nobody can tell.
    UnknownKey,
    /// A key made it that lies beside it, and is none of ours.
    TravellingKey {
        /// The key.
        key: KeyId,
    },
    /// It does not verify.
    BadSignature {
        /// Why.
        problem: String,
    },
    /// The key has expired since.
    ExpiredKey {
        /// What has expired.
        what: String,
    },
    /// The key was revoked.
    RevokedKey {
        /// Which, when and why.
        what: String,
    },
    /// It uses a digest that can be forged.
    WeakDigest {
        /// Which, and where.
        what: String,
    },
    /// It was made with a certificate and not with a key.
    Keyless,
    /// There is no signature at all: a `SHA256SUMS` alone.
    NoSignature,
    /// It could not be read.
    Unreadable {
        /// Why.
        problem: String,
    },
}

impl Outcome {
    /// A stable kebab-case name.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Counts => "counts",
            Self::CountsUnnamed { .. } => "counts-unnamed",
            Self::CountsExpired { .. } => "counts-expired",
            Self::OtherProvider { .. } => "other-provider",
            Self::OtherVersion { .. } => "other-version",
            Self::OtherIndex { .. } => "other-index",
            Self::OtherPackage { .. } => "other-package",
            Self::Unnamed { .. } => "unnamed-signature",
            Self::PredicateType { .. } => "predicate-type",
            Self::NotListed => "not-listed",
            Self::UnknownKey | Self::TravellingKey { .. } => "unknown-key",
            Self::BadSignature { .. } => "bad-signature",
            Self::ExpiredKey { .. } => "expired-key",
            Self::RevokedKey { .. } => "revoked-key",
            Self::WeakDigest { .. } => "weak-digest",
            Self::Keyless => "keyless",
            Self::NoSignature => "no-signature",
            Self::Unreadable { .. } => "unreadable",
        }
    }

    /// Whether it speaks for the release.
    pub fn counts(&self) -> bool {
        matches!(self, Self::Counts | Self::CountsUnnamed { .. } | Self::CountsExpired { .. })
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Counts => f.write_str("counts"),
            Self::CountsUnnamed { missing } => write!(f, "counts, although it does not name {missing}"),
            Self::CountsExpired { what } => write!(f, "counts, although {what}"),
            Self::OtherProvider { named } => write!(f, "is for another provider, {named}"),
            Self::OtherVersion { named } => write!(f, "is for another version, {named}"),
            Self::OtherIndex { signed: Some(signed) } => write!(f, "is a signature of another index, {signed}"),
            Self::OtherIndex { signed: None } => f.write_str("is a signature of something else"),
            Self::OtherPackage { file_name } => write!(f, "lists another {file_name} than the one offered"),
            Self::Unnamed { missing } => write!(f, "does not name {missing}"),
            Self::PredicateType { found } => write!(f, "says something else about it: {found}"),
            Self::NotListed => f.write_str("lists no archive of this release"),
            Self::UnknownKey => f.write_str("is by a key that is not one of yours, or it was damaged"),
            Self::TravellingKey { key } => match key.openpgp_fingerprint() {
                Some(fingerprint) => {
                    write!(f, "is by a key that travels with it: {fingerprint}, not one of yours")
                }
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
