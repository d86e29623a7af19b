//! Reading and writing the files of `trust root`.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use tofu_oci_disk::ScratchFile;

use crate::diagnostic::Diagnostic;
use crate::exit::Exit;

/// The most bytes of a file.
pub(super) const LIMIT: u64 = 1 << 20;

pub(super) fn read(path: &Path) -> Result<Vec<u8>, Diagnostic> {
    tofu_oci_disk::read_file(path, LIMIT).map_err(|error| unreadable(path, &error))
}

pub(super) fn unreadable(path: &Path, error: &std::io::Error) -> Diagnostic {
    Diagnostic::usage(format!("the file {} cannot be read", path.display()))
        .cause(error.to_string())
        .io_hint("read", path, error)
}

/// Replaces the file as a whole.
pub(super) fn write(path: &Path, text: &[u8]) -> Result<(), Diagnostic> {
    put(path, text).map_err(|error| {
        Diagnostic::new(Exit::Fixable, format!("the file {} cannot be written", path.display()))
            .cause(error.to_string())
            .io_hint("write", path, &error)
    })
}

fn put(path: &Path, text: &[u8]) -> std::io::Result<()> {
    let folder =
        path.parent().filter(|folder| !folder.as_os_str().is_empty()).map_or(PathBuf::from("."), Path::to_owned);
    let beside = ScratchFile::beside(&folder)?;
    beside.as_file().write_all(text)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        beside.as_file().set_permissions(std::fs::Permissions::from_mode(0o644))?;
    }
    beside.put(path)
}
