//! Zip archives that come in: unpacked, read through, or listed, always under the same checks.
//!
//! ```text
//! local header, data, local header, data, …   walk        names first, then inflate; the sink hashes and writes
//! central directory, end record               directory   must list exactly what came, with nothing around it
//! ```
//!
//! An archive is read once, from its first byte to its last, whether it comes over the network or from a file. What
//! cannot be read that way (stored data of unknown length, sizes that only the directory knows) is put aside in a
//! temporary file beside the target from there on, and read with the directory at hand.

mod directory;
mod format;
mod input;
mod save;
mod tail;
#[cfg(test)]
pub(crate) mod tests;
mod walk;

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;

use tofu_oci_disk::FileError;

use crate::folder_target::FolderTarget;
use crate::links::copy_links;
use crate::names::{EntryKind, NameSet};
use crate::sink::{self, EntryChecksums, KnownEntry, Nowhere, UnpackTarget};
use crate::{ArchiveError, ByteSource, Limits, PackageContents, PackageFile, ReadSource};
use directory::check_directory;
use format::ZipHeader;
pub(crate) use format::{CentralEntry, DEFLATED, LOCAL, u16_at};
use input::Input;
pub use save::save_zip;
use tail::{Hints, hints, read_entries};
use walk::{WalkedZip, ZipWalk};

/// Unpacks the zip archive that `source` delivers into the empty folder `into`, and returns what is there now.
///
/// Nothing is believed before it is seen: the folder's contents count only once this has returned `Ok`; after an error
/// the caller removes the folder. Files are created, never opened, and links are never followed. Modes become `0o755`
/// or `0o644`: by the execute bits of an archive made on Unix; in others, which have none, `terraform-provider-*` files
/// in the root get `0o755`. At most 16 MiB of memory are used, whatever the size, and two more threads. The digest of the archive is
/// the caller's to check; `source` is always read to its end when this succeeds. To stop early, let `source` fail.
///
/// Spec: PKWARE APPNOTE 6.3.10; project paper "Fast paths", section 2; `OpenTofu` 1.12 unpacks with less care.
pub fn unpack_zip(source: &mut dyn ByteSource, into: &Path, limits: &Limits) -> Result<PackageContents, ArchiveError> {
    let mut target = FolderTarget::new(into);
    let spool = into.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let walk = ZipWalk { limits, hints: None, spool: Some(spool) };
    let contents = read_through(source, &mut target, walk)?;
    target.set_modes(&contents)?;
    Ok(contents)
}

/// [`unpack_zip`] for a module: a symbolic link to a file or folder inside of the package becomes a copy of what it leads to.
///
/// # Errors
/// As [`unpack_zip`], and as [`take_checkout`](crate::take_checkout) for links.
pub fn unpack_module_zip(
    source: &mut dyn ByteSource,
    into: &Path,
    limits: &Limits,
) -> Result<PackageContents, ArchiveError> {
    let mut target = FolderTarget::new(into);
    let spool = into.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let walk = ZipWalk { limits, hints: None, spool: Some(spool) };
    let (contents, links) = read_with_links(source, &mut target, walk)?;
    target.set_modes(&contents)?;
    if links.is_empty() {
        return Ok(contents);
    }
    let mut targets = Vec::new();
    for name in links {
        let path = into.join(&name);
        let bytes = tofu_oci_disk::read_file(&path, LINK_BYTES).map_err(ArchiveError::io("read", &path))?;
        std::fs::remove_file(&path).map_err(ArchiveError::io("remove", &path))?;
        targets.push((name, bytes));
    }
    copy_links(into, &targets, limits)
}

/// Most bytes of the path that a link leads to.
pub(crate) const LINK_BYTES: u64 = 4096;

/// What the zip archive at `path` holds, after the same checks as [`unpack_zip`] makes, with nothing written.
pub fn read_zip(path: &Path, limits: &Limits) -> Result<PackageContents, ArchiveError> {
    read_zip_unless(&AtomicBool::new(false), path, limits)
}

/// [`read_zip`] that ends with [`ArchiveError::Cancelled`] soon after `cancelled` becomes true.
pub fn read_zip_unless(cancelled: &AtomicBool, path: &Path, limits: &Limits) -> Result<PackageContents, ArchiveError> {
    let mut source = Cancellable { inner: ReadSource::open(path)?, cancelled };
    let walk = ZipWalk { limits, hints: hints_of(path, limits)?, spool: None };
    read_through(&mut source, &mut Nowhere, walk).map_err(|error| match error {
        ArchiveError::Input(_) if cancelled.load(Ordering::Relaxed) => ArchiveError::Cancelled,
        ArchiveError::Input(source) => ArchiveError::from(FileError::new("read", path, source)),
        error => error,
    })
}

/// [`read_zip`] of what `source` delivers, which is read to its end if this succeeds. What cannot be read in one pass goes into a
/// temporary file in the folder `spool`.
pub fn read_zip_from(
    source: &mut dyn ByteSource,
    spool: &Path,
    limits: &Limits,
) -> Result<PackageContents, ArchiveError> {
    read_through(source, &mut Nowhere, ZipWalk { limits, hints: None, spool: Some(spool) })
}

/// Hands the files of the zip archive at `path` to `target`, each with its size and mode known beforehand.
pub(crate) fn read_zip_into(
    target: &mut dyn UnpackTarget,
    path: &Path,
    limits: &Limits,
) -> Result<PackageContents, ArchiveError> {
    let hints = hints(open_entries(path, limits)?);
    read_through(&mut ReadSource::open(path)?, target, ZipWalk { limits, hints: Some(hints), spool: None })
}

/// The files of a zip archive that is in memory, with their names, after the same checks as [`unpack_zip`] makes.
///
/// # Errors
/// As [`unpack_zip`], and of an archive that only its directory explains. All files together have at most
/// [`Limits::total_bytes`].
pub fn zip_files(archive: &[u8], limits: &Limits) -> Result<Vec<(String, Vec<u8>)>, ArchiveError> {
    let mut target = InMemory::default();
    let walk = ZipWalk { limits, hints: None, spool: None };
    read_through(&mut ReadSource::new(archive), &mut target, walk)?;
    Ok(target.0)
}

/// The target that keeps the files in memory.
#[derive(Default)]
struct InMemory(Vec<(String, Vec<u8>)>);

impl UnpackTarget for InMemory {
    fn start(&mut self, name: &str, _known: Option<KnownEntry>) -> Result<(), ArchiveError> {
        self.0.push((name.to_owned(), Vec::new()));
        Ok(())
    }
    fn write(&mut self, bytes: &[u8]) -> Result<(), ArchiveError> {
        self.0.last_mut().into_iter().for_each(|(_, file)| file.extend_from_slice(bytes));
        Ok(())
    }
    fn finish(&mut self) -> Result<(), ArchiveError> {
        Ok(())
    }
    fn directory(&mut self, _name: &str) -> Result<(), ArchiveError> {
        Ok(())
    }
}

/// A file of a zip archive, as its central directory describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZipEntry {
    /// Relative, checked, parts separated by `/`.
    pub name: String,
    /// Bytes after unpacking, as claimed.
    pub size: u64,
    /// Bytes in the archive, as claimed.
    pub compressed_size: u64,
    /// `0o755` or `0o644`.
    pub mode: u32,
}

/// The files of the zip archive at `path` in the order of its central directory, which alone is read: a quick look.
/// Names, modes, methods and limits are checked; contents, and whether the archive agrees with its directory, are not.
pub fn list_zip(path: &Path) -> Result<Vec<ZipEntry>, ArchiveError> {
    let limits = Limits::default();
    let beginning = ReadSource::open(path)?.next_chunk().map_err(ArchiveError::io("read", path))?.unwrap_or_default();
    match beginning.get(..4) {
        Some(b"PK\x03\x04") => {}
        Some(b"PK\x05\x06" | b"PK\x06\x06") => return Err(ArchiveError::Empty),
        _ => return Err(ArchiveError::NotAZip),
    }
    let mut names = NameSet::default();
    let mut files = Vec::new();
    for entry in open_entries(path, &limits)? {
        names.insert(&entry.header.name, entry.header.kind)?;
        if entry.header.kind == EntryKind::File {
            let (size, compressed_size) = (entry.header.size, entry.header.compressed);
            files.push(ZipEntry { name: entry.header.name, size, compressed_size, mode: entry.mode });
        }
    }
    if files.is_empty() {
        return Err(ArchiveError::Empty);
    }
    if files.iter().fold(0_u64, |sum, file| sum.saturating_add(file.size)) > limits.total_bytes {
        return Err(ArchiveError::TooLarge { limit: limits.total_bytes });
    }
    Ok(files)
}

pub(crate) fn open_entries(path: &Path, limits: &Limits) -> Result<Vec<CentralEntry>, ArchiveError> {
    let file = tofu_oci_disk::open_file(path).map_err(ArchiveError::io("read", path))?;
    limits.check_packed(file.metadata().map_err(ArchiveError::io("read", path))?.len())?;
    let entries = read_entries(&file, 0, limits)?;
    match entries.iter().find(|entry| entry.is_link) {
        Some(link) => Err(ArchiveError::Symlink { name: link.header.name.clone() }),
        None => Ok(entries),
    }
}

/// The central directory of the archive at `path`; `None` if it cannot be read: the walk meets the same fault and knows
/// better what it means.
fn hints_of(path: &Path, limits: &Limits) -> Result<Option<Hints>, ArchiveError> {
    match open_entries(path, limits) {
        Ok(entries) => Ok(Some(hints(entries))),
        Err(error @ (ArchiveError::Io(_) | ArchiveError::TooManyEntries { .. } | ArchiveError::Oversized { .. })) => {
            Err(error)
        }
        Err(_) => Ok(None),
    }
}

fn read_through(
    source: &mut dyn ByteSource,
    target: &mut dyn UnpackTarget,
    walk: ZipWalk<'_>,
) -> Result<PackageContents, ArchiveError> {
    let (contents, links) = read_with_links(source, target, walk)?;
    match links.into_iter().next() {
        Some(name) => Err(ArchiveError::Symlink { name }),
        None => Ok(contents),
    }
}

/// The files, among which each symbolic link is one with the path that it leads to, and the names of the links.
fn read_with_links(
    source: &mut dyn ByteSource,
    target: &mut dyn UnpackTarget,
    walk: ZipWalk<'_>,
) -> Result<(PackageContents, Vec<String>), ArchiveError> {
    let limits = walk.limits;
    let ((walked, entries), hashes) = sink::run(target, EntryChecksums::Crc32, |mut feed| {
        let mut input = Input::new(source, limits);
        let walked = walk.run(&mut input, &mut feed)?;
        // The other threads finish the last file while the directory is compared.
        drop(feed);
        let entries = check_directory(&mut input, &walked)?;
        Ok((walked, entries))
    })?;
    let links = entries.iter().filter(|entry| entry.is_link).map(|entry| entry.header.name.clone()).collect();
    let files = walked.into_iter().zip(entries).filter(|(entry, _)| entry.header.kind == EntryKind::File);
    let file = |((entry, CentralEntry { mode, .. }), sha256): ((WalkedZip, CentralEntry), _)| {
        let ZipHeader { name, size, .. } = entry.header;
        PackageFile { name, size, mode, sha256 }
    };
    let files: Vec<PackageFile> = files.zip(hashes).map(file).collect();
    if files.is_empty() {
        return Err(ArchiveError::Empty);
    }
    Ok((PackageContents::new(files), links))
}

/// A file that ends in an error once the caller wants no more of it.
struct Cancellable<'a> {
    inner: ReadSource<File>,
    cancelled: &'a AtomicBool,
}

impl ByteSource for Cancellable<'_> {
    fn next_chunk(&mut self) -> io::Result<Option<Bytes>> {
        if self.cancelled.load(Ordering::Relaxed) {
            return Err(io::Error::other("cancelled"));
        }
        self.inner.next_chunk()
    }
}
