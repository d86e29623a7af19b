//! SHA256SUMS files.

use std::path::{Path, PathBuf};

use tofu_oci_types::Digest;

use super::files;
use crate::PackError;

/// A SHA256SUMS file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DistSums {
    /// The file.
    pub path: PathBuf,
    /// What it says.
    pub listed: tofu_oci_trust::Sums,
    /// The text that it says it in.
    pub(super) text: String,
}

impl DistSums {
    /// Reads a file, by the rule by which a signed one is read later.
    pub(super) fn read(path: &Path) -> Result<Self, PackError> {
        let text = files::read_text(path)?;
        let listed = tofu_oci_trust::Sums::parse(text.as_bytes())
            .map_err(|error| PackError::Malformed { path: path.to_owned(), problem: error.to_string() })?;
        Ok(Self { path: path.to_owned(), listed, text })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: &str) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("SHA256SUMS");
        std::fs::write(&path, text).unwrap();
        let found = match DistSums::read(&path) {
            Ok(sums) => sums.listed.iter().map(|(name, _)| name).collect::<Vec<_>>().join(", "),
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
    }
}
