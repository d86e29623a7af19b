//! The versions that proved a root, beside its file: an old copy of the repository must not replace what a newer one proved.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use tofu_oci_trust::TufVersions;

use super::root_file::{LIMIT, unreadable, write};
use crate::diagnostic::Diagnostic;

pub(super) struct KeptVersions {
    path: PathBuf,
    /// `None` if no root was written there before.
    pub(super) versions: Option<TufVersions>,
}

impl KeptVersions {
    /// Of the root in `target`: `sigstore-root.json.tuf` beside `sigstore-root.json`.
    pub(super) fn read(target: &Path) -> Result<Self, Diagnostic> {
        let mut name = OsString::from(target);
        name.push(".tuf");
        let path = PathBuf::from(name);
        let versions = match tofu_oci_disk::read_file(&path, LIMIT) {
            Ok(text) => serde_json::from_slice(&text).map_err(|error| {
                Diagnostic::usage(format!("the file {} is not what `trust root update` writes", path.display()))
                    .cause(error.to_string())
            })?,
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(unreadable(&path, &error)),
        };
        Ok(Self { path, versions })
    }

    /// What to do if the repository is right and its count began anew.
    pub(super) fn hint(&self) -> String {
        format!("if the owner of the repository made it anew, delete {}", self.path.display())
    }

    pub(super) fn write(&self, versions: TufVersions) -> Result<(), Diagnostic> {
        if self.versions == Some(versions) {
            return Ok(());
        }
        let text = serde_json::to_string(&versions).expect("numbers are always JSON");
        write(&self.path, format!("{text}\n").as_bytes())
    }
}
