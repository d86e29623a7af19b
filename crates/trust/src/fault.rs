//! Why a signature does not count.

use serde::{Deserialize, Serialize};

use crate::json::shown;
use crate::key_id::KeyId;
use crate::statement::Statement;
use crate::vocabulary::BUNDLE_TYPE;

/// How a signature was written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum SignatureForm {
    /// A Sigstore bundle in a referrer of the index.
    #[serde(rename = "bundle")]
    Bundle,
    /// A payload and a signature below the tag `sha256-<hex>.sig`.
    #[serde(rename = "cosign-tag")]
    CosignTag,
    /// An `OpenPGP` signature of `SHA256SUMS`.
    #[serde(rename = "sha256sums")]
    Sums,
    /// A notice in a referrer of the index; it may be unsigned.
    #[serde(rename = "notice")]
    Notice,
    /// Another file in a referrer of the index: it vouches for nothing.
    #[serde(rename = "file")]
    File,
}

/// A signature that verified: the key's owner made this statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signed {
    /// The key that verified it.
    pub key: KeyId,
    /// How it was written down.
    pub form: SignatureForm,
    pub statement: Statement,
}

/// What a signature claims, unverified: for messages, never for decisions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peek {
    /// Who claims to have made it.
    pub made_by: MadeBy,
    /// What it claims to say.
    pub statement: Statement,
}

/// Who claims to have made a signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MadeBy {
    /// The holder of a key, which a hint may name.
    Key {
        /// As [`KeyId::hint`], if the signer followed the recommendation.
        hint: Option<String>,
    },
    /// The holder of a certificate ("keyless").
    Certificate,
}

/// A signature that does not count.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SignatureFault {
    #[error("the signature is malformed: {problem}")]
    Malformed { problem: String },
    #[error("the signature has {bytes} bytes, and at most {limit} are read")]
    TooLarge { bytes: usize, limit: usize },
    #[error("the bundle is {}; only {BUNDLE_TYPE} is supported", shown_version(.media_type))]
    BundleVersion { media_type: String },
    #[error("the signature is keyless (made with a certificate), and a key is asked for")]
    Keyless,
    #[error("the bundle holds the signature of a file (messageSignature), not of a statement about an index")]
    MessageSignature,
    #[error("none of the known keys made the signature, or it was damaged{}", shown_hint(.hint.as_deref()))]
    UnknownKey { hint: Option<String> },
    #[error("the signature does not verify with key {key}")]
    BadSignature { key: KeyId },
}

impl SignatureFault {
    pub(crate) fn malformed(problem: impl Into<String>) -> Self {
        Self::Malformed { problem: problem.into() }
    }
}

impl Peek {
    /// What the signature says about its key.
    pub fn hint(&self) -> Option<&str> {
        match &self.made_by {
            MadeBy::Key { hint } => hint.as_deref(),
            MadeBy::Certificate => None,
        }
    }
}

/// The version of a bundle in words: older, newer, or not a bundle.
fn shown_version(media_type: &str) -> String {
    let rest = media_type.strip_prefix("application/vnd.dev.sigstore.bundle");
    let version = rest.and_then(|rest| {
        let newer = rest.strip_prefix(".v").and_then(|rest| rest.strip_suffix("+json"));
        newer.or_else(|| rest.strip_prefix("+json;version="))
    });
    let minor = version.and_then(|version| version.strip_prefix("0.")).and_then(|minor| minor.parse::<u32>().ok());
    match (version, minor) {
        (_, Some(..=2)) => format!("of an older version ({})", shown(media_type)),
        (_, Some(3)) => format!("of the older spelling {}", shown(media_type)),
        (Some(_), _) => format!("of a newer version ({})", shown(media_type)),
        (None, _) => format!("not a Sigstore bundle ({})", shown(media_type)),
    }
}

fn shown_hint(hint: Option<&str>) -> String {
    hint.map(|hint| format!("; it says that key {} made it", shown(hint))).unwrap_or_default()
}
