//! The lock file on disk.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use tofu_oci_disk::{FileError, FolderOwner, ScratchFile};
use tofu_oci_hcl::template::native_text;
use tofu_oci_types::TextPosition;

use crate::{LockFile, LockFileError, LockProblem};

/// What writing did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteOutcome {
    /// The file locks the same already; its bytes were left alone.
    Unchanged,
    /// The file was replaced.
    Updated,
    /// There was no file.
    Created,
}

/// A lock file as it was read. Writing compares with it, and does not read the file again.
#[derive(Clone, Debug)]
pub struct StoredLockFile {
    path: PathBuf,
    /// `None` if there was no file.
    text: Option<String>,
    file: LockFile,
}

/// The lock file at `path`, which need not exist.
///
/// # Errors
/// If it does not parse, is not text, not a regular file or larger than [`LOCK_FILE_LIMIT`].
pub fn read(path: &Path) -> Result<StoredLockFile, LockFileError> {
    StoredLockFile::parse(path, read_text(path)?)
}

/// The largest lock file or pin file, in bytes. Ten thousand entries take less.
pub const LOCK_FILE_LIMIT: u64 = 64 << 20;

/// The bytes of the lock file or pin file at `path`; `None` if there is no file.
///
/// # Errors
/// As [`read`], whatever the bytes are.
pub fn read_bytes(path: &Path) -> Result<Option<Vec<u8>>, LockFileError> {
    match tofu_oci_disk::read_file(path, LOCK_FILE_LIMIT) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(FileError::new("read", path, error).into()),
    }
}

fn read_text(path: &Path) -> Result<Option<String>, LockFileError> {
    let Some(bytes) = read_bytes(path)? else { return Ok(None) };
    native_text(bytes).map(Some).map_err(|valid| {
        let problem = LockProblem::Syntax { message: "the text is not UTF-8".to_owned() };
        LockFileError::Invalid { path: path.to_owned(), at: TextPosition::of(&valid, valid.len()), problem }
    })
}

impl StoredLockFile {
    fn parse(path: &Path, text: Option<String>) -> Result<Self, LockFileError> {
        let file = text.as_deref().map(LockFile::parse).transpose().map_err(|error| name_file(error, path))?;
        Ok(Self { path: path.to_owned(), text, file: file.unwrap_or_default() })
    }

    /// The file as it is now. Only another text is parsed.
    ///
    /// # Errors
    /// As [`read`].
    pub fn read_again(&self) -> Result<Self, LockFileError> {
        let text = read_text(&self.path)?;
        if text == self.text { Ok(self.clone()) } else { Self::parse(&self.path, text) }
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its text; `None` if there was no file.
    pub fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// What it locks; empty if there was no file.
    pub fn file(&self) -> &LockFile {
        &self.file
    }

    /// What it locks; `None` if there was no file.
    pub fn into_file(self) -> Option<LockFile> {
        self.text.is_some().then_some(self.file)
    }

    /// What [`Self::write`] would do.
    pub fn would_write(&self, file: &LockFile) -> WriteOutcome {
        match &self.text {
            Some(_) if self.file == *file && !self.file.has_disorder() => WriteOutcome::Unchanged,
            Some(_) => WriteOutcome::Updated,
            None => WriteOutcome::Created,
        }
    }

    /// Replaces the file at once, with mode 0644; readers see the old or the new one. A file that locks the same
    /// already, with its checksums in order, stays.
    ///
    /// # Errors
    /// If the system refuses it.
    ///
    /// Spec: `OpenTofu` 1.12, `depsfile.Locks.Equal` (measured); a link gives way to a file, and what it leads to stays.
    pub fn write(&self, file: &LockFile) -> Result<WriteOutcome, LockFileError> {
        self.put(file, self.would_write(file))
    }

    /// What [`Self::rewrite`] would do.
    pub fn would_rewrite(&self, file: &LockFile) -> WriteOutcome {
        match &self.text {
            Some(before) if *before == file.to_text() => WriteOutcome::Unchanged,
            Some(_) => WriteOutcome::Updated,
            None => WriteOutcome::Created,
        }
    }

    /// Replaces the file as [`Self::write`] does, and also a text that is not canonical: comments, order, spaces.
    ///
    /// # Errors
    /// As [`Self::write`].
    ///
    /// Spec: `OpenTofu` 1.12, `providers lock`, which always writes.
    pub fn rewrite(&self, file: &LockFile) -> Result<WriteOutcome, LockFileError> {
        self.put(file, self.would_rewrite(file))
    }

    fn put(&self, file: &LockFile, written: WriteOutcome) -> Result<WriteOutcome, LockFileError> {
        if written != WriteOutcome::Unchanged {
            replace(&self.path, &file.to_text())?;
        }
        Ok(written)
    }
}

fn name_file(error: LockFileError, file: &Path) -> LockFileError {
    match error {
        LockFileError::Invalid { at, problem, .. } => LockFileError::Invalid { path: file.to_owned(), at, problem },
        other => other,
    }
}

/// Replaces a lock file or pin file at once, with mode 0644; readers see the old or the new one. A symbolic link gives
/// way to the file: what it leads to is nothing that the user named.
///
/// # Errors
/// If the system refuses it.
pub fn replace(path: &Path, text: &str) -> Result<(), LockFileError> {
    let failed = |action| move |source| LockFileError::from(FileError::new(action, path, source));
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Removes the leftovers of killed runs; a living run keeps its files locked.
    tofu_oci_disk::sweep(folder, FolderOwner::Users);
    let temporary = ScratchFile::beside(folder).map_err(failed("write"))?;
    temporary.as_file().write_all(text.as_bytes()).map_err(failed("write"))?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::Permissions::from_mode(0o644);
        temporary.as_file().set_permissions(mode).map_err(failed("write"))?;
    }
    temporary.put(path).map_err(failed("replace"))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LOCK_FILE_NAME;

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
        assert_eq!(read(&path).unwrap().into_file(), None);
        let mut file = LockFile::parse(TEXT).unwrap();
        assert_eq!(read(&path).unwrap().write(&file).unwrap(), WriteOutcome::Created);
        std::fs::write(&path, TEXT).unwrap();
        assert_eq!(read(&path).unwrap().write(&file).unwrap(), WriteOutcome::Unchanged);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), TEXT, "equal locks keep the text");
        assert_eq!(read(&path).unwrap().rewrite(&file).unwrap(), WriteOutcome::Updated);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), file.to_text(), "the canonical text");
        assert_eq!(read(&path).unwrap().rewrite(&file).unwrap(), WriteOutcome::Unchanged);
        let address = "example.com/a/c".parse().unwrap();
        file.insert(address, crate::LockEntry::new("2.0.0".parse().unwrap(), tofu_oci_types::Constraints::any()));
        assert_eq!(read(&path).unwrap().write(&file).unwrap(), WriteOutcome::Updated);
        assert_eq!(read(&path).unwrap().into_file(), Some(file));
        assert_eq!(names(folder.path()), [LOCK_FILE_NAME]);
    }

    #[test]
    fn a_comment_in_another_encoding_was_refused_and_other_bytes_had_no_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(LOCK_FILE_NAME);
        let read = |line: &[u8]| {
            std::fs::write(&path, [line, TEXT.as_bytes()].concat()).unwrap();
            read(&path).map(StoredLockFile::into_file)
        };
        assert_eq!(read(b"# \xe9\n").unwrap(), Some(LockFile::parse(TEXT).unwrap()));
        let error = read(b"# \xe9\nprovider \"\xe9\" {\n}\n").expect_err("not in a comment").to_string();
        assert!(error.ends_with(":2:11: the file does not parse: the text is not UTF-8"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn everybody_may_read_it() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(LOCK_FILE_NAME);
        read(&path).unwrap().write(&LockFile::default()).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o644);
    }

    #[test]
    fn constraints_alone_do_not_change_a_file_and_checksums_out_of_order_do() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(LOCK_FILE_NAME);
        let after = |text: &str, constraints: &str| {
            std::fs::write(&path, text).unwrap();
            let stored = read(&path).unwrap();
            let mut file = stored.file().clone();
            let address = "example.com/a/b".parse().unwrap();
            let entry =
                crate::LockEntry { constraints: constraints.parse().unwrap(), ..file.get(&address).unwrap().clone() };
            file.insert(address, entry);
            stored.write(&file).unwrap();
            std::fs::read_to_string(&path).unwrap()
        };
        assert_eq!(after(TEXT, "~> 1.0"), TEXT);
        let with = |hashes: &str| TEXT.replace('}', &format!("  hashes = [{hashes}]\n}}"));
        let ordered = with("\"h1:a\", \"zh:b\"");
        assert_eq!(after(&ordered, "~> 1.0"), ordered);
        for hashes in ["\"zh:b\", \"h1:a\"", "\"h1:a\", \"zh:b\", \"zh:b\""] {
            let written = after(&with(hashes), "~> 1.0");
            assert!(
                written.contains("constraints = \"~> 1.0\"\n  hashes = [\n    \"h1:a\",\n    \"zh:b\",\n  ]"),
                "{written}"
            );
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_read_and_gives_way_to_the_file() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("inner");
        std::fs::create_dir(&inner).unwrap();
        let path = inner.join(LOCK_FILE_NAME);
        let is_link = || std::fs::symlink_metadata(&path).unwrap().is_symlink();
        for (target, at) in [("../outside", folder.path().join("outside")), ("beside", inner.join("beside"))] {
            std::fs::write(&at, TEXT).unwrap();
            symlink(target, &path).unwrap();
            let stored = read(&path).unwrap();
            assert_eq!(stored.write(stored.file()).unwrap(), WriteOutcome::Unchanged);
            assert!(is_link());
            assert_eq!(stored.write(&LockFile::default()).unwrap(), WriteOutcome::Updated);
            assert!(!is_link());
            assert_eq!(std::fs::read_to_string(&at).unwrap(), TEXT);
            std::fs::remove_file(&path).unwrap();
        }
        symlink("nowhere", &path).unwrap();
        assert_eq!(read(&path).unwrap().write(&LockFile::parse(TEXT).unwrap()).unwrap(), WriteOutcome::Created);
        assert_eq!(names(&inner), [LOCK_FILE_NAME, "beside"]);
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
