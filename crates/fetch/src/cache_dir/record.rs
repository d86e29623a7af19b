//! What a cache says of a package: its files, and what they hold.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use serde::{Deserialize, Serialize};
use tofu_oci_archive::{PackageContents, PackageFile};
use tofu_oci_disk::ScratchFile;
use tofu_oci_types::{Digest, DigestHasher, PackageHash};

/// The longest record, in bytes: 50 000 files with long names.
const LONGEST: u64 = 32 << 20;

/// The name of the record in a package's folder.
pub(crate) const RECORD: &str = "record.json";

/// The name of the folder with the package's files.
pub(crate) const FILES: &str = "files";

/// The files of a package, as they were when it was verified.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PackageRecord {
    /// What it was installed as when it came: `HOST/NS/TYPE VERSION OS_ARCH`. It is shown, and decides nothing.
    pub(crate) name: String,
    pub(crate) h1: PackageHash,
    files: Vec<RecordedFile>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordedFile {
    name: String,
    size: u64,
    executable: bool,
    sha256: String,
}

impl PackageRecord {
    /// The record of a package that was verified.
    pub(crate) fn of(name: &str, contents: &PackageContents) -> Self {
        let file = |file: &PackageFile| RecordedFile {
            name: file.name.clone(),
            size: file.size,
            executable: file.mode & 0o111 != 0,
            sha256: Digest::from_sha256(file.sha256).encoded().to_owned(),
        };
        Self { name: name.to_owned(), h1: contents.h1(), files: contents.files().iter().map(file).collect() }
    }

    /// The record in a package's folder.
    pub(crate) fn read(content: &Path) -> io::Result<Self> {
        let bytes = tofu_oci_disk::read_file(&content.join(RECORD), LONGEST)?;
        serde_json::from_slice(&bytes).map_err(io::Error::from)
    }

    /// Writes it into a new folder of a package.
    pub(crate) fn write(&self, content: &Path) -> io::Result<()> {
        fs::write(content.join(RECORD), serde_json::to_vec(self).map_err(io::Error::from)?)
    }

    /// Its files; `None` if the record contradicts itself, or is of another package.
    pub(crate) fn contents(&self, h1: &PackageHash) -> Option<PackageContents> {
        let file = |file: &RecordedFile| {
            Some(PackageFile {
                name: file.name.clone(),
                size: file.size,
                mode: if file.executable { 0o755 } else { 0o644 },
                sha256: bytes_of_hex(&file.sha256)?,
            })
        };
        let contents = PackageContents::recorded(self.files.iter().map(file).collect::<Option<_>>()?).ok()?;
        (self.h1 == *h1 && contents.h1() == *h1).then_some(contents)
    }
}

/// What an archive was unpacked to. Two archives with the same `h1:` may give their files other modes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnpackedTo {
    pub(crate) h1: PackageHash,
    /// The SHA-256 of the names of the files that may be executed, each with a line break.
    modes: String,
}

impl UnpackedTo {
    /// What an archive with these contents was unpacked to.
    pub(crate) fn of(contents: &PackageContents) -> Self {
        let mut modes = DigestHasher::sha256();
        for file in contents.files().iter().filter(|file| file.mode & 0o111 != 0) {
            modes.update(file.name.as_bytes());
            modes.update(b"\n");
        }
        Self { h1: contents.h1(), modes: modes.finish().encoded().to_owned() }
    }

    /// What a file says; `None` if it says nothing.
    pub(crate) fn read(file: &Path) -> Option<Self> {
        let bytes = tofu_oci_disk::read_file(file, 1024).ok()?;
        let (h1, modes) = std::str::from_utf8(&bytes).ok()?.trim_end().split_once('\n')?;
        let h1: PackageHash = h1.parse().ok()?;
        h1.is_well_formed().then(|| Self { h1, modes: modes.to_owned() })
    }

    pub(crate) fn write(&self, file: &Path, scratch: &Path) -> io::Result<()> {
        let new = ScratchFile::beside(scratch)?;
        writeln!(new.as_file(), "{}\n{}", self.h1, self.modes)?;
        new.put(file)
    }
}

/// The 32 bytes of a SHA-256 in lower-case hexadecimal digits.
pub(crate) fn bytes_of_hex(text: &str) -> Option<[u8; 32]> {
    let digit = |one: u8| match one {
        b'0'..=b'9' => Some(one - b'0'),
        b'a'..=b'f' => Some(one - b'a' + 10),
        _ => None,
    };
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let bytes: Vec<u8> =
        pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect::<Option<_>>()?;
    if rest.is_empty() { bytes.try_into().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(name: &str) -> PackageContents {
        let file = PackageFile { name: name.to_owned(), size: 3, mode: 0o755, sha256: [7; 32] };
        PackageContents::recorded(vec![file]).unwrap()
    }

    #[test]
    fn a_record_reads_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let contents = contents("docs/a");
        PackageRecord::of("a 1 b", &contents).write(folder.path()).unwrap();
        let read = PackageRecord::read(folder.path()).unwrap();
        assert_eq!(read.contents(&contents.h1()), Some(contents));
        assert_eq!(read.name, "a 1 b");
    }

    /// A record that says `text` in place of `was` is not believed.
    #[track_caller]
    fn check(was: &str, text: &str) {
        let folder = tempfile::tempdir().unwrap();
        let contents = contents("file");
        PackageRecord::of("a 1 b", &contents).write(folder.path()).unwrap();
        let path = folder.path().join(RECORD);
        let written = fs::read_to_string(&path).unwrap();
        assert!(written.contains(was), "{written}");
        fs::write(&path, written.replace(was, text)).unwrap();
        let read = PackageRecord::read(folder.path()).ok().and_then(|read| read.contents(&contents.h1()));
        assert_eq!(read, None, "{text}");
    }

    #[test]
    fn a_record_that_contradicts_itself_is_not_believed() {
        check("\"file\"", "\"../file\"");
        check("\"file\"", "\"other\"");
        check("0707", "0807");
        check("0707", "07");
        check("{", "");
    }

    #[test]
    fn a_source_names_a_package() {
        let folder = tempfile::tempdir().unwrap();
        let (file, to) = (folder.path().join("zh"), UnpackedTo::of(&contents("a")));
        to.write(&file, folder.path()).unwrap();
        assert_eq!(UnpackedTo::read(&file), Some(to.clone()));
        fs::write(&file, format!("h1:abc\n{}\n", to.modes)).unwrap();
        assert_eq!(UnpackedTo::read(&file), None);
    }

    #[test]
    fn the_same_files_with_other_modes_are_another_package() {
        let file = |mode| PackageFile { name: "a".to_owned(), size: 3, mode, sha256: [7; 32] };
        let of = |mode| UnpackedTo::of(&PackageContents::recorded(vec![file(mode)]).unwrap());
        assert_eq!(of(0o755).h1, of(0o644).h1);
        assert_ne!(of(0o755), of(0o644));
    }
}
