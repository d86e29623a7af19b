//! The files of `trust root`: a trusted root, and what proved it.

use std::ffi::OsString;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use tofu_oci_disk::ScratchFile;
use tofu_oci_trust::TufState;

use crate::diagnostic::Diagnostic;
use crate::exit::Exit;

/// The most bytes of a file.
const LIMIT: u64 = 1 << 20;

pub(super) fn read(path: &Path) -> Result<Vec<u8>, Diagnostic> {
    tofu_oci_disk::read_file(path, LIMIT).map_err(|error| unreadable(path, &error))
}

fn unreadable(path: &Path, error: &std::io::Error) -> Diagnostic {
    Diagnostic::usage(format!("the file {} cannot be read", path.display()))
        .cause(error.to_string())
        .io_hint("read", path, error)
}

/// Refuses a file that cannot be written, before anything is read.
pub(super) fn demand_file(path: &Path) -> Result<(), Diagnostic> {
    let folder = folder_of(path);
    if path.is_dir() {
        let example = path.join("trusted_root.json");
        return Err(Diagnostic::usage(format!("{} is a folder, and --output names a file", path.display()))
            .hint(format!("name a file in it, such as {}", example.display())));
    }
    if !folder.is_dir() {
        return Err(Diagnostic::usage(format!("there is no folder {} for --output", folder.display()))
            .hint("make the folder, or name a file in another one"));
    }
    Ok(())
}

/// Replaces the file as a whole.
pub(super) fn write(path: &Path, text: &[u8]) -> Result<(), Diagnostic> {
    put(path, text).map_err(|error| unwritable(path, &error))
}

pub(super) fn unwritable(path: &Path, error: &std::io::Error) -> Diagnostic {
    Diagnostic::new(Exit::Fixable, format!("the file {} cannot be written", path.display()))
        .cause(error.to_string())
        .io_hint("write", path, error)
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn put(path: &Path, text: &[u8]) -> std::io::Result<()> {
    let beside = ScratchFile::beside(folder_of(path))?;
    beside.as_file().write_all(text)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        beside.as_file().set_permissions(std::fs::Permissions::from_mode(0o644))?;
    }
    beside.put(path)
}

/// What proved a root, in a file beside it: an old copy of the repository must not replace what a newer one proved.
pub(super) struct KeptState {
    path: PathBuf,
    /// `None` if no root was written there before.
    pub(super) state: Option<TufState>,
}

impl KeptState {
    /// Of the root in `target`: `sigstore-root.json.tuf` beside `sigstore-root.json`.
    pub(super) fn read(target: &Path) -> Result<Self, Diagnostic> {
        let mut name = OsString::from(target);
        name.push(".tuf");
        let path = PathBuf::from(name);
        let state = match tofu_oci_disk::read_file(&path, LIMIT) {
            Ok(text) => serde_json::from_slice(&text).map(Some).map_err(|error| {
                Diagnostic::usage(format!("the file {} is not what `trust root update` writes", path.display()))
                    .cause(error.to_string())
                    .hint("restore the file: it says which copies of the repository are old ones")
                    .hint(format!("or delete {}: then an older copy may replace {}", path.display(), target.display()))
            })?,
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(unreadable(&path, &error)),
        };
        Ok(Self { path, state })
    }

    /// Why nothing was written if the repository is of another instance.
    pub(super) fn other_instance(&self) -> String {
        format!("nothing was written: {} remembers the other instance", self.path.display())
    }

    /// What to do if the repository is right and its count began anew.
    pub(super) fn hint(&self) -> String {
        format!("if the owner of the repository made it anew, delete {}", self.path.display())
    }

    pub(super) fn write(&self, state: &TufState) -> Result<(), Diagnostic> {
        if self.state.as_ref() == Some(state) {
            return Ok(());
        }
        let text = serde_json::to_string(state).expect("texts and numbers are always JSON");
        write(&self.path, format!("{text}\n").as_bytes())
    }
}
