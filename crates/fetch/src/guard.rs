//! Programs that work on the same files take turns.
//!
//! ```text
//! FolderLock     the folder of a lock file: read, merge and write it and the pins
//! package_lock   …/VERSION/OS_ARCH.lock: OpenTofu takes it too, while it puts a package in its place
//! ```

use std::path::{Path, PathBuf};

use tofu_oci_disk::{Held, Lock, LockError, Lockable, Waiter};
use tofu_oci_types::{Event, Reporter};

/// Its holder may change the lock file and the pins of a folder.
///
/// A program takes it only to read, merge and write, after all downloads. So downloads of several programs run side by
/// side.
#[derive(Debug)]
pub struct FolderLock {
    _lock: Lock,
}

impl FolderLock {
    /// Waits until no other program changes the files beside `lock_file`.
    ///
    /// # Errors
    /// [`LockError::Held`] after the waiter's limit.
    pub async fn take(lock_file: &Path, waiter: &Waiter, reporter: &dyn Reporter) -> Result<Self, LockError> {
        let folder = lock_file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Ok(Self { _lock: wait(&Lockable::Folder(folder.to_owned()), waiter, reporter).await? })
    }
}

/// Waits until no other program installs into `target` (a folder `…/VERSION/OS_ARCH`).
///
/// The empty file stays, as `OpenTofu`'s does. It keeps programs apart; the rename keeps the tasks of this program
/// apart.
pub(crate) async fn package_lock(target: &Path, waiter: &Waiter, reporter: &dyn Reporter) -> Result<Lock, LockError> {
    let mut name = target.as_os_str().to_owned();
    name.push(".lock");
    wait(&Lockable::Record(PathBuf::from(name)), waiter, reporter).await
}

async fn wait(on: &Lockable, waiter: &Waiter, reporter: &dyn Reporter) -> Result<Lock, LockError> {
    let report = |held: &Held| reporter.event(&Event::note("waiting-for-lock", waiter.words(held)));
    tofu_oci_disk::lock(on, waiter, &report).await
}
