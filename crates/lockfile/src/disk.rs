//! The lock file on disk.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use tofu_oci_disk::{ScratchFile, Whose};

use crate::{LockFile, LockFileError};

/// The name of the lock file in a working directory.
pub const LOCK_FILE_NAME: &str = ".terraform.lock.hcl";

/// What writing did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// The file locks the same already; its bytes were left alone.
    Unchanged,
    /// The file was replaced.
    Updated,
    /// There was none.
    Created,
}

/// The lock file at `path`; nothing when there is none.
///
/// # Errors
/// When it does not parse, and when it is a symbolic link that leaves its folder: see [`write()`].
pub fn read(path: &Path) -> Result<Option<LockFile>, LockFileError> {
    read_text(path)?.map(|text| parse(&text, path)).transpose()
}

/// What the text of the lock file at `path` says.
///
/// # Errors
/// When it does not parse; the error names the file.
pub fn parse(text: &str, path: &Path) -> Result<LockFile, LockFileError> {
    LockFile::parse(text).map_err(|error| name_file(error, path))
}

/// No lock file is larger: one entry for each of ten thousand providers takes less.
const LIMIT: u64 = 64 << 20;

/// The text of the lock file at `path`, whatever it says; nothing when there is none.
///
/// # Errors
/// When it is not text, not a regular file or larger than 64 MiB, and when it is a symbolic link that leaves its folder: see
/// [`write()`].
pub fn read_text(path: &Path) -> Result<Option<String>, LockFileError> {
    let place = follow(path)?;
    let text = match tofu_oci_disk::read_file(&place, LIMIT) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(LockFileError::Io { action: "read", path: place, source: error }),
    };
    let text = String::from_utf8(text).map_err(|error| {
        let source = io::Error::new(io::ErrorKind::InvalidData, error.utf8_error());
        LockFileError::Io { action: "read", path: place, source }
    })?;
    Ok(Some(text))
}

fn name_file(error: LockFileError, file: &Path) -> LockFileError {
    match error {
        LockFileError::Invalid { line, column, problem, .. } => {
            LockFileError::Invalid { path: file.to_owned(), line, column, problem }
        }
        other => other,
    }
}

/// Replaces the lock file at once, with mode 0644; readers see the old or the new one. Nothing is written when the file
/// locks the same already.
///
/// # Errors
/// When it is a symbolic link that leaves its folder: following it would write a file that nobody asked us to.
pub fn write(path: &Path, file: &LockFile) -> Result<Written, LockFileError> {
    let place = follow(path)?;
    let written = would_write(path, file)?;
    if written != Written::Unchanged {
        replace(&place, &file.to_text())?;
    }
    Ok(written)
}

/// What [`write()`] would do.
///
/// # Errors
/// As [`read`].
pub fn would_write(path: &Path, file: &LockFile) -> Result<Written, LockFileError> {
    Ok(match read(path)? {
        Some(before) if before == *file => Written::Unchanged,
        Some(_) => Written::Updated,
        None => Written::Created,
    })
}

/// Replaces the lock file as [`write()`] does, also where only its text is not the canonical one: comments, order, spaces.
///
/// # Errors
/// As [`write()`].
///
/// Spec: `OpenTofu` 1.12, `providers lock`, which always writes.
pub fn rewrite(path: &Path, file: &LockFile) -> Result<Written, LockFileError> {
    let (before, text) = (read_text(path)?, file.to_text());
    if before.as_ref() == Some(&text) {
        return Ok(Written::Unchanged);
    }
    replace(&follow(path)?, &text)?;
    Ok(if before.is_some() { Written::Updated } else { Written::Created })
}

/// Replaces a file at once, with mode 0644; readers see the old or the new one. `place` is what [`follow`] gave.
pub fn replace(place: &Path, text: &str) -> Result<(), LockFileError> {
    let failed = |action| move |source| LockFileError::Io { action, path: place.to_owned(), source };
    let folder = place.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // What a killed run has left beside it goes; a run that lives has its own locked.
    tofu_oci_disk::sweep(folder, Whose::Users);
    let temporary = ScratchFile::beside(folder).map_err(failed("write"))?;
    temporary.as_file().write_all(text.as_bytes()).map_err(failed("write"))?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::Permissions::from_mode(0o644);
        temporary.as_file().set_permissions(mode).map_err(failed("write"))?;
    }
    temporary.put(place).map_err(failed("replace"))?;
    Ok(())
}

/// Where a file that may be a link really lies.
///
/// # Errors
/// When it leaves its folder.
pub fn follow(path: &Path) -> Result<PathBuf, LockFileError> {
    match std::fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_symlink() => {}
        _ => return Ok(path.to_owned()),
    }
    let failed = |source| LockFileError::Io { action: "read", path: path.to_owned(), source };
    let link = std::fs::read_link(path).map_err(failed)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let target = folder.join(&link);
    let leaves = || LockFileError::LinkLeavesFolder { path: path.to_owned(), target: link.clone() };
    let canonical = std::fs::canonicalize(&target).map_err(|_| leaves())?;
    let home = std::fs::canonicalize(folder).map_err(failed)?;
    if canonical.parent() == Some(home.as_path()) { Ok(canonical) } else { Err(leaves()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "provider \"example.com/a/b\" {\n  version = \"1.0.0\"\n}\n";

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn creates_updates_and_leaves_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(LOCK_FILE_NAME);
        assert_eq!(read(&path).unwrap(), None);
        let mut file = LockFile::parse(TEXT).unwrap();
        assert_eq!(write(&path, &file).unwrap(), Written::Created);
        std::fs::write(&path, TEXT).unwrap();
        assert_eq!(write(&path, &file).unwrap(), Written::Unchanged);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), TEXT, "equal locks keep the text");
        assert_eq!(rewrite(&path, &file).unwrap(), Written::Updated);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), file.to_text(), "the canonical text");
        assert_eq!(rewrite(&path, &file).unwrap(), Written::Unchanged);
        let address = "example.com/a/c".parse().unwrap();
        file.insert(address, crate::LockEntry::new("2.0.0".parse().unwrap(), tofu_oci_types::Constraints::any()));
        assert_eq!(write(&path, &file).unwrap(), Written::Updated);
        assert_eq!(read(&path).unwrap(), Some(file));
        assert_eq!(names(folder.path()), [LOCK_FILE_NAME]);
    }

    #[cfg(unix)]
    #[test]
    fn everybody_may_read_it() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(LOCK_FILE_NAME);
        write(&path, &LockFile::default()).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o644);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_followed_inside_its_folder_only() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("inner");
        std::fs::create_dir(&inner).unwrap();
        std::fs::write(folder.path().join("outside"), TEXT).unwrap();
        std::fs::write(inner.join("beside"), TEXT).unwrap();
        let path = inner.join(LOCK_FILE_NAME);

        std::os::unix::fs::symlink("../outside", &path).unwrap();
        assert!(matches!(read(&path), Err(LockFileError::LinkLeavesFolder { .. })));
        assert!(matches!(write(&path, &LockFile::default()), Err(LockFileError::LinkLeavesFolder { .. })));
        assert_eq!(std::fs::read_to_string(folder.path().join("outside")).unwrap(), TEXT);

        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("beside", &path).unwrap();
        assert_eq!(write(&path, &LockFile::default()).unwrap(), Written::Updated);
        assert!(std::fs::symlink_metadata(&path).unwrap().is_symlink());
        assert_ne!(std::fs::read_to_string(inner.join("beside")).unwrap(), TEXT);
    }

    #[test]
    fn errors_name_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(LOCK_FILE_NAME);
        std::fs::write(&path, "provider {\n").unwrap();
        let error = read(&path).expect_err("it does not parse").to_string();
        assert!(error.starts_with(&format!("{}:", path.display())), "{error}");
    }
}
