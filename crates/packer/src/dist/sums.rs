//! SHA256SUMS files.

use std::path::{Path, PathBuf};

use tofu_oci_types::Digest;

use super::files;
use crate::PackError;

/// A SHA256SUMS file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DistSums {
    pub path: PathBuf,
    pub listed: tofu_oci_trust::Sums,
    /// The text that it says it in.
    pub(super) text: String,
}

impl DistSums {
    /// Reads a file as readers later read a signed one; gives the path alone if all its checksums are of another kind than
    /// SHA-256.
    pub(super) fn read(path: &Path) -> Result<Result<Self, PathBuf>, PackError> {
        let text = files::read_text(path)?;
        match tofu_oci_trust::Sums::parse(text.as_bytes()) {
            Ok(listed) => Ok(Ok(Self { path: path.to_owned(), listed, text })),
            Err(_) if is_of_other_kind(&text) => Ok(Err(path.to_owned())),
            Err(error) => Err(PackError::Malformed { path: path.to_owned(), problem: error.to_string() }),
        }
    }

    /// Demands a line for the file.
    pub(crate) fn require(&self, path: &Path) -> Result<(), PackError> {
        match self.listed.line(files::name(path)) {
            Some(_) => Ok(()),
            None => Err(PackError::NoSum { path: path.to_owned(), sums: self.path.clone() }),
        }
    }

    /// Demands that the file's line, if it has one, carries this digest.
    pub(crate) fn check(&self, path: &Path, actual: &Digest) -> Result<(), PackError> {
        match self.listed.line(files::name(path)) {
            Some(line) if line.digest != *actual => Err(PackError::WrongSum(Box::new(crate::WrongSum {
                path: path.to_owned(),
                sums: self.path.clone(),
                line: line.number,
                expected: line.digest.clone(),
                actual: actual.clone(),
            }))),
            _ => Ok(()),
        }
    }
}

/// Whether every line has a checksum that is longer or shorter than one of SHA-256.
fn is_of_other_kind(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty()).peekable();
    let is_other = |line: &str| {
        let plain = line.split_once(' ').filter(|(_, name)| !name.trim().is_empty()).map(|(hex, _)| hex);
        let hex = line.rsplit_once(") = ").map(|(_, hex)| hex.trim_end()).or(plain).unwrap_or_default();
        hex.len() >= 8 && hex.len() != 64 && hex.bytes().all(|digit| digit.is_ascii_hexdigit())
    };
    lines.peek().is_some() && lines.all(is_other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: &str) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("SHA256SUMS");
        std::fs::write(&path, text).unwrap();
        let found = match DistSums::read(&path) {
            Ok(Err(_)) => "of another kind".to_owned(),
            Ok(Ok(sums)) => sums.listed.iter().map(|(name, _)| name).collect::<Vec<_>>().join(", "),
            Err(PackError::Malformed { problem, .. }) => problem,
            Err(error) => error.to_string(),
        };
        assert_eq!(found, want);
    }

    #[test]
    fn reads_what_the_usual_tools_write() {
        let (a, b) = ("a".repeat(64), "B".repeat(64));
        check(&format!("{a}  x.zip\r\n\n{b} *./y z.zip\n"), "x.zip, y z.zip");
        check(&format!("{a}  x.zip\n{b}  x.zip\n"), "line 2: the file was named before, with another checksum");
        check("abc  x.zip\n", "line 1: the checksum is not one of SHA-256");
        let long = "a".repeat(128);
        check(&format!("{long}  x.zip\n"), "of another kind");
        check(&format!("SHA512 (x.zip) = {long}\n"), "of another kind");
        check(&format!("{a}  x.zip\n{long}  x.zip\n"), "line 2: the checksum is not one of SHA-256");
    }
}
