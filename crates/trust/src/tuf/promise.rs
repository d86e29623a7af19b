//! What signed metadata say of another file.

use serde_json::Value;
use tofu_oci_types::Digest;

use super::error::TufError;
use crate::json;

/// The most bytes of a file, whatever length signed metadata give it.
pub(super) const LARGE: u64 = 1 << 20;

/// What a file must be, by what was signed before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Promise {
    pub(super) version: Option<u64>,
    pub(super) length: Option<u64>,
    pub(super) sha256: Option<Digest>,
}

impl Promise {
    /// The names of a file, with a version before it if the repository keeps all of them.
    pub(super) fn names(&self, name: &str) -> Vec<String> {
        let versioned = self.version.map(|version| format!("{version}.{name}"));
        versioned.into_iter().chain([name.to_owned()]).collect()
    }

    /// How many bytes of the file may be read.
    pub(super) fn limit(&self) -> u64 {
        self.length.unwrap_or(LARGE).min(LARGE)
    }

    pub(super) fn check(&self, file: &'static str, bytes: &[u8]) -> Result<(), TufError> {
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let is_long = self.length.is_none_or(|wanted| wanted == length);
        let is_hash = self.sha256.as_ref().is_none_or(|wanted| *wanted == Digest::sha256(bytes));
        if is_long && is_hash { Ok(()) } else { Err(TufError::OtherFile { file }) }
    }

    /// The members of an entry of `meta` or `targets`.
    pub(super) fn read(entry: &Value) -> Result<Self, String> {
        let sha256 = match entry.get("hashes") {
            None => None,
            Some(hashes) => {
                let hex = json::text(hashes, "sha256")?;
                Some(format!("sha256:{hex}").parse().map_err(|_| "`sha256` is not one".to_owned())?)
            }
        };
        let number = |name: &str| match entry.get(name) {
            None => Ok(None),
            Some(value) => value.as_u64().map(Some).ok_or_else(|| format!("`{name}` is not a number")),
        };
        Ok(Self { version: number("version")?, length: number("length")?, sha256 })
    }
}
