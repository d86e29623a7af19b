//! Small reads of the file system, with errors that name the file.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::PackError;

/// The largest metadata file that is read: 8 MiB. The largest known `artifacts.json` has some 100 KiB.
const LIMIT: u64 = 8 << 20;

/// The text of a metadata file.
pub(super) fn read_text(path: &Path) -> Result<String, PackError> {
    let file = tofu_oci_disk::open_file(path).map_err(|source| PackError::io("read", path, source))?;
    let malformed = |problem: &str| PackError::Malformed { path: path.to_owned(), problem: problem.to_owned() };
    let mut bytes = Vec::new();
    file.take(LIMIT + 1).read_to_end(&mut bytes).map_err(|source| PackError::io("read", path, source))?;
    if bytes.len() as u64 > LIMIT {
        return Err(malformed("it is larger than 8 MiB"));
    }
    String::from_utf8(bytes).map_err(|_| malformed("it is not UTF-8 text"))
}

/// A metadata file as a value.
pub(super) fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, PackError> {
    let text = read_text(path)?;
    serde_json::from_str(text.trim_start_matches('\u{feff}'))
        .map_err(|error| PackError::Malformed { path: path.to_owned(), problem: error.to_string() })
}

/// One entry of a folder.
pub(super) struct FolderEntry {
    pub(super) name: String,
    pub(super) path: PathBuf,
    pub(super) is_dir: bool,
}

impl FolderEntry {
    /// Whether its name is that of a list of SHA-256 checksums.
    pub(super) fn is_list_of_sha256(&self) -> bool {
        let name = self.name.to_ascii_lowercase();
        let text = name.strip_suffix(".txt").unwrap_or(&name);
        let is_list =
            ["sha256sum", "sha256sums"].iter().any(|end| text.ends_with(end)) || name.ends_with("checksums.txt");
        !self.is_dir && is_list
    }
}

/// The entries of a folder, sorted by name. Names that are not UTF-8 cannot be anything that is looked for.
pub(super) fn entries(dir: &Path) -> Result<Vec<FolderEntry>, PackError> {
    let error = |source| PackError::io("read", dir, source);
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(error)? {
        let entry = entry.map_err(error)?;
        let path = entry.path();
        if let Ok(name) = entry.file_name().into_string() {
            entries.push(FolderEntry { name, is_dir: path.is_dir(), path });
        }
    }
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(entries)
}

/// The last part of a path; empty if it is not UTF-8.
pub(crate) fn name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

/// Whether the name is one of a zip archive.
pub(super) fn is_zip(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|ending| ending == "zip")
}
