//! What a file is that is put beside a release.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use bytes::Bytes;
use serde::de::IgnoredAny;
use serde_json::Value;
use tofu_oci_trust::{BUNDLE_TYPE, BUNDLES_LIMIT, NOTICE_PREDICATE, Peek, peek_bundle};
use tofu_oci_types::parse_strictly;

use crate::AttachError;

/// The largest file, in bytes: registries and verifiers take no larger ones as a matter of course.
pub const ATTACH_LIMIT: u64 = 16 << 20;

const SPDX: &str = "application/spdx+json";
const CYCLONEDX: &str = "application/vnd.cyclonedx+json";

/// What every version's media type of a Sigstore bundle begins with.
const ANY_BUNDLE: &str = "application/vnd.dev.sigstore.bundle";

/// What types begin with that say what tofu-oci and cosign read by rules of their own.
const RESERVED: [&str; 4] =
    ["application/vnd.opentofu.", "application/vnd.oci.", "application/vnd.dev.cosign.", "application/vnd.docker."];

/// The media type of a file, which is the artifact type of its referrer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttachType(String);

/// Why a text is not the type of a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidAttachType {
    #[error("`{0}` is not a media type; write bundle, spdx, cyclonedx, or TYPE/SUBTYPE such as text/vnd.example")]
    NotAMediaType(String),
    #[error("files of the type `{0}` are written by other commands: `push`, `sign`, `withdraw` or cosign")]
    Reserved(String),
    #[error("of Sigstore bundles only {BUNDLE_TYPE} is attached, not `{0}`")]
    OtherBundle(String),
}

impl FromStr for AttachType {
    type Err = InvalidAttachType;

    /// A short name, or a media type.
    ///
    /// Spec: RFC 6838, section 4.2.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = match text {
            "bundle" => BUNDLE_TYPE,
            "spdx" => SPDX,
            "cyclonedx" => CYCLONEDX,
            other => other,
        };
        let is_name = |name: &str| {
            let rest = |letter: char| letter.is_ascii_alphanumeric() || "!#$&-^_.+".contains(letter);
            name.len() < 128 && name.starts_with(|first: char| first.is_ascii_alphanumeric()) && name.chars().all(rest)
        };
        let lower = text.to_ascii_lowercase();
        match text.split_once('/') {
            Some((kind, subtype)) if is_name(kind) && is_name(subtype) => {}
            _ => return Err(InvalidAttachType::NotAMediaType(text.to_owned())),
        }
        if lower.starts_with(ANY_BUNDLE) && lower != BUNDLE_TYPE {
            return Err(InvalidAttachType::OtherBundle(text.to_owned()));
        }
        if RESERVED.iter().any(|prefix| lower.starts_with(prefix)) {
            return Err(InvalidAttachType::Reserved(text.to_owned()));
        }
        Ok(Self(lower))
    }
}

impl AttachType {
    /// What a document that is not a bundle says that it is; `None` if it does not say.
    pub fn of(content: &[u8]) -> Option<Self> {
        found_type(content).filter(|found| found.0 != BUNDLE_TYPE)
    }

    fn is_json(&self) -> bool {
        self.0 == "application/json" || self.0.ends_with("+json")
    }

    /// What a file says that it is, if it cannot be of this type, too. Documents in JSON may have further types.
    fn contradicted_by(&self, bytes: &[u8], found: Option<&Self>) -> Option<String> {
        let (is_json, is_known) = (self.is_json(), [BUNDLE_TYPE, SPDX, CYCLONEDX].contains(&self.0.as_str()));
        if let Some(found) = found {
            let is_other = self != found && (is_known || !is_json || found.0 == BUNDLE_TYPE);
            return is_other.then(|| found.to_string());
        }
        let is_other = is_json && self.0 != BUNDLE_TYPE && serde_json::from_slice::<IgnoredAny>(bytes).is_err();
        is_other.then(|| "not JSON".to_owned())
    }
}

impl fmt::Display for AttachType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A file to be put beside a release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttachedFile {
    artifact_type: AttachType,
    /// Its name; `None` for a bundle, whose name says nothing.
    name: Option<String>,
    bytes: Bytes,
    /// What a bundle claims.
    peek: Option<Peek>,
}

impl AttachedFile {
    /// Finds out what the file at `path` is, if `wanted` does not say it. A file with one bundle in each line, as
    /// `gh attestation download` writes it, is several.
    ///
    /// # Errors
    /// [`AttachError::UnknownType`]; [`AttachError::OtherType`] of a file that says it is something else than wanted;
    /// [`AttachError::Empty`]; [`AttachError::NotABundle`] of a bundle that no installer could read.
    pub fn read(path: &Path, bytes: Vec<u8>, wanted: Option<&AttachType>) -> Result<Vec<Self>, AttachError> {
        if bytes.trim_ascii().is_empty() {
            return Err(AttachError::Empty { path: path.to_owned() });
        }
        let found = found_type(&bytes);
        let artifact_type = match (wanted, found) {
            (Some(wanted), found) => match wanted.contradicted_by(&bytes, found.as_ref()) {
                Some(found) => {
                    return Err(AttachError::OtherType { path: path.to_owned(), wanted: wanted.to_string(), found });
                }
                None => wanted.clone(),
            },
            (None, Some(found)) => found,
            (None, None) => return Err(AttachError::UnknownType { path: path.to_owned() }),
        };
        if artifact_type.0 == BUNDLE_TYPE {
            return Self::bundles(path, &bytes);
        }
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        Ok(vec![Self { artifact_type, name, bytes: bytes.into(), peek: None }])
    }

    /// The bundles of a file: the file itself, or its lines.
    ///
    /// # Errors
    /// [`AttachError::NotABundle`] of one that no installer could read, and of too many.
    pub fn bundles(path: &Path, bytes: &[u8]) -> Result<Vec<Self>, AttachError> {
        let not_a_bundle = |problem: String| AttachError::NotABundle { path: path.to_owned(), problem };
        let texts = Self::bundle_texts(bytes);
        if texts.len() > BUNDLES_LIMIT {
            return Err(not_a_bundle(format!(
                "it holds {} bundles, and at most {BUNDLES_LIMIT} are read",
                texts.len()
            )));
        }
        if texts.is_empty() {
            return Err(not_a_bundle("it is empty".to_owned()));
        }
        let mut bundles: Vec<Self> = Vec::with_capacity(texts.len());
        for text in texts {
            let bundle = Self::bundle(text).map_err(not_a_bundle)?;
            if !bundles.contains(&bundle) {
                bundles.push(bundle);
            }
        }
        Ok(bundles)
    }

    /// The content of a file as it is, if it is one bundle, or each of its lines as one, without its end.
    pub fn bundle_texts(bytes: &[u8]) -> Vec<&[u8]> {
        if serde_json::from_slice::<Value>(bytes).is_ok() {
            return vec![bytes];
        }
        let lines = bytes.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        lines.filter(|line| !line.trim_ascii().is_empty()).collect()
    }

    /// One bundle.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn bundle(bytes: &[u8]) -> Result<Self, String> {
        let peek = peek_bundle(bytes).map_err(|fault| fault.to_string())?;
        let artifact_type = AttachType(BUNDLE_TYPE.to_owned());
        Ok(Self { artifact_type, name: None, bytes: Bytes::copy_from_slice(bytes), peek: Some(peek) })
    }

    pub fn artifact_type(&self) -> &AttachType {
        &self.artifact_type
    }

    /// Its name; `None` for a bundle.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// Whether it is a bundle with a notice.
    pub fn is_notice(&self) -> bool {
        self.peek.as_ref().is_some_and(|peek| peek.statement.predicate_type == NOTICE_PREDICATE)
    }

    /// What a bundle claims to say, unverified; `None` for any other file.
    pub fn peek(&self) -> Option<&Peek> {
        self.peek.as_ref()
    }
}

/// What a content says that it is; `None` if it does not say.
fn found_type(bytes: &[u8]) -> Option<AttachType> {
    let first_line = bytes.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty())?;
    let value = parse_strictly(bytes).or_else(|_| parse_strictly(first_line)).ok()?;
    let text = |name: &str| value.get(name).and_then(Value::as_str);
    let found = if text("mediaType").is_some_and(|media_type| media_type.starts_with(ANY_BUNDLE)) {
        BUNDLE_TYPE
    } else if text("spdxVersion").is_some() {
        SPDX
    } else if text("bomFormat") == Some("CycloneDX") {
        CYCLONEDX
    } else {
        return None;
    };
    Some(AttachType(found.to_owned()))
}
