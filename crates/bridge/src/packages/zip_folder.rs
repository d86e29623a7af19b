//! How long, and in how much room, `serve` keeps zips that it has made or fetched, so that it need not read them again.
//!
//! ```text
//! KEY-DIGEST.zip    a zip: whoever reads it holds a shared lock; its time is when it was last asked for
//! KEY.lock          while one process makes it; removed afterwards
//! DIGEST.h1         the `h1:` of a zip that was read, also of one that is not here, with a checksum of both
//! ```
//!
//! Everything about zips is in the names, so processes share the folder and a restart loses nothing.

use std::collections::HashMap;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use tofu_oci_disk::{
    FileIdentity, Lock, LockError, Lockable, Waiter, lock, make_private_folder, open_file, read_file,
    require_own_folder,
};
use tofu_oci_types::{Digest, DigestHasher, PackageHash, Scheme};
use tokio::time::Instant;

/// How exact the time of a zip is. Each new time makes other processes compare the zip anew.
const EXACT: Duration = Duration::from_mins(1);

/// How long a comparison counts: a disk may lose bits of a file that nothing has changed.
const COMPARED: Duration = Duration::from_hours(1);

/// The most bytes of a note.
const NOTE_BYTES: u64 = 256;
/// How many notes are kept.
const NOTES: usize = 10_000;

/// A folder of zips.
#[derive(Debug)]
pub(super) struct ZipFolder {
    path: PathBuf,
    /// Bytes.
    most: u64,
    /// What files were when this process compared them with their digests, by name.
    compared: Mutex<HashMap<String, (ComparedZip, Instant)>>,
    /// Those that are being compared, with the other digest that was found.
    comparing: Mutex<HashMap<String, Arc<Mutex<Option<Digest>>>>>,
}

/// The size of a file, and its identity if the system says it.
type ComparedZip = (u64, Option<FileIdentity>);

/// A zip of the folder. It stays while this is held.
#[derive(Debug)]
pub(super) struct CachedZip {
    /// It carries a shared lock.
    pub(super) file: Arc<File>,
    pub(super) path: PathBuf,
    pub(super) digest: Digest,
    pub(super) size: u64,
    /// Whether any change since it was opened would show in what the system says of the file.
    pub(super) shows_changes: bool,
}

/// A file of the folder, the one that was used longest ago first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct FolderFile {
    changed: SystemTime,
    size: u64,
    path: PathBuf,
}

/// What a zip is made from, as a text that names a file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ZipKey(String);

impl ZipKey {
    /// The key of what these texts identify together.
    pub(super) fn of(texts: &[String]) -> Self {
        let mut hasher = DigestHasher::sha256();
        for text in texts {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        }
        Self(hasher.finish().encoded().to_owned())
    }
}

impl ZipFolder {
    pub(super) fn new(path: PathBuf, most: u64) -> Self {
        Self { path, most, compared: Mutex::default(), comparing: Mutex::default() }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Makes the folder if it is missing, for its owner alone: packages may be private.
    pub(super) fn ready(&self) -> io::Result<()> {
        self.require_own()?;
        make_private_folder(&self.path)
    }

    /// Refuses to use the folder if others could put zips there: it may have been removed, and made by another user.
    fn require_own(&self) -> io::Result<()> {
        require_own_folder(&self.path).map_err(io::Error::other)
    }

    /// The right to make the zip of a key, which one task of one process has at a time.
    pub(super) async fn turn(&self, key: &ZipKey, waiter: &Waiter) -> Result<ZipTurn, LockError> {
        let path = self.path.join(format!("{}.lock", key.0));
        let lock = lock(&Lockable::File(path.clone()), waiter, &|_| ()).await?;
        Ok(ZipTurn { path, _lock: lock })
    }

    /// The zip of a key; `None` if it is missing or damaged; a damaged one is removed. A file is compared with its digest each
    /// hour, and if it may have changed; it is all read for that.
    pub(super) fn find(&self, key: &ZipKey) -> io::Result<Option<CachedZip>> {
        self.require_own()?;
        let entries = match fs::read_dir(&self.path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut names: Vec<String> =
            entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.retain(|name| name.starts_with(&key.0));
        names.sort();
        for name in names {
            let Some(digest) = digest_in(&name) else { continue };
            let path = self.path.join(&name);
            let opened = match open_file(&path) {
                Ok(file) => Self::hold(file, &path, digest)?,
                // Another process has removed it, or another user has made it.
                Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied) => {
                    continue;
                }
                Err(error) => return Err(error),
            };
            let Some(mut kept) = opened else { continue };
            if self.other_digest(&kept)?.is_none() {
                self.note_use(&name, &mut kept)?;
                return Ok(Some(kept));
            }
            tracing::warn!(code = "blob-digest-mismatch", file = %path.display(), "a kept zip is damaged, and is made again");
            kept.remove();
        }
        Ok(None)
    }

    /// Takes a finished zip in, which lies on the same file system, and makes room for it.
    pub(super) fn keep(&self, key: &ZipKey, made: &Path) -> io::Result<CachedZip> {
        let file = open_file(made)?;
        // It lies in a folder of its owner alone until now. Some file systems have no modes.
        #[cfg(unix)]
        let _ = file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600));
        let digest = digest_of(&file)?;
        let name = format!("{}-{}.zip", key.0, digest.encoded());
        let path = self.path.join(&name);
        let busy = || io::Error::new(io::ErrorKind::ResourceBusy, "another program has locked a new zip");
        let kept = Self::hold(file, &path, digest)?.ok_or_else(busy)?;
        fs::rename(made, &path)?;
        self.compared().insert(name, (kept.compared()?, Instant::now()));
        self.make_room(self.most);
        Ok(kept)
    }

    /// The zip of an open file, with a shared lock on it; `None` if it is about to be removed.
    fn hold(file: File, path: &Path, digest: Digest) -> io::Result<Option<CachedZip>> {
        // On a file system without locks an open file can be read to its end all the same.
        if matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)) {
            return Ok(None);
        }
        let now = file.metadata()?;
        let (size, identity) = (now.len(), FileIdentity::of(&now));
        let shows_changes = identity.is_some_and(|identity| identity.is_settled());
        Ok(Some(CachedZip { file: Arc::new(file), path: path.to_owned(), digest, size, shows_changes }))
    }

    /// The digest of the bytes that a zip has, if it is not the one in its name. They are read only if they were not compared in
    /// the last hour, or if the file may have changed since.
    pub(super) fn other_digest(&self, kept: &CachedZip) -> io::Result<Option<Digest>> {
        let name = kept.name();
        if self.is_compared(&name, kept)? {
            return Ok(None);
        }
        // Of many clients that ask at once, one thread reads the file.
        let turn = Arc::clone(held(&self.comparing).entry(name.clone()).or_default());
        let mut other = held(&turn);
        let compared = match &*other {
            Some(digest) => Ok(Some(digest.clone())),
            None => self.compare(&name, kept),
        };
        // Whoever waits for a later turn waits for another one.
        let mut turns = held(&self.comparing);
        if turns.get(&name).is_some_and(|now| Arc::ptr_eq(now, &turn)) {
            turns.remove(&name);
        }
        if let Ok(digest) = &compared {
            other.clone_from(digest);
        }
        compared
    }

    fn is_compared(&self, name: &str, kept: &CachedZip) -> io::Result<bool> {
        let now = kept.compared()?;
        Ok(self.compared().get(name).is_some_and(|(then, at)| *then == now && at.elapsed() < COMPARED))
    }

    fn compare(&self, name: &str, kept: &CachedZip) -> io::Result<Option<Digest>> {
        if self.is_compared(name, kept)? {
            return Ok(None);
        }
        let now = kept.compared()?;
        let digest = digest_of(&kept.file)?;
        if digest != kept.digest {
            return Ok(Some(digest));
        }
        self.compared().insert(name.to_owned(), (now, Instant::now()));
        Ok(None)
    }

    /// The zip was used now. A change in the same moment has the same time, and would not show.
    fn note_use(&self, name: &str, kept: &mut CachedZip) -> io::Result<()> {
        let modified = kept.file.metadata()?.modified()?;
        // A time that lies ahead is wrong.
        if modified.elapsed().is_ok_and(|elapsed| elapsed < EXACT) {
            return Ok(());
        }
        let before = kept.compared()?;
        // Root may own the file; then its time stays.
        if kept.file.set_modified(SystemTime::now()).is_ok() {
            kept.shows_changes = false;
            let now = kept.compared()?;
            if let Some((then, _)) = self.compared().get_mut(name).filter(|(then, _)| *then == before) {
                *then = now;
            }
        }
        Ok(())
    }

    fn compared(&self) -> MutexGuard<'_, HashMap<String, (ComparedZip, Instant)>> {
        held(&self.compared)
    }

    /// Makes room on a disk that has none for a zip of so many bytes: as many go, or half if that is not known. False if no zip
    /// can go.
    pub(super) fn make_room_on_disk(&self, bytes: Option<u64>) -> bool {
        let before = self.bytes();
        self.make_room(bytes.map_or(before / 2, |bytes| before.saturating_sub(bytes)));
        self.bytes() < before
    }

    /// The `h1:` of a zip, if a process noted it; `None` if the note is damaged, or says another zip.
    pub(super) fn noted_h1(&self, zip: &Digest) -> Option<PackageHash> {
        self.require_own().ok()?;
        let text = String::from_utf8(read_file(&self.note(zip), NOTE_BYTES).ok()?).ok()?;
        let h1: PackageHash = text.split_once(' ')?.0.parse().ok()?;
        (h1.scheme() == Scheme::H1 && h1.is_well_formed() && text == note_text(zip, &h1)).then_some(h1)
    }

    /// Notes the `h1:` of a zip, and gives another one that was noted. A process that reads half a note takes it for damaged.
    pub(super) fn note_h1(&self, zip: &Digest, h1: &PackageHash) -> io::Result<Option<PackageHash>> {
        self.ready()?;
        let before = self.noted_h1(zip);
        if before.as_ref() == Some(h1) {
            return Ok(None);
        }
        let note = self.note(zip);
        // A link in its place goes: what it leads to is not written.
        match fs::remove_file(&note) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut options = File::options();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(note)?.write_all(note_text(zip, h1).as_bytes())?;
        let mut notes = self.files()?;
        notes.retain(|file| has_extension(&file.path, "h1"));
        notes.sort();
        let older = notes.len().saturating_sub(NOTES);
        notes[..older].iter().try_for_each(|note| fs::remove_file(&note.path))?;
        Ok(before)
    }

    fn note(&self, zip: &Digest) -> PathBuf {
        self.path.join(format!("{}.h1", zip.encoded()))
    }

    /// Removes zips that no request reads, those first that were asked for longest ago, until `most` bytes are left, or fewer. What
    /// cannot be removed stays for the next time.
    fn make_room(&self, most: u64) {
        let Ok(files) = self.files() else { return };
        // Of a process that was killed; a living one holds it.
        for lock in files.iter().filter(|file| has_extension(&file.path, "lock")) {
            remove_unused(&lock.path);
        }
        let mut zips: Vec<FolderFile> = files.into_iter().filter(|file| has_extension(&file.path, "zip")).collect();
        let mut bytes: u64 = zips.iter().map(|zip| zip.size).sum();
        zips.sort();
        for zip in zips {
            if bytes <= most {
                break;
            }
            if remove_unused(&zip.path) {
                bytes -= zip.size;
            }
        }
    }

    /// The bytes of all zips; 0 if the folder cannot be read.
    pub(super) fn bytes(&self) -> u64 {
        let files = self.files().unwrap_or_default();
        files.iter().filter(|file| has_extension(&file.path, "zip")).map(|file| file.size).sum()
    }

    fn files(&self) -> io::Result<Vec<FolderFile>> {
        let entries = fs::read_dir(&self.path)?.flatten();
        let file = |entry: fs::DirEntry| {
            let data = entry.metadata().ok()?;
            let changed = data.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            Some(FolderFile { changed, size: data.len(), path: entry.path() })
        };
        Ok(entries.filter_map(file).collect())
    }
}

impl CachedZip {
    fn compared(&self) -> io::Result<ComparedZip> {
        Ok((self.size, FileIdentity::of(&self.file.metadata()?)))
    }

    fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Removes the file, because it is damaged. Whoever reads it now finds that out.
    pub(super) fn remove(&self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// The right to make a zip. The file that is locked for it goes with it.
pub(super) struct ZipTurn {
    path: PathBuf,
    _lock: Lock,
}

impl Drop for ZipTurn {
    fn drop(&mut self) {
        // Before the lock, so that the file of a later turn stays.
        let _ = fs::remove_file(&self.path);
    }
}

fn held<T>(state: &Mutex<T>) -> MutexGuard<'_, T> {
    // No invariant spans two statements under these locks.
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn note_text(zip: &Digest, h1: &PackageHash) -> String {
    format!("{h1} {}\n", Digest::sha256(format!("{zip} {h1}").as_bytes()).encoded())
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found == extension)
}

/// Removes a file that no process has locked; true if it is gone.
fn remove_unused(path: &Path) -> bool {
    let Ok(file) = open_file(path) else { return false };
    matches!(file.try_lock(), Ok(())) && fs::remove_file(path).is_ok()
}

fn digest_in(name: &str) -> Option<Digest> {
    let (_, hex) = name.strip_suffix(".zip")?.split_once('-')?;
    format!("sha256:{hex}").parse().ok()
}

fn digest_of(mut file: &File) -> io::Result<Digest> {
    io::Seek::rewind(&mut file)?;
    let (mut hasher, mut buffer) = (DigestHasher::sha256(), vec![0; 256 << 10]);
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(hasher.finish()),
            Ok(count) => hasher.update(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn bits_that_a_disk_loses_are_found_within_an_hour() {
        let dir = tempfile::tempdir().unwrap();
        let (folder, key) = (ZipFolder::new(dir.path().join("zips"), 1 << 20), ZipKey::of(&[]));
        folder.ready().unwrap();
        let made = folder.path().join("made");
        fs::write(&made, "zip").unwrap();
        let kept = folder.keep(&key, &made).unwrap();
        fs::write(&kept.path, "zap").unwrap();
        // As if no change showed.
        let unseen = kept.compared().unwrap();
        folder.compared().get_mut(&kept.name()).unwrap().0 = unseen;
        assert!(folder.find(&key).unwrap().is_some());
        tokio::time::advance(COMPARED).await;
        assert!(folder.find(&key).unwrap().is_none());
        assert!(!kept.path.exists());
    }
}
