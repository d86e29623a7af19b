//! A whole package in one layer, straight into its folder; what such a small layer may hold.
//!
//! ```text
//! calling thread   ByteSource -> zstd (frames by two more threads) -> tar -> 1 MiB buffer --(channels)--> SHA-256 --> file
//! ```
//!
//! Such a layer lies over nothing, so that nothing in it is hidden or linked: whatever a plain archive would not hold is
//! refused, and nothing is spooled.

use std::collections::BTreeSet;
use std::path::Path;

use super::decode::{Consumed, LayerCompression, Metered, decoder};
use super::entries::{EntryContents, LayerReading, LayerTarget, LayerUsage};
use crate::folder_target::FolderTarget;
use crate::names::{EntryKind, NameSet};
use crate::sink::{self, EntryChecksums, Feed, Nowhere, UnpackTarget};
use crate::{ArchiveError, ByteSource, Limits, PackageContents, PackageFile};

/// Unpacks the tar archive, compressed with zstd, that `source` delivers into the empty folder `into`, and returns what is
/// there now. It must hold files and directories alone, each name once.
///
/// Files are created, never opened; after an error the caller removes the folder. Modes become `0o755` or `0o644`. At most
/// 64 MiB of memory and four more threads are used for a layer of [`write_small_layer`](crate::write_small_layer), and the window
/// ([`Limits::window_log`]) of a frame that holds more than [`FRAME_BYTES`](crate::FRAME_BYTES) or does not say its size. The source is
/// read to its end; the digest of its bytes is the caller's to check.
///
/// # Errors
/// As [`LayerTree::apply`](crate::LayerTree::apply), and whiteouts, hard links, names that come twice, directories without files and
/// [`ArchiveError::Empty`] for an archive without files.
pub fn unpack_tar_zst(
    source: &mut dyn ByteSource,
    into: &Path,
    limits: &Limits,
) -> Result<PackageContents, ArchiveError> {
    let mut target = FolderTarget::new(into);
    let contents = read_into(source, &mut target, limits)?;
    target.set_modes(&contents)?;
    Ok(contents)
}

/// What the tar archive, compressed with zstd, that `source` delivers holds: the same checks as [`unpack_tar_zst`] makes, with
/// nothing written.
///
/// # Errors
/// As [`unpack_tar_zst`].
pub fn read_tar_zst(source: &mut dyn ByteSource, limits: &Limits) -> Result<PackageContents, ArchiveError> {
    read_into(source, &mut Nowhere, limits)
}

fn read_into(
    source: &mut dyn ByteSource,
    target: &mut dyn UnpackTarget,
    limits: &Limits,
) -> Result<PackageContents, ArchiveError> {
    let (files, hashes) = sink::run(target, EntryChecksums::Missing, |feed| {
        let consumed = Consumed::new(source, limits.clone(), 0);
        let faults = consumed.faults();
        let metered = Metered::new(decoder(consumed, LayerCompression::Zstd), limits.clone(), 0, faults.clone());
        let mut plain = PlainFiles { feed, names: NameSet::default(), directories: Vec::new(), files: Vec::new() };
        let reading = LayerReading { limits, used: &mut LayerUsage::default(), target: &mut plain };
        reading.read(metered).map_err(|error| faults.take().unwrap_or(error))?;
        plain.refuse_empty_directories()?;
        Ok(plain.files)
    })?;
    if files.is_empty() {
        return Err(ArchiveError::Empty);
    }
    let file = |((name, size, mode), sha256)| PackageFile { name, size, mode, sha256 };
    Ok(PackageContents::new(files.into_iter().zip(hashes).map(file).collect()))
}

/// Files and directories, on their way to the sink.
struct PlainFiles {
    feed: Feed,
    names: NameSet,
    directories: Vec<String>,
    /// Name, size and mode of each file, in their order.
    files: Vec<(String, u64, u32)>,
}

impl PlainFiles {
    /// No checksum of a package says which directories without files it has, so such a layer has none.
    fn refuse_empty_directories(&self) -> Result<(), ArchiveError> {
        let parents =
            self.files.iter().flat_map(|(name, _, _)| name.match_indices('/').map(|(slash, _)| &name[..slash]));
        let parents: BTreeSet<&str> = parents.collect();
        match self.directories.iter().find(|name| !parents.contains(name.as_str())) {
            Some(name) if !self.files.is_empty() => {
                Err(ArchiveError::UnsupportedEntry { name: name.clone(), kind: "a directory without files" })
            }
            _ => Ok(()),
        }
    }
}

impl LayerTarget for PlainFiles {
    fn directory(&mut self, name: String) -> Result<(), ArchiveError> {
        self.names.insert(&name, EntryKind::Directory)?;
        self.feed.directory(&name)?;
        self.directories.push(name);
        Ok(())
    }

    fn file(&mut self, name: String, mode: u32, contents: &mut EntryContents<'_>) -> Result<(), ArchiveError> {
        self.names.insert(&name, EntryKind::File)?;
        contents.pass_on(&name, &mut self.feed)?;
        self.files.push((name, contents.size(), mode));
        Ok(())
    }

    fn link(&mut self, name: String, _target: String) -> Result<(), ArchiveError> {
        Err(ArchiveError::UnsupportedEntry { name, kind: "a hard link" })
    }

    fn whiteout(&mut self, name: String) -> Result<(), ArchiveError> {
        Err(ArchiveError::UnsupportedEntry { name, kind: "a whiteout" })
    }

    fn opaque(&mut self, directory: &str) -> Result<(), ArchiveError> {
        Err(ArchiveError::UnsupportedEntry { name: directory.to_owned(), kind: "a whiteout" })
    }
}
