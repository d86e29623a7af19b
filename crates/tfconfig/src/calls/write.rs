//! A configuration file replaced as a whole.

use std::fs::{self, Metadata};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use tofu_oci_disk::{FileError, FolderOwner, ScratchFile};
use tofu_oci_fault::Fault;

use super::rewrite::{self, PinnedSource};
use super::source_call::{self, CallSource};
use super::walk::CallFile;
use crate::files;

/// Why a file was not written.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum CallFileError {
    /// another program changed a file of the configuration while `module lock` ran; it stays as that program wrote it
    #[error("{} was changed by another program meanwhile", path.display())]
    #[fault("config-changed", todo = "run the command again")]
    #[hint("run the same command again")]
    Changed { path: PathBuf },
    /// a source is written in a way that `module lock` cannot change without another effect; the file stays
    #[error("{} cannot be rewritten: its new text would say something else", path.display())]
    #[fault("config-not-rewritten", end = Unexpected, todo = "write it as one string in quotes on a line of its own")]
    #[hint("the file is as it was; write the source as one string in quotes on a line of its own")]
    Unsound { path: PathBuf },
    #[error(transparent)]
    #[fault(of = _0)]
    Io(#[from] FileError),
}

/// A file and its new text, not yet written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallFileWrite {
    path: PathBuf,
    place: PathBuf,
    before: String,
    after: String,
}

impl CallFile {
    /// The file with other sources: a pin for each of its calls, `None` for a call that stays. `None` if nothing changes.
    ///
    /// # Errors
    /// [`CallFileError::Unsound`] if the new text would not read back as these pins.
    pub fn pinned(&self, pins: &[Option<PinnedSource>]) -> Result<Option<CallFileWrite>, CallFileError> {
        let edits = self.calls.iter().zip(pins).filter_map(|(call, pin)| Some(call.edits(pin.as_ref()?)));
        let edits: Vec<_> = edits.flatten().collect();
        if edits.is_empty() {
            return Ok(None);
        }
        let after = rewrite::replaced(&self.text, edits);
        if !self.reads_back(&after, pins) {
            return Err(CallFileError::Unsound { path: self.path.clone() });
        }
        let (path, place, before) = (self.path.clone(), self.place.clone(), self.text.clone());
        Ok(Some(CallFileWrite { path, place, before, after }))
    }

    fn reads_back(&self, after: &str, pins: &[Option<PinnedSource>]) -> bool {
        let Ok(found) = source_call::find(&self.path, after, files::syntax(&self.path)) else { return false };
        let wanted = |index: usize| {
            let call = &self.calls[index];
            match (pins.get(index).and_then(Option::as_ref), &call.source) {
                (Some(pin), CallSource::Oci(source, note)) => {
                    let note = pin.note.clone().filter(|_| call.has_room()).or_else(|| note.clone());
                    CallSource::Oci(Box::new(source.as_ref().clone().with_digest(pin.digest.clone())), note)
                }
                _ => call.source.clone(),
            }
        };
        found.len() == self.calls.len()
            && found
                .iter()
                .enumerate()
                .all(|(index, call)| call.source == wanted(index) && call.module == self.calls[index].module)
    }
}

impl CallFileWrite {
    /// The file as it was found.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file itself, whatever links lead to it.
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// Its new text.
    pub fn after(&self) -> &str {
        &self.after
    }

    /// Whether the file is as it was read, or has the new text already.
    ///
    /// # Errors
    /// [`CallFileError::Changed`] if it is neither.
    pub fn check(&self) -> Result<(), CallFileError> {
        self.needed().map(drop)
    }

    /// Replaces the file at once: readers see the old or the new one. Its mode stays, and its owner if the system allows it.
    /// A link stays, and what it leads to is replaced. True if it was written; another run may have done so.
    ///
    /// # Errors
    /// As [`Self::check`], and if it cannot be written.
    pub fn write(&self) -> Result<bool, CallFileError> {
        let failed = |action| move |source| CallFileError::from(FileError::new(action, self.path.clone(), source));
        if !self.needed()? {
            return Ok(false);
        }
        let folder = self.place.parent().unwrap_or(Path::new("."));
        // Removes the leftovers of killed runs; a living run keeps its files locked.
        tofu_oci_disk::sweep(folder, FolderOwner::Users);
        let metadata = fs::metadata(&self.place).map_err(failed("read"))?;
        let temporary = ScratchFile::beside(folder).map_err(failed("write"))?;
        temporary.as_file().write_all(self.after.as_bytes()).map_err(failed("write"))?;
        keep_owner(&temporary, &metadata);
        temporary.as_file().set_permissions(metadata.permissions()).map_err(failed("write"))?;
        temporary.as_file().sync_all().map_err(failed("write"))?;
        // Once more, since that took a while.
        if !self.needed()? {
            return Ok(false);
        }
        temporary.put(&self.place).map_err(failed("replace"))?;
        Ok(true)
    }

    /// Whether the file is as it was read; false if it has the new text already.
    fn needed(&self) -> Result<bool, CallFileError> {
        let limit = self.before.len().max(self.after.len()) as u64;
        match tofu_oci_disk::read_file(&self.place, limit) {
            Ok(bytes) if bytes == self.before.as_bytes() => Ok(true),
            Ok(bytes) if bytes == self.after.as_bytes() => Ok(false),
            Ok(_) => Err(CallFileError::Changed { path: self.path.clone() }),
            Err(error) if matches!(error.kind(), io::ErrorKind::FileTooLarge | io::ErrorKind::NotFound) => {
                Err(CallFileError::Changed { path: self.path.clone() })
            }
            Err(source) => Err(CallFileError::from(FileError::new("read", self.path.clone(), source))),
        }
    }
}

/// Gives the new file the owner of the old one, as an administrator's run would otherwise take it away from its user. Whoever
/// may not do that is its owner anyway, or gets a file of their own.
#[cfg(unix)]
fn keep_owner(file: &ScratchFile, before: &Metadata) {
    use std::os::unix::fs::MetadataExt as _;
    let now = file.as_file().metadata();
    if now.is_ok_and(|now| (now.uid(), now.gid()) != (before.uid(), before.gid())) {
        let _ = std::os::unix::fs::fchown(file.as_file(), Some(before.uid()), Some(before.gid()));
    }
}

#[cfg(not(unix))]
fn keep_owner(_file: &ScratchFile, _before: &Metadata) {}
