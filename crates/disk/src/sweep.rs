//! Removes the leftovers of killed runs.
//!
//! A run locks its temporary folders and files. A killed run leaves them without locks, so whatever can be locked
//! belongs to no running program. Two rules protect a living run's files if locks do not suffice:
//!
//! - Machines that share a folder do not always see each other's locks. The name of a temporary file names the kernel
//!   of its run; the sweep removes files of another kernel after a day.
//! - Other users have files in the system's temporary folder too. The sweep looks only at our names, our form of a name
//!   and our owner.
//!
//! What cannot be locked at all stays: folders on Windows and on NFS.

use std::fs::{self, DirEntry, Metadata};
use std::io;
use std::path::Path;
use std::time::Duration;

use crate::lock::{exclusive, open_what_is_there};
use crate::names::{
    HOLDER_NAME, KEPT_INDEX_NAME, LOCK_NAME, NameOrigin, OWN_PREFIX, Purpose, RANDOM, is_made_up, origin,
};

/// How long the files of a run under another kernel stay.
const FOREIGN: Duration = Duration::from_hours(24);

/// Whose folder it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FolderOwner {
    /// One that only programs write to: everything that begins with [`OWN_PREFIX`] is ours.
    Ours,
    /// One that a person works in: only names that a program made are ours.
    Users,
}

/// Removes the leftovers of killed runs from a folder with other contents. Returns their number.
pub fn sweep(folder: &Path, owner: FolderOwner) -> usize {
    remove(folder, |name, _| {
        let stays = [LOCK_NAME, HOLDER_NAME, KEPT_INDEX_NAME].contains(&name);
        let rest = name.strip_prefix(OWN_PREFIX).filter(|_| !stays)?;
        // Without a label the end has six characters: a person gave any longer name.
        let is_ours = || is_made_up(rest) && (rest.contains('-') || rest.len() == RANDOM);
        (owner == FolderOwner::Ours || is_ours()).then(|| origin(rest))
    })
}

/// Removes the leftovers of this user's killed runs among temporary folders. `own` is a folder of the user.
pub(crate) fn sweep_temporary(folder: &Path, own: &Path) -> usize {
    let Ok(own) = fs::metadata(own) else { return 0 };
    remove(folder, |name, entry| {
        let rest = Purpose::ALL.iter().find_map(|purpose| name.strip_prefix(purpose.prefix()))?;
        (is_made_up(rest) && is_folder_of(&entry.metadata().ok()?, &own)).then(|| origin(rest))
    })
}

#[cfg(unix)]
fn is_folder_of(data: &Metadata, own: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    data.is_dir() && data.uid() == own.uid()
}

#[cfg(not(unix))]
fn is_folder_of(data: &Metadata, _own: &Metadata) -> bool {
    data.is_dir()
}

fn remove(folder: &Path, is_ours: impl Fn(&str, &DirEntry) -> Option<NameOrigin>) -> usize {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let mut removed = 0;
    for entry in entries.flatten() {
        let Some(origin) = entry.file_name().to_str().and_then(|name| is_ours(name, &entry)) else { continue };
        // Of the entry itself, even if it is a link.
        let Ok(data) = entry.metadata() else { continue };
        if origin == NameOrigin::Elsewhere && !is_old(&data) {
            continue;
        }
        if remove_unlocked(&entry.path(), &data).is_ok_and(|gone| gone) {
            removed += 1;
        }
    }
    removed
}

fn is_old(data: &Metadata) -> bool {
    data.modified().ok().and_then(|changed| changed.elapsed().ok()).is_some_and(|age| age > FOREIGN)
}

/// Removes a file or folder that no program has locked; true if it was removed.
fn remove_unlocked(path: &Path, data: &Metadata) -> io::Result<bool> {
    if !data.is_dir() && !data.is_file() {
        return Ok(false);
    }
    let opened = open_what_is_there(path)?;
    if !exclusive(&opened)? {
        return Ok(false);
    }
    if data.is_dir() {
        fs::remove_dir_all(path)?;
    } else {
        fs::remove_file(path)?;
    }
    Ok(true)
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
