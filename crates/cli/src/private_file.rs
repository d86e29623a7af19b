//! A file that holds secrets: read as a whole, and replaced as a whole.
//!
//! ```text
//! PrivateFile::at(path)   links are followed, as docker does; a folder or a loop is refused
//!   read                  what is in it now; nothing where it is missing
//!   sweep                 what killed runs have left beside the real file goes
//!   stage                 the folder (0700) and an empty file beside the real one (0600): from here on it can be written
//! Staged::commit(edit)    read again, edited, renamed over the real file; other processes of ours wait meanwhile
//! ```
//!
//! Whatever happens in between, the file is the old one or the new one. Only the owner can read a new file; mode and
//! owner of one that was there stay. The file beside it is for its owner alone as long as it has a name of its own: the
//! mode is set after the rename, so that a killed run leaves no secret that others may read.

use std::fs::{File, Permissions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tofu_oci_disk::{ScratchFile, Whose};
use zeroize::Zeroizing;

/// No file of credentials is larger.
const LIMIT: u64 = 64 << 20;

/// As many links as Linux follows.
const LINKS: usize = 40;

/// A rewrite takes milliseconds. Whoever holds the folder's lock for longer is none of ours, and is not waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// A file, by the path that people know and the one behind its links.
#[derive(Debug)]
pub(crate) struct PrivateFile {
    path: PathBuf,
    real: PathBuf,
}

/// A place beside the file, ready to become it.
#[derive(Debug)]
pub(crate) struct Staged<'a> {
    file: &'a PrivateFile,
    beside: ScratchFile,
}

impl PrivateFile {
    /// The file at a path; it may be missing, and so may its folder.
    ///
    /// # Errors
    /// When a folder is there, when a file is where a folder should be, and when links lead nowhere or in a circle.
    pub(crate) fn at(path: &Path) -> io::Result<Self> {
        let real = behind_links(path)?;
        match std::fs::metadata(&real) {
            Ok(data) if data.is_dir() => return Err(ErrorKind::IsADirectory.into()),
            Ok(data) if !data.is_file() => return Err(io::Error::other("it is not a regular file")),
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        Ok(Self { path: path.to_owned(), real })
    }

    /// The file at a path, only to be read: it may also be a descriptor that a shell hands over, which has no path behind it.
    ///
    /// # Errors
    /// As for [`PrivateFile::at`].
    pub(crate) fn to_read(path: &Path) -> io::Result<Self> {
        if tofu_oci_disk::is_descriptor(path) {
            return Ok(Self { path: path.to_owned(), real: path.to_owned() });
        }
        Self::at(path)
    }

    /// All bytes of it, at most 64 MiB; nothing where it is missing.
    pub(crate) fn read(&self) -> io::Result<Option<Zeroizing<Vec<u8>>>> {
        let file = match tofu_oci_disk::open_file(&self.real) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        // Of the right size at once, so that no shorter copy of a secret is left behind in memory.
        let length = file.metadata()?.len().min(LIMIT);
        let mut bytes = Zeroizing::new(Vec::with_capacity(usize::try_from(length).unwrap_or_default() + 1));
        file.take(LIMIT + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > LIMIT {
            return Err(io::Error::new(ErrorKind::FileTooLarge, "it is larger than 64 MiB"));
        }
        Ok(Some(bytes))
    }

    /// Whether anybody but its owner may read it.
    #[cfg(unix)]
    pub(crate) fn is_shared(&self) -> bool {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::metadata(&self.real).is_ok_and(|data| data.permissions().mode() & 0o077 != 0)
    }

    /// Whether anybody but its owner may read it; not known here.
    #[cfg(not(unix))]
    pub(crate) fn is_shared(&self) -> bool {
        false
    }

    /// Removes what killed runs have left beside it: files that may hold a secret.
    pub(crate) fn sweep(&self) {
        tofu_oci_disk::sweep(self.folder(), Whose::Users);
    }

    /// Makes sure that it can be written: its folder is made, for the owner alone, and a file beside it.
    ///
    /// A folder behind a dangling link is not made: it may be a disk that is not mounted.
    pub(crate) fn stage(&self) -> io::Result<Staged<'_>> {
        let folder = self.folder();
        if self.real == self.path {
            make_folder(folder)?;
        }
        // Its own text would name the file beside, which nobody has asked for.
        let beside = ScratchFile::private_beside(folder).map_err(|error| io::Error::from(error.kind()))?;
        Ok(Staged { file: self, beside })
    }

    fn folder(&self) -> &Path {
        match self.real.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        }
    }
}

impl Staged<'_> {
    /// Replaces the file by what `edit` makes of its bytes as they are now; nothing is written where it gives nothing.
    ///
    /// # Errors
    /// Those of `edit`; the file is as it was then.
    pub(crate) fn commit<E: From<io::Error>>(
        self,
        edit: impl FnOnce(Option<&[u8]>) -> Result<Option<Zeroizing<Vec<u8>>>, E>,
    ) -> Result<(), E> {
        let _lock = locked(self.file.folder());
        let Some(bytes) = edit(self.file.read()?.as_ref().map(|bytes| bytes.as_slice()))? else { return Ok(()) };
        let mode = self.fill(&bytes)?;
        self.put(mode)?;
        Ok(())
    }

    /// Writes the file beside; the permissions that it is to have in its place, if a file is there.
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

/// The path behind all links of the last component; that of a dangling link is where a new file belongs.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
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

#[cfg(unix)]
fn make_folder(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(not(unix))]
fn make_folder(folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)
}

/// Gives the new file the owner of the old one; the permissions of the old one. A new file keeps 0600. Another owner can be
/// kept by root alone; who may not is the owner from now on, as with docker.
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

/// Keeps other processes of ours from editing a file of the folder at the same time, as long as it is held. Nothing
/// where the system knows no locks on folders: then the last one to write wins, as with docker.
fn locked(folder: &Path) -> Option<File> {
    let file = File::open(folder).ok()?;
    let begin = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Some(file),
            Err(std::fs::TryLockError::WouldBlock) if begin.elapsed() < PATIENCE => {
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(_) => return None,
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    /// Appends a word to the file and gives its text.
    #[track_caller]
    fn append(path: &Path, word: &str) -> String {
        let file = PrivateFile::at(path).expect("a file may be here");
        let staged = file.stage().expect("it can be written");
        let edit = |bytes: Option<&[u8]>| {
            Ok::<_, io::Error>(Some([bytes.unwrap_or_default(), word.as_bytes()].concat().into()))
        };
        staged.commit(edit).expect("it is written");
        std::fs::read_to_string(path).expect("it is there")
    }

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).expect("a folder");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_new_file_and_its_folder_are_for_the_owner_alone() {
        let root = tempfile::tempdir().expect("a folder");
        let path = root.path().join("a/b/config.json");
        assert_eq!(PrivateFile::at(&path).and_then(|file| file.read()).expect("missing is fine"), None);
        assert_eq!(append(&path, "one"), "one");
        assert_eq!((mode(&path), mode(&root.path().join("a/b"))), (0o600, 0o700));
        assert_eq!(names(&root.path().join("a/b")), ["config.json"]);
        assert!(!PrivateFile::at(&path).expect("a file").is_shared());
    }

    #[test]
    fn the_mode_of_a_file_that_is_there_stays() {
        let root = tempfile::tempdir().expect("a folder");
        let path = root.path().join("config.json");
        std::fs::write(&path, "one").expect("a file");
        for kept in [0o640, 0o400, 0o600] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(kept)).expect("it is ours");
            append(&path, "+");
            assert_eq!(mode(&path), kept);
            assert_eq!(PrivateFile::at(&path).expect("a file").is_shared(), kept == 0o640);
        }
    }

    #[test]
    fn what_a_killed_run_leaves_beside_a_file_that_all_may_read_is_for_the_owner_alone() {
        let root = tempfile::tempdir().expect("a folder");
        let path = root.path().join("config.json");
        std::fs::write(&path, "one").expect("a file");
        for kept in [0o644, 0o666, 0o400] {
            std::fs::set_permissions(&path, Permissions::from_mode(kept)).expect("it is ours");
            let file = PrivateFile::at(&path).expect("a file");
            let staged = file.stage().expect("writable");
            assert_eq!(mode(staged.beside.path()), 0o600);
            let filled = staged.fill(b"secret").expect("it is written");
            assert_eq!((mode(staged.beside.path()), mode(&path)), (0o600, kept));
            staged.put(filled).expect("it is renamed");
            assert_eq!((mode(&path), std::fs::read(&path).expect("a file")), (kept, b"secret".to_vec()));
        }
    }

    #[test]
    fn a_killed_runs_secrets_go_and_files_with_similar_names_stay() {
        let root = tempfile::tempdir().expect("a folder");
        let file = PrivateFile::at(&root.path().join("config.json")).expect("a file may be here");
        let staged = file.stage().expect("writable");
        let living = staged.beside.path().to_owned();
        let killed = root.path().join(".tofu-oci-Ab12Cd");
        let users = [".config.json.Ab12Cd", ".tofu-oci-my-config.json", ".tofu-oci-notes", "config.json.bak"];
        for path in users.iter().map(|name| root.path().join(name)).chain([killed.clone()]) {
            std::fs::write(path, "secret").expect("a file");
        }
        file.sweep();
        assert!(living.exists() && !killed.exists(), "{living:?}");
        drop(staged);
        assert_eq!(names(root.path()), users);
    }

    #[test]
    fn the_file_behind_links_is_written_and_the_links_stay() {
        let root = tempfile::tempdir().expect("a folder");
        let at = |name: &str| root.path().join(name);
        std::fs::create_dir(at("real")).expect("a folder");
        std::fs::write(at("real/config.json"), "one").expect("a file");
        symlink("real/config.json", at("second")).expect("a link");
        symlink(at("second"), at("first")).expect("a link");
        assert_eq!(append(&at("first"), "+two"), "one+two");
        assert!(at("first").is_symlink() && at("second").is_symlink() && !at("real/config.json").is_symlink());
        assert_eq!(names(&at("real")), ["config.json"]);

        symlink("real/new.json", at("dangling")).expect("a link");
        assert_eq!(append(&at("dangling"), "new"), "new");
        assert_eq!(
            (names(&at("real")), mode(&at("real/new.json"))),
            (vec!["config.json".into(), "new.json".into()], 0o600)
        );
        symlink("not-mounted/new.json", at("away")).expect("a link");
        let away = PrivateFile::at(&at("away")).expect("a file may be there");
        assert_eq!(away.stage().map(drop).map_err(|error| error.kind()), Err(ErrorKind::NotFound));
    }

    #[test]
    fn what_is_no_file_is_refused() {
        let root = tempfile::tempdir().expect("a folder");
        let at = |name: &str| root.path().join(name);
        std::fs::write(at("file"), "").expect("a file");
        symlink("loop", at("loop")).expect("a link");
        let refused = |name: &str| PrivateFile::at(&at(name)).map(drop).map_err(|error| error.to_string());
        assert_eq!(refused("."), Err("is a directory".into()));
        assert_eq!(refused("loop"), Err("its links lead in a circle".into()));
        assert!(refused("file/config.json").expect_err("a file is no folder").starts_with("Not a directory"));
        assert_eq!(
            PrivateFile::at(Path::new("/dev/null")).map(drop).map_err(|error| error.to_string()),
            Err("it is not a regular file".into())
        );
    }

    #[test]
    fn an_edit_that_fails_or_changes_nothing_leaves_the_file_as_it_was() {
        let root = tempfile::tempdir().expect("a folder");
        let path = root.path().join("config.json");
        std::fs::write(&path, "one").expect("a file");
        let file = PrivateFile::at(&path).expect("a file");
        let refused = file.stage().expect("writable").commit(|_| Err(io::Error::other("no")));
        assert_eq!(refused.map_err(|error| error.to_string()), Err("no".into()));
        file.stage().expect("writable").commit(|_| Ok::<_, io::Error>(None)).expect("nothing to do");
        drop(file.stage());
        assert_eq!(
            (names(root.path()), std::fs::read(&path).expect("a file")),
            (vec!["config.json".to_owned()], b"one".to_vec())
        );
    }

    #[test]
    fn those_who_write_at_the_same_time_lose_nothing() {
        let root = tempfile::tempdir().expect("a folder");
        let path = root.path().join("config.json");
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| (0..8).for_each(|_| drop(append(&path, "+"))));
            }
        });
        assert_eq!(std::fs::read_to_string(&path).expect("a file"), "+".repeat(64));
    }
}
