//! Why a release must not be used.

use std::fmt;

use tofu_oci_fault::Fault;
use tofu_oci_types::{Digest, printable};

use super::flaw::Flaw;
use crate::{NoticeReason, NoticeWriter};

/// Why a release must not be used. `Display` is one sentence about the release in one line, lower case, no full stop:
/// line breaks and other control characters of foreign text are replaced.
#[derive(Clone, Debug, PartialEq, Eq, Fault)]
#[non_exhaustive]
pub enum TrustRefusal {
    /// the publisher has withdrawn the version, or has replaced the release under its tag; as a warning if no rule
    /// demands signatures
    #[fault("withdrawn", todo = "take another version; the text has the reason")]
    #[cause(each = replaced_by.iter().map(|index| format!("{index} took its place")))]
    #[hint("no option overrides it; if it was withdrawn by mistake, whoever withdrew it takes that back")]
    Withdrawn {
        /// What the key that signed the notice is called; `None` if no trusted key did, and none is required.
        by: Option<String>,
        reason: NoticeReason,
        writer: NoticeWriter,
        /// The index that took its place under the tag of the version.
        replaced_by: Option<Digest>,
    },
    /// the version names another index than the one seen before
    #[fault("moved-tag", todo = "ask the publisher why; if it is right: `tofu-oci verify ADDR@VERSION --accept`")]
    #[hint("somebody has pushed another release under the same version; ask its publisher why")]
    MovedTag { pinned: Digest, offered: Digest },
    /// A signature contradicts the release, or the best one found does not count.
    #[fault(of = flaw, code = refusing_code(flaw))]
    Signature {
        /// Whose signature: the name of the key, else its id.
        by: String,
        /// What is wrong with it.
        flaw: Flaw,
    },
    /// No signature makes the statement that the rule asks for.
    #[fault(code = "predicate-type")]
    #[hint("what must be signed is `predicate_types` in the rule of trust.toml")]
    PredicateType {
        wanted: String,
        /// What was signed instead.
        found: Vec<String>,
    },
    /// too few distinct keys have signed
    #[fault("threshold", todo = "the owners of the other keys sign too")]
    Threshold { by: Vec<String>, wanted: usize },
    /// the release is not signed, and this provider was signed before
    #[fault(
        "was-signed",
        todo = "`tofu-oci sign`; if no rule demands a signature, `tofu-oci verify ADDR@VERSION \
            --accept` takes this release"
    )]
    WasSigned { by: Vec<String> },
    /// the release is not signed, and the policy demands a signature
    #[fault("unsigned", todo = "`tofu-oci sign`; the error names the rule and its line")]
    Unsigned,
}

impl TrustRefusal {
    /// The flaw of the signature that refuses the release.
    pub fn flaw(&self) -> Option<&Flaw> {
        if let Self::Signature { flaw, .. } = self { Some(flaw) } else { None }
    }

    /// The sentence, with foreign text as its signer wrote it.
    fn sentence(&self) -> String {
        match self {
            Self::Withdrawn { by: Some(by), reason, .. } => format!("it was withdrawn by {by}: {reason}"),
            Self::Withdrawn { by: None, reason, .. } => format!("it was withdrawn: {reason}"),
            Self::MovedTag { pinned, offered } => {
                format!("the version has moved: it was {pinned} before, and is {offered} now")
            }
            Self::Signature { by, flaw } => signature_sentence(by, flaw),
            Self::PredicateType { wanted, found } if found.is_empty() => {
                format!("no key has signed a statement of type {wanted}")
            }
            Self::PredicateType { wanted, found } => {
                format!("no key has signed a statement of type {wanted}, only {}", found.join(", "))
            }
            Self::Threshold { by, wanted } => {
                let keys = if by.len() == 1 { "key" } else { "keys" };
                format!("it is signed by {} {keys} ({}), and {wanted} are asked for", by.len(), by.join(", "))
            }
            Self::WasSigned { by } => {
                format!("it is not signed, and this provider was signed by {} before", by.join(", "))
            }
            Self::Unsigned => "it is not signed".to_owned(),
        }
    }
}

/// Of the names that `verify` shows alone, the one of the refusal.
fn refusing_code(flaw: &Flaw) -> &'static str {
    match flaw {
        Flaw::Keyless { .. } => "unknown-key",
        Flaw::Unreadable { .. } => "bad-signature",
        flaw => flaw.code(),
    }
}

fn signature_sentence(by: &str, flaw: &Flaw) -> String {
    match flaw {
        Flaw::OtherProvider { named, wanted } => {
            format!("the signature by {by} says that this is {named}, not {wanted}")
        }
        Flaw::OtherVersion { named, wanted } => {
            format!("the signature by {by} says that this is version {named}, not {wanted}")
        }
        Flaw::OtherPackage { .. } => format!("the list signed by {by} {flaw}"),
        Flaw::OtherIndex { signed: Some(signed) } => format!("the signature by {by} is of another index, {signed}"),
        Flaw::OtherIndex { signed: None } => format!("the signature by {by} is of something else"),
        Flaw::UnknownKey { claimed: Some(key) } => format!("it is signed by {key}, which is not one of your keys"),
        Flaw::UnknownKey { claimed: None } => {
            "it is signed by a key that is not one of yours, or its signature was damaged".to_owned()
        }
        Flaw::TravellingKey { key } => format!("it is signed by {key}, which is not one of your keys"),
        Flaw::Keyless { identity } => format!("it is signed by {identity}, which no rule names"),
        Flaw::NotProven { .. } | Flaw::OtherIdentity { .. } | Flaw::OtherNumber { .. } => {
            format!("its signature {flaw}")
        }
        Flaw::Unreadable { problem } => format!("what may be its signature cannot be read: {problem}"),
        Flaw::RevokedKey { what } | Flaw::ExpiredKey { what } | Flaw::WeakDigest { what } => what.clone(),
        Flaw::BadSignature { problem } => problem.clone(),
        Flaw::Unnamed { .. }
        | Flaw::OtherPlatform { .. }
        | Flaw::NotTheIndex { .. }
        | Flaw::OtherFileNames { .. }
        | Flaw::UnnamedIdentity { .. }
        | Flaw::PredicateType { .. }
        | Flaw::NotListed
        | Flaw::OtherBuild { .. }
        | Flaw::NoSignature => format!("the signature by {by} {flaw}"),
    }
}

impl fmt::Display for TrustRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&printable(&self.sentence()))
    }
}
