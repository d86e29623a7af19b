//! Locks that name their holder, and waiting for them.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::Instant;

use crate::{HOLDER_NAME, Holder};

/// After this time the holder is reported.
const SILENT: Duration = Duration::from_secs(1);
/// The first pause between two tries; each one is twice as long as the one before.
const FIRST_PAUSE: Duration = Duration::from_millis(1);
/// The longest pause between two tries.
const LONGEST_PAUSE: Duration = Duration::from_millis(50);
/// How often a replaced file is opened anew. A limit, because a file system may number one file in two ways.
const REPLACED: usize = 16;

/// What one program at a time can lock.
///
/// A lock ends with its process, however that ends. A file system without locks grants every lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lockable {
    /// A file for this purpose alone. It is created if it is missing, and stays.
    File(PathBuf),
    /// A folder in which no file stays, because its user would see it. A file in it names the holder of the lock.
    ///
    /// The lock is on the folder itself. Windows and NFS cannot do that: there it is on the file [`HOLDER_NAME`] in it,
    /// which stays, empty.
    Folder(PathBuf),
    /// A file that `OpenTofu` locks too: a POSIX record lock on Unix, `LockFileEx` on Windows. It keeps programs apart,
    /// not the tasks of this one.
    ///
    /// Spec: `OpenTofu` 1.12, internal/flock, providercache `Dir.Lock`.
    Record(PathBuf),
}

/// The waiting program, and how long it waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiter {
    /// This process, as other waiting programs show it: `tofu-oci push`.
    pub program: String,
    /// How long it waits at most.
    pub limit: Duration,
}

impl Waiter {
    /// The message for a waiting user: who holds the lock, and how long the wait may last.
    pub fn words(&self, held: &Held) -> String {
        format!("waiting up to {} s: {held}", self.limit.as_secs_f32())
    }
}

impl Default for Waiter {
    fn default() -> Self {
        Self { program: "tofu-oci".to_owned(), limit: Duration::from_mins(2) }
    }
}

/// Another program has the lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    pub on: Lockable,
    /// The holder, if it is known.
    pub holder: Option<Holder>,
}

/// Why the lock was not taken.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// The file cannot be opened or locked.
    #[error("cannot lock {}", path.display())]
    Io {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// Another program has it, and did not release it in time.
    #[error("{held}, and was not released within {} s", limit.as_secs_f32())]
    Held { held: Held, limit: Duration },
}

/// Holds a lock; dropping it releases it.
#[derive(Debug)]
pub struct Lock {
    /// `None` if the file system has no locks.
    file: Option<File>,
    /// A separate file that names this process.
    note: Option<PathBuf>,
}

/// Takes the lock, and waits if another program has it. `report` is called once, after a second.
///
/// Dropping the future ends the wait.
///
/// # Errors
/// [`LockError::Held`] after the limit.
pub async fn lock(on: &Lockable, waiter: &Waiter, report: &(dyn Fn(&Held) + Sync)) -> Result<Lock, LockError> {
    let begin = Instant::now();
    let (mut pause, mut reported) = (FIRST_PAUSE, false);
    let mut tries = Tries::of(on);
    loop {
        let failed = |source| LockError::Io { path: on.path().to_owned(), source };
        if let Some(lock) = tries.next(&waiter.program).map_err(failed)? {
            return Ok(lock);
        }
        let elapsed = begin.elapsed();
        if elapsed >= SILENT && !reported {
            reported = true;
            report(&tries.held(on));
        }
        if elapsed >= waiter.limit {
            return Err(LockError::Held { held: tries.held(on), limit: waiter.limit });
        }
        tokio::time::sleep(pause.min(waiter.limit.saturating_sub(elapsed))).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Takes the lock if no program has it; `None` if one has.
///
/// # Errors
/// If the file cannot be opened or locked.
pub fn try_lock(on: &Lockable, program: &str) -> io::Result<Option<Lock>> {
    Tries::of(on).next(program)
}

impl Lockable {
    /// The file or folder.
    pub fn path(&self) -> &Path {
        match self {
            Self::File(path) | Self::Folder(path) | Self::Record(path) => path,
        }
    }
}

impl fmt::Display for Lockable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) | Self::Record(path) => path.display().fmt(f),
            Self::Folder(path) if path == Path::new(".") || path.as_os_str().is_empty() => {
                f.write_str("the current directory")
            }
            Self::Folder(path) => write!(f, "the directory {}", path.display()),
        }
    }
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.holder {
            Some(holder) => write!(f, "{} is locked by {holder}", self.on),
            None => write!(f, "{} is locked by another program", self.on),
        }
    }
}

/// Tries one after the other.
enum Tries<'a> {
    File(&'a Path),
    Folder(&'a Path),
    /// It stays open: closing any handle of a file releases the record locks of this process on it.
    Record(&'a Path, Option<File>),
}

impl<'a> Tries<'a> {
    fn of(on: &'a Lockable) -> Self {
        match on {
            Lockable::File(path) => Self::File(path),
            Lockable::Folder(path) => Self::Folder(path),
            Lockable::Record(path) => Self::Record(path, None),
        }
    }

    fn next(&mut self, program: &str) -> io::Result<Option<Lock>> {
        match self {
            Self::File(path) => lock_file(path, program),
            Self::Folder(path) => folder(path, program),
            Self::Record(path, opened) => {
                let file = match opened.take() {
                    Some(file) => file,
                    None => open(path)?,
                };
                if had(record(&file))? {
                    return Ok(Some(Lock::with_note_inside(file, program)));
                }
                *opened = Some(file);
                Ok(None)
            }
        }
    }

    /// The holder of `on`, as its file names it.
    fn held(&mut self, on: &Lockable) -> Held {
        let text = match self {
            Self::Record(_, Some(file)) => file.rewind().ok().and_then(|()| note_in(file)),
            Self::Record(..) => None,
            Self::File(path) => read_note(path),
            Self::Folder(path) => read_note(&path.join(HOLDER_NAME)),
        };
        Held { on: on.clone(), holder: text.and_then(|text| Holder::parse(&text)) }
    }
}

/// Locks the file that has this name now: a lock on a file that was removed or replaced meanwhile is useless.
fn lock_file(path: &Path, program: &str) -> io::Result<Option<Lock>> {
    let mut left = REPLACED;
    loop {
        let file = open(path)?;
        if !had(exclusive(&file))? {
            return Ok(None);
        }
        if left == 0 || has_name(&file, path) {
            return Ok(Some(Lock::with_note_inside(file, program)));
        }
        left -= 1;
    }
}

/// Whether the open file is the one of this name.
#[cfg(unix)]
fn has_name(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let of = |data: fs::Metadata| (data.dev(), data.ino());
    file.metadata().ok().map(of).is_some_and(|open| fs::symlink_metadata(path).ok().map(of) == Some(open))
}

/// An open file cannot be removed here.
#[cfg(not(unix))]
fn has_name(_file: &File, _path: &Path) -> bool {
    true
}

/// Opens or makes a file to write to. It follows no link.
fn open(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.create(true).truncate(false).read(true).write(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed());
    }
    options.open(path)
}

/// The beginning of a holder's file. Another user may have put a link or a pipe in its place, which must not be read.
fn read_note(path: &Path) -> Option<String> {
    let file = open_what_is_there(path).ok()?;
    let is_file = file.metadata().is_ok_and(|data| data.is_file());
    if is_file { note_in(&file) } else { None }
}

fn note_in(file: &File) -> Option<String> {
    let mut text = String::new();
    file.take(1024).read_to_string(&mut text).ok().map(|_| text)
}

/// Opens a file or folder to read it, without following a link and without waiting for a pipe that has taken its place.
pub(crate) fn open_what_is_there(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        options.custom_flags(flags.bits().cast_signed());
    }
    options.open(path)
}

/// Locks the folder, or the file in it if folders cannot be locked. A read-only folder needs no lock.
fn folder(path: &Path, program: &str) -> io::Result<Option<Lock>> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    let note = path.join(HOLDER_NAME);
    if let Ok(folder) = File::open(path) {
        match exclusive(&folder) {
            Ok(false) => return Ok(None),
            Ok(true) => {
                // It removes the file of a killed holder, and a link of that name: it must not write outside the
                // folder.
                let _ = fs::remove_file(&note);
                let written = File::create_new(&note).and_then(|mut file| writeln!(file, "{}", Holder::this(program)));
                return Ok(Some(Lock { file: Some(folder), note: written.is_ok().then_some(note) }));
            }
            Err(_) => {}
        }
    }
    match lock_file(&note, program) {
        Ok(tried) => Ok(tried),
        Err(error) if matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem) => {
            Ok(Some(Lock { file: None, note: None }))
        }
        Err(error) => Err(error),
    }
}

/// Whether the lock was taken; a file system without locks grants every lock.
fn had(tried: io::Result<bool>) -> io::Result<bool> {
    match tried {
        Err(error) if has_no_locks(&error) => Ok(true),
        other => other,
    }
}

#[cfg(unix)]
fn has_no_locks(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let number = error.raw_os_error();
    [Errno::NOLCK, Errno::NOSYS, Errno::NOTSUP].iter().any(|none| number == Some(none.raw_os_error()))
}

#[cfg(not(unix))]
fn has_no_locks(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::Unsupported
}

/// True if the file or folder was free.
pub(crate) fn exclusive(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(fs::TryLockError::WouldBlock) => Ok(false),
        Err(fs::TryLockError::Error(error)) => Err(error),
    }
}

#[cfg(unix)]
fn record(file: &File) -> io::Result<bool> {
    use rustix::fs::FlockOperation;
    use rustix::io::Errno;
    match rustix::fs::fcntl_lock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(true),
        Err(Errno::AGAIN | Errno::ACCESS | Errno::DEADLK | Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(unix))]
fn record(file: &File) -> io::Result<bool> {
    exclusive(file)
}

impl Lock {
    /// The line only informs people who wait, so an error does not matter.
    fn with_note_inside(mut file: File, program: &str) -> Self {
        let line = format!("{}\n", Holder::this(program));
        let _ = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| file.write_all(line.as_bytes()));
        Self { file: Some(file), note: None }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // The name goes before the lock, so that a later holder's line stays.
        match (&self.note, &self.file) {
            (Some(note), _) => drop(fs::remove_file(note)),
            (None, Some(file)) if file.metadata().is_ok_and(|data| data.is_file()) => drop(file.set_len(0)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
