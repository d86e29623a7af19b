//! SHA256SUMS files.

use std::collections::BTreeMap;

use tofu_oci_types::{Digest, PackageHash};

/// The largest SHA256SUMS file, in bytes.
pub const SUMS_LIMIT: usize = 1 << 20;

/// What a SHA256SUMS file says: the checksum of each file that it names.
///
/// A line is 64 hexadecimal digits, one space, then a space or an asterisk, and a name, as `sha256sum` writes it.
/// Harmless differences are read: any number of spaces and asterisks before the name, upper-case digits, CR LF, blank
/// lines, `./` before a name, and a file named twice with the same checksum. Every other line is an error, and so is a
/// file with two checksums: it would be unclear which one was meant. A name with a folder in it is read and answers to
/// exactly that name, so it never counts as the file of the same name without the folder.
///
/// `OpenTofu` 1.12 takes the first of two lines, records no `zh:` of a file with an odd line, and crashes on a blank
/// one.
///
/// Spec: GNU coreutils, `sha256sum`, "Output format"; `OpenTofu` 1.12, `internal/getproviders/package_authentication.go`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    lines: BTreeMap<String, SumsLine>,
}

/// A line of a SHA256SUMS file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SumsLine {
    /// The digest that it gives.
    pub digest: Digest,
    /// The same as a checksum of a package.
    pub zh: PackageHash,
    /// Its number, from 1.
    pub number: usize,
}

/// A file that is not a SHA256SUMS file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SumsError {
    /// It is larger than what is read.
    #[error("it has {bytes} bytes, and at most {limit} are read")]
    TooLarge {
        /// Its size in bytes.
        bytes: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// It is not UTF-8.
    #[error("it is not UTF-8")]
    NotText,
    /// A line that does not belong in a SHA256SUMS file.
    #[error("line {number}: {problem}")]
    Line {
        /// Its number, from 1.
        number: usize,
        /// What is wrong with it.
        problem: &'static str,
    },
}

impl Sums {
    /// Reads a SHA256SUMS file of at most [`SUMS_LIMIT`] bytes.
    pub fn parse(bytes: &[u8]) -> Result<Self, SumsError> {
        if bytes.len() > SUMS_LIMIT {
            return Err(SumsError::TooLarge { bytes: bytes.len(), limit: SUMS_LIMIT });
        }
        let text = std::str::from_utf8(bytes).map_err(|_| SumsError::NotText)?;
        let mut lines = BTreeMap::<String, SumsLine>::new();
        for (number, line) in text.lines().enumerate().map(|(index, line)| (index + 1, line.trim_end())) {
            if line.is_empty() {
                continue;
            }
            let odd = |problem| SumsError::Line { number, problem };
            let (hex, name) = line.split_once(' ').ok_or_else(|| odd("it must read CHECKSUM  FILE"))?;
            let digest: Digest = format!("sha256:{}", hex.to_ascii_lowercase())
                .parse()
                .map_err(|_| odd("the checksum is not one of SHA-256"))?;
            let zh = PackageHash::zh(&digest).ok_or_else(|| odd("the checksum is not one of SHA-256"))?;
            let name = name.trim_start_matches([' ', '*']);
            let name = name.strip_prefix("./").unwrap_or(name);
            if name.is_empty() {
                return Err(odd("it must read CHECKSUM  FILE"));
            }
            match lines.get(name) {
                Some(other) if other.digest != digest => {
                    return Err(odd("the file was named before, with another checksum"));
                }
                Some(_) => {}
                None => {
                    lines.insert(name.to_owned(), SumsLine { digest, zh, number });
                }
            }
        }
        Ok(Self { lines })
    }

    /// The checksum of a file, by exactly this name.
    pub fn zh(&self, file_name: &str) -> Option<&PackageHash> {
        self.lines.get(file_name).map(|line| &line.zh)
    }

    /// The line that names a file, by exactly this name.
    pub fn line(&self, file_name: &str) -> Option<&SumsLine> {
        self.lines.get(file_name)
    }

    /// Every file and its checksum, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &PackageHash)> {
        self.lines.iter().map(|(name, line)| (name.as_str(), &line.zh))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &[u8], want: &str) {
        let found = match Sums::parse(text) {
            Ok(sums) => sums
                .lines
                .iter()
                .map(|(name, line)| format!("{} {name} {}", line.number, &line.zh.as_str()[..5]))
                .collect::<Vec<_>>()
                .join(", "),
            Err(error) => error.to_string(),
        };
        assert_eq!(found, want);
    }

    fn a(rest: &str) -> Vec<u8> {
        format!("{}{rest}", "a".repeat(64)).into_bytes()
    }

    #[test]
    fn reads_what_the_usual_tools_write() {
        let (a, b) = ("a".repeat(64), "B".repeat(64));
        check(format!("{a}  x.zip\n{b} *y.zip\n").as_bytes(), "1 x.zip zh:aa, 2 y.zip zh:bb");
        check(format!("{a}  x.zip\r\n\r\n{b}  ./y z.zip").as_bytes(), "1 x.zip zh:aa, 3 y z.zip zh:bb");
        check(b"", "");
    }

    #[test]
    fn one_file_with_two_checksums_is_refused() {
        let (a, b) = ("a".repeat(64), "b".repeat(64));
        check(format!("{a}  x.zip\n{a} *x.zip\n").as_bytes(), "1 x.zip zh:aa");
        check(
            format!("{a}  x.zip\n{b}  ./x.zip\n").as_bytes(),
            "line 2: the file was named before, with another checksum",
        );
    }

    #[test]
    fn a_folder_is_a_part_of_the_name() {
        let sums = Sums::parse(&a("  dist/x.zip\n")).unwrap();
        assert_eq!(sums.zh("x.zip"), None);
        assert!(sums.zh("dist/x.zip").is_some());
    }

    #[test]
    fn odd_lines_are_refused() {
        check(b"abc  x.zip\n", "line 1: the checksum is not one of SHA-256");
        check(&a("f  x.zip\n"), "line 1: the checksum is not one of SHA-256");
        check(&a("\n"), "line 1: it must read CHECKSUM  FILE");
        check(&a(" *\n"), "line 1: it must read CHECKSUM  FILE");
        check(b"# comment\n", "line 1: the checksum is not one of SHA-256");
        check(b"\xff\n", "it is not UTF-8");
        check(&vec![b'\n'; SUMS_LIMIT + 1], "it has 1048577 bytes, and at most 1048576 are read");
    }
}
