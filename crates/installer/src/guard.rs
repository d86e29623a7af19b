//! The lock that `OpenTofu` takes while it installs a package: `…/VERSION/OS_ARCH.lock`.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tofu_oci_types::{Event, Reporter};

use crate::InstallError;

/// How often a lock that another program has is tried again.
const INTERVAL: Duration = Duration::from_millis(50);
/// After so many tries somebody is told.
const PATIENCE: u32 = 100;

/// Holds the lock; dropping it lets go. The file stays behind, empty, as `OpenTofu`'s does.
#[derive(Debug)]
pub(crate) struct Guard {
    _file: File,
}

impl Guard {
    /// Waits until no other program installs into `target` (a folder `…/VERSION/OS_ARCH`).
    ///
    /// A POSIX record lock over the whole file on Unix, `LockFileEx` on Windows, as `OpenTofu` takes them. It keeps
    /// programs apart, not the jobs of this one: those are kept apart by the rename.
    ///
    /// Spec: `OpenTofu` 1.12, internal/flock, providercache `Dir.Lock`.
    pub(crate) async fn take(target: &Path, reporter: &dyn Reporter) -> Result<Self, InstallError> {
        let mut name = target.as_os_str().to_owned();
        name.push(".lock");
        let path = PathBuf::from(name);
        let failed = |source| InstallError::Io { action: "lock", path: path.clone(), source };
        let file = File::options().create(true).truncate(false).read(true).write(true).open(&path).map_err(failed)?;
        let mut tries = 0;
        while !try_lock(&file).map_err(failed)? {
            tries += 1;
            if tries == PATIENCE {
                let text = format!("waiting for another program to release {}", path.display());
                reporter.event(&Event::note("waiting-for-lock", text));
            }
            tokio::time::sleep(INTERVAL).await;
        }
        Ok(Self { _file: file })
    }
}

#[cfg(unix)]
fn try_lock(file: &File) -> std::io::Result<bool> {
    use rustix::fs::FlockOperation;
    use rustix::io::Errno;
    match rustix::fs::fcntl_lock(file, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::AGAIN | Errno::ACCESS | Errno::DEADLK | Errno::INTR) => Ok(false),
        // Some network file systems have no locks; OpenTofu cannot take one there either.
        Ok(()) | Err(Errno::NOLCK | Errno::NOSYS | Errno::NOTSUP) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(unix))]
fn try_lock(file: &File) -> std::io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(std::fs::TryLockError::WouldBlock) => Ok(false),
        Err(std::fs::TryLockError::Error(error)) => Err(error),
    }
}
