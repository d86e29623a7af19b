//! Why a signature does not count.

use std::fmt;

use serde::{Deserialize, Serialize};
use tofu_oci_fault::Fault;
use tofu_oci_types::{Digest, Platform, Version};

use crate::{KeyId, NumberOf, ProvenIdentity};

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
    /// a trusted key has signed an archive of the release, or the manifest of a platform, and not the index
    #[fault(
        "not-the-index",
        todo = "the publisher signs the index with the key, or an `[[identity]]` attests the archives"
    )]
    #[hint("a key signs the index; what is attested of archives counts by an [[identity]] of the rule alone")]
    NotTheIndex {
        /// What it has signed: the name of an archive.
        file_name: String,
    },
    /// a trusted statement names archives of the release by other file names than `SHA256SUMS` does
    #[fault("other-file-names", todo = "the publisher attests the files under their names in `SHA256SUMS`")]
    #[hint("its publisher must attest the zips under the names that SHA256SUMS has for them, or the index")]
    OtherFileNames {
        /// What the statement calls an archive, if anything.
        found: Option<String>,
        /// What `SHA256SUMS` calls it.
        wanted: String,
    },
    /// a trusted `SHA256SUMS` gives an archive another checksum, or a signed manifest of one platform is offered for another
    /// one
    #[fault("other-package", todo = "do not install it; tell the publisher")]
    #[hint("this is not what it is offered as: check the address and the repository")]
    OtherPackage {
        /// Whose file, such as `terraform-provider-widget_1.0.0_linux_amd64.zip`.
        file_name: String,
    },
    /// A trusted signature is of a manifest that names the archive of another platform than it is offered for.
    #[fault(code = "other-package")]
    #[hint("this is not what it is offered as: check the address and the repository")]
    OtherPlatform {
        /// What the manifest calls its archive.
        file_name: String,
        platform: Platform,
    },
    /// a signature does not name the provider or the version
    #[fault("unnamed-signature", todo = "sign with both names, or set `unnamed = \"warn\"`")]
    #[hint("with cosign: -a org.opentofu.provider.address=ADDR -a org.opentofu.provider.version=VERSION")]
    #[hint("to accept such signatures, write unnamed = \"warn\" into the rule of trust.toml")]
    Unnamed { missing: Missing },
    /// A proven identity's, which names what its `[[identity]]` and its rules name.
    #[fault(code = "unnamed-signature")]
    #[hint(if *missing != Missing::Version => "write the one address in `providers` of every rule that names the \
        identity")]
    #[hint(if *missing != Missing::Address => "if a tag was built, write {{version}} into the ref of the [[identity]]")]
    #[hint("to accept such signatures, write unnamed = \"warn\" into the rule of trust.toml")]
    UnnamedIdentity { missing: Missing },
    /// no key signed a statement of the type that the rule demands
    #[fault("predicate-type", todo = "correct `predicate_types`, or sign that statement")]
    PredicateType { found: String },
    /// trusted provenance names another builder or source than the rule demands
    #[fault("other-build", todo = "the publisher builds it as you demand, or correct `slsa` in the rule")]
    #[hint("if its publisher builds so now, correct slsa.{member} in the rule of trust.toml")]
    OtherBuild {
        /// `builder` or `source`.
        member: &'static str,
        /// What the provenance names, if anything.
        found: Option<String>,
        wanted: String,
    },
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
    /// `verify` only: a certificate made the signature, for an identity that no rule names
    #[fault("keyless", todo = "if it is its publisher, add an `[[identity]]` to `trust.toml` and name it in the rule")]
    #[hint(if let Some(lines) = identity.to_add() => "if that is its publisher, add this to trust.toml, and its name to \
        `keys` of the rule; in ref, {{version}} stands for the version:\n{lines}")]
    Keyless { identity: Box<ProvenIdentity> },
    /// an identity of the rule has the same repository or person, and another workflow, ref, environment, runner, issuer or root
    #[fault(
        "other-identity",
        todo = "the publisher releases by the workflow that you trust, or correct the `[[identity]]`"
    )]
    #[hint("if its publisher releases so now, correct {member} of the [[identity]] in trust.toml")]
    OtherIdentity {
        /// What the policy or the pins call it.
        name: String,
        member: &'static str,
        /// What the certificate says, if anything.
        found: Option<String>,
    },
    /// The name of its repository, or of the owner, was given to another one since, or is not shown to be that of the same one.
    #[fault(code = "other-identity")]
    #[hint(if *of == NumberOf::Repository && let Some(found) = found => "if its owner made it anew, write repository_id = \
        {found:?} into the [[identity]] of trust.toml")]
    #[hint(if *of == NumberOf::Owner && found.is_some() => "if that is its publisher all the same, write the \
        repository_id of the repository into the [[identity]] of trust.toml")]
    OtherNumber {
        of: NumberOf,
        /// As it is compared.
        name: String,
        /// Its number when the pins saw it.
        known: String,
        /// Its number now; `None` if the certificate says none.
        found: Option<String>,
    },
    /// a certificate made the signature, and no trusted root proves it
    #[fault(
        "not-proven",
        todo = "name the `root` of its Sigstore instance in the `[[identity]]`, or tell the publisher"
    )]
    #[hint("if it is of a Sigstore instance of your own, name its trusted_root.json as root of an [[identity]]")]
    NotProven { problem: String },
    /// `verify` only: a `SHA256SUMS` has no signature
    #[fault("no-signature", todo = "the publisher signs the file")]
    NoSignature,
    /// `verify` only: the signature cannot be read
    #[fault("unreadable")]
    #[hint("its publisher must sign the release anew")]
    Unreadable { problem: String },
}

/// Whose signatures count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sought {
    /// Those of keys, of identities too if there are some.
    Keys,
    /// Those of identities alone: what keys have signed explains little.
    Identities,
}

impl Flaw {
    /// Whether a trusted signature says that the release is something else than what it is offered as.
    pub fn contradicts(&self) -> bool {
        matches!(
            self,
            Self::OtherProvider { .. }
                | Self::OtherVersion { .. }
                | Self::OtherPackage { .. }
                | Self::OtherPlatform { .. }
        )
    }

    /// How much it explains why an unsigned release is refused, 0 the most. `None` if it explains nothing. What is broken
    /// explains little unless it is certain whose it is: anybody can put it beside a release.
    pub(super) fn rank(&self, key_is_known: bool, sought: Sought) -> Option<u8> {
        match self {
            Self::TravellingKey { .. } | Self::UnknownKey { .. } if sought == Sought::Identities => Some(12),
            Self::RevokedKey { .. } => Some(0),
            Self::ExpiredKey { .. } => Some(1),
            Self::WeakDigest { .. } => Some(2),
            Self::Unnamed { .. } | Self::UnnamedIdentity { .. } => Some(3),
            Self::OtherIndex { .. }
            | Self::NotTheIndex { .. }
            | Self::OtherFileNames { .. }
            | Self::OtherBuild { .. } => Some(4),
            Self::BadSignature { .. } if key_is_known => Some(5),
            Self::TravellingKey { .. } => Some(6),
            Self::OtherIdentity { .. } | Self::OtherNumber { .. } => Some(7),
            Self::UnknownKey { .. } => Some(8),
            Self::Keyless { .. } => Some(9),
            Self::NotProven { .. } => Some(10),
            Self::BadSignature { .. } => Some(11),
            Self::Unreadable { .. } => Some(13),
            Self::OtherProvider { .. }
            | Self::OtherVersion { .. }
            | Self::OtherPackage { .. }
            | Self::OtherPlatform { .. }
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
            Self::NotTheIndex { file_name } => write!(f, "is of {file_name} alone, and a key must sign the index"),
            Self::OtherFileNames { found: Some(found), wanted } => {
                write!(f, "calls an archive of this release {found}, not {wanted}")
            }
            Self::OtherFileNames { found: None, wanted } => {
                write!(f, "does not name the archive {wanted} of this release")
            }
            Self::OtherPackage { file_name } => write!(f, "lists another {file_name} than the one offered"),
            Self::OtherPlatform { file_name, platform } => {
                write!(f, "is of the manifest of {file_name}, which is offered for {platform}")
            }
            Self::Unnamed { missing } | Self::UnnamedIdentity { missing } => write!(f, "does not name {missing}"),
            Self::PredicateType { found } => write!(f, "says something else about it: {found}"),
            Self::OtherBuild { member, found: Some(found), wanted } => {
                write!(f, "says that its {member} is {found}, not {wanted}")
            }
            Self::OtherBuild { member, found: None, wanted } => write!(f, "does not say that its {member} is {wanted}"),
            Self::NotListed => f.write_str("lists no archive of this release"),
            Self::UnknownKey { .. } => f.write_str("is by a key that is not one of yours, or it was damaged"),
            Self::TravellingKey { key } => match key.openpgp_fingerprint() {
                Some(fingerprint) => write!(f, "is by a key that travels with it: {fingerprint}, not one of yours"),
                None => write!(f, "is by a key that travels with it: {key}, not one of yours"),
            },
            Self::BadSignature { problem } => f.write_str(problem),
            Self::ExpiredKey { what } | Self::RevokedKey { what } | Self::WeakDigest { what } => f.write_str(what),
            Self::Keyless { identity } => write!(f, "is by {identity}, which no rule names"),
            Self::OtherIdentity { name, member, found: Some(found) } => {
                write!(f, "is not by {name}: its {member} is {found}")
            }
            Self::OtherIdentity { name, member, found: None } => write!(f, "is not by {name}: it has no {member}"),
            Self::OtherNumber { of, name, known, found: Some(found) } => {
                write!(f, "is of another {of}: another one has the name {name} now: its id was {known} and is {found}")
            }
            Self::OtherNumber { of, name, known, found: None } => {
                write!(f, "is not shown to be of the same {of}: its certificate has no id of {name}, which was {known}")
            }
            Self::NotProven { problem } => write!(f, "was made with a certificate and is not proven: {problem}"),
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
