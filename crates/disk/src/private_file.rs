//! A file that holds secrets: read as a whole, and replaced as a whole.
//!
//! ```text
//! PrivateFile::at(path)   follows links, as docker does; refuses a folder and a loop
//!   read                  its bytes now; `None` if it is missing
//!   sweep                 removes the leftovers of killed runs beside the real file
//!   stage                 makes the folder (0700) and an empty file beside the real one (0600)
//! StagedFile::commit      reads again, edits, renames over the real file; other tofu-oci processes wait
//! ```
//!
//! An interruption leaves the old file or the new one. Only the owner can read a new file; an existing file keeps its
//! mode and owner. Only the owner can read the staged file until the rename, and it gets its mode after that: a killed
//! run leaves no secret that others can read.

use std::fs::{File, Permissions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::read::{is_descriptor, open_file};
use crate::scratch::ScratchFile;
use crate::sweep::{FolderOwner, sweep};
use zeroize::Zeroizing;

/// The largest file that is read, in bytes.
const LIMIT: u64 = 64 << 20;

/// As many links as Linux follows.
const LINKS: usize = 40;

/// How long to wait for the folder's lock. A rewrite takes milliseconds: a longer holder is another program.
const LOCK_WAIT: Duration = Duration::from_secs(5);

/// A file, by the path that the user gave and the path that its links lead to.
#[derive(Debug)]
pub struct PrivateFile {
    path: PathBuf,
    real: PathBuf,
}

/// A temporary file beside the real one, ready to replace it.
#[derive(Debug)]
pub struct StagedFile<'a> {
    file: &'a PrivateFile,
    beside: ScratchFile,
}

impl PrivateFile {
    /// The file at a path; it may be missing, and so may its folder.
    ///
    /// # Errors
    /// If a folder is there, if a file is where a folder should be, and if links lead nowhere or in a circle.
    pub fn at(path: &Path) -> io::Result<Self> {
        let real = resolve_links(path)?;
        match std::fs::metadata(&real) {
            Ok(data) if data.is_dir() => return Err(ErrorKind::IsADirectory.into()),
            Ok(data) if !data.is_file() => return Err(io::Error::other("it is not a regular file")),
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        Ok(Self { path: path.to_owned(), real })
    }

    /// The file at a path, only to be read. It may be a descriptor that a shell hands over, which leads to no path.
    ///
    /// # Errors
    /// As for [`PrivateFile::at`].
    pub fn to_read(path: &Path) -> io::Result<Self> {
        if is_descriptor(path) {
            return Ok(Self { path: path.to_owned(), real: path.to_owned() });
        }
        Self::at(path)
    }

    /// All bytes of it, at most 64 MiB; `None` if it is missing.
    pub fn read(&self) -> io::Result<Option<Zeroizing<Vec<u8>>>> {
        let file = match open_file(&self.real) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        // Allocated once, so that no shorter copy of a secret stays in memory.
        let length = file.metadata()?.len().min(LIMIT);
        let mut bytes = Zeroizing::new(Vec::with_capacity(usize::try_from(length).unwrap_or_default() + 1));
        file.take(LIMIT + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > LIMIT {
            return Err(io::Error::new(ErrorKind::FileTooLarge, "it is larger than 64 MiB"));
        }
        Ok(Some(bytes))
    }

    /// Whether anyone except its owner may read it.
    #[cfg(unix)]
    pub fn is_shared(&self) -> bool {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::metadata(&self.real).is_ok_and(|data| data.permissions().mode() & 0o077 != 0)
    }

    /// Whether anyone except its owner may read it; this system does not say.
    #[cfg(not(unix))]
    pub fn is_shared(&self) -> bool {
        false
    }

    /// Removes the leftovers of killed runs beside it, which may hold a secret.
    pub fn sweep(&self) {
        sweep(self.folder(), FolderOwner::Users);
    }

    /// Prepares the writing: makes its folder, for the owner alone, and a file beside it.
    ///
    /// It does not make the folder of a dangling link's target: a disk may not be mounted.
    pub fn stage(&self) -> io::Result<StagedFile<'_>> {
        let folder = self.folder();
        if self.real == self.path {
            make_private_folder(folder)?;
        }
        Ok(StagedFile { file: self, beside: ScratchFile::private_beside(folder)? })
    }

    /// Removes it if it has these bytes; false if it has others, or is missing.
    ///
    /// # Errors
    /// What the system says; the file is still there then.
    pub fn remove(&self, bytes: &[u8]) -> io::Result<bool> {
        let _lock = lock_folder(self.folder());
        let is_same = self.read()?.is_some_and(|now| now.as_slice() == bytes);
        if is_same {
            std::fs::remove_file(&self.real)?;
        }
        Ok(is_same)
    }

    fn folder(&self) -> &Path {
        match self.real.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        }
    }
}

impl StagedFile<'_> {
    /// Replaces the file by what `edit` makes of its present bytes; writes nothing if `edit` returns `None`.
    ///
    /// # Errors
    /// Those of `edit`; the file then stays as it was.
    pub fn commit<E: From<io::Error>>(
        self,
        edit: impl FnOnce(Option<&[u8]>) -> Result<Option<Zeroizing<Vec<u8>>>, E>,
    ) -> Result<(), E> {
        let _lock = lock_folder(self.file.folder());
        let Some(bytes) = edit(self.file.read()?.as_ref().map(|bytes| bytes.as_slice()))? else { return Ok(()) };
        let mode = self.fill(&bytes)?;
        self.put(mode)?;
        Ok(())
    }

    /// Writes the staged file. Returns the permissions of the file that it replaces, if there is one.
    fn fill(&self, bytes: &[u8]) -> io::Result<Option<Permissions>> {
        let mut beside = self.beside.as_file();
        beside.write_all(bytes)?;
        let mode = keep_owner(&self.file.real, beside);
        beside.sync_all()?;
        Ok(mode)
    }

    fn put(self, mode: Option<Permissions>) -> io::Result<()> {
        let written = self.beside.as_file().try_clone()?;
        self.beside.put(&self.file.real)?;
        mode.map_or(Ok(()), |mode| written.set_permissions(mode))
    }
}

/// The path that the links of the last component lead to. A dangling link leads to where a new file belongs.
///
/// # Errors
///
/// What the system says if a link cannot be read, or if links lead in a circle.
pub fn resolve_links(path: &Path) -> io::Result<PathBuf> {
    let mut real = path.to_owned();
    for _ in 0..LINKS {
        match std::fs::symlink_metadata(&real) {
            Ok(data) if data.is_symlink() => {
                let target = std::fs::read_link(&real)?;
                real = real.parent().map_or_else(|| target.clone(), |folder| folder.join(&target));
            }
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => return Ok(real),
        }
    }
    Err(io::Error::other("its links lead in a circle"))
}

/// Makes a folder and those above it that are missing, for their owner alone. A folder that is there stays as it is.
///
/// # Errors
///
/// What the system says if a folder cannot be made.
pub fn make_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Gives the new file the owner of the old one, if root runs this, and returns the permissions of the old one.
#[cfg(unix)]
fn keep_owner(old: &Path, new: &File) -> Option<Permissions> {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let (data, ours) = (std::fs::metadata(old).ok()?, new.metadata().ok()?);
    if (data.uid(), data.gid()) != (ours.uid(), ours.gid()) {
        let _ = std::os::unix::fs::fchown(new, Some(data.uid()), Some(data.gid()));
    }
    Some(Permissions::from_mode(data.permissions().mode() & 0o777))
}

#[cfg(not(unix))]
fn keep_owner(_old: &Path, _new: &File) -> Option<Permissions> {
    None
}

/// Locks the folder against edits by other tofu-oci processes. `None` if the system cannot lock folders: then the last
/// writer wins, as with docker.
fn lock_folder(folder: &Path) -> Option<File> {
    let file = File::open(folder).ok()?;
    let begin = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Some(file),
            Err(std::fs::TryLockError::WouldBlock) if begin.elapsed() < LOCK_WAIT => {
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(_) => return None,
        }
    }
}

#[cfg(all(test, unix))]
mod tests;
