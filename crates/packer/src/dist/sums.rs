//! SHA256SUMS files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tofu_oci_types::Digest;

use super::files;
use crate::PackError;

/// A SHA256SUMS file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sums {
    /// The file.
    pub path: PathBuf,
    /// The digest of each file named in it, with the line number from 1.
    pub lines: BTreeMap<String, (Digest, usize)>,
    /// The text that the lines were read from.
    pub(super) text: String,
}

impl Sums {
    /// Reads a file of lines `HEX  NAME` or `HEX *NAME`.
    pub(super) fn read(path: &Path) -> Result<Self, PackError> {
        let text = files::read_text(path)?;
        let malformed = |line: usize, what: &str| PackError::Malformed {
            path: path.to_owned(),
            problem: format!("line {line}: {what}"),
        };
        let mut lines = BTreeMap::new();
        for (number, line) in text.lines().enumerate().map(|(index, line)| (index + 1, line.trim_end())) {
            if line.is_empty() {
                continue;
            }
            let (hex, name) = line.split_once(' ').ok_or_else(|| malformed(number, "it must read CHECKSUM  FILE"))?;
            let digest: Digest = format!("sha256:{}", hex.to_ascii_lowercase())
                .parse()
                .map_err(|_| malformed(number, "the checksum is not one of SHA-256"))?;
            let name = name.trim_start_matches([' ', '*']);
            let name = name.strip_prefix("./").unwrap_or(name).to_owned();
            match lines.get(&name) {
                Some((other, _)) if *other != digest => {
                    return Err(malformed(number, "the file was named before, with another checksum"));
                }
                Some(_) => {}
                None => {
                    lines.insert(name, (digest, number));
                }
            }
        }
        Ok(Self { path: path.to_owned(), lines, text })
    }

    /// Demands a line for the file.
    pub(crate) fn require(&self, path: &Path) -> Result<(), PackError> {
        match self.lines.get(files::name(path)) {
            Some(_) => Ok(()),
            None => Err(PackError::NoSum { path: path.to_owned(), sums: self.path.clone() }),
        }
    }

    /// Demands that the file's line, if it has one, carries this digest.
    pub(crate) fn check(&self, path: &Path, actual: &Digest) -> Result<(), PackError> {
        match self.lines.get(files::name(path)) {
            Some((expected, line)) if expected != actual => Err(PackError::WrongSum(Box::new(crate::WrongSum {
                path: path.to_owned(),
                sums: self.path.clone(),
                line: *line,
                expected: expected.clone(),
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
        let found = match Sums::read(&path) {
            Ok(sums) => {
                sums.lines.iter().map(|(name, (_, line))| format!("{line} {name}")).collect::<Vec<_>>().join(", ")
            }
            Err(PackError::Malformed { problem, .. }) => problem,
            Err(error) => error.to_string(),
        };
        assert_eq!(found, want);
    }

    #[test]
    fn reads_what_the_usual_tools_write() {
        let (a, b) = ("a".repeat(64), "B".repeat(64));
        check(&format!("{a}  x.zip\r\n\n{b} *./y z.zip\n"), "1 x.zip, 3 y z.zip");
        check(&format!("{a}  x.zip\n{a}  x.zip\n"), "1 x.zip");
        check(&format!("{a}  x.zip\n{b}  x.zip\n"), "line 2: the file was named before, with another checksum");
        check("abc  x.zip\n", "line 1: the checksum is not one of SHA-256");
        check(&a, "line 1: it must read CHECKSUM  FILE");
    }
}
