//! The union of an image's layers, as a package.
//!
//! ```text
//! each layer   ByteSource -> decode (gzip, zstd) -> entries (tar) -> files to the sink threads, which spool them
//!                                                                 -> a list of changes
//! its end      diff_id checked; whiteouts hide what lies below, then the changes go into the tree
//! all layers   tree -> folder
//! ```
//!
//! A layer that holds a whole package goes straight into its folder ([`unpack_tar_zst`]).
//!
//! Spec: OCI image-spec 1.1.1, layer.md, "Applying Changesets"; project paper "OCI reality", section 1.4.

mod decode;
mod entries;
mod frames;
mod spool;
mod stream;
#[cfg(test)]
mod tests;
mod tree;

use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use tofu_oci_types::{Digest, DigestHasher};

use crate::folder_target::FolderTarget;
use crate::links::copy_links;
use crate::names::{EntryKind, NameSet};
use crate::sink::{self, EntryChecksums};
use crate::{ArchiveError, ByteSource, Limits, PackageContents, PackageFile};
pub use decode::LayerCompression;
use decode::{Consumed, Hashed, Metered, decoder};
use entries::{LayerReading, LayerUsage};
use spool::Spool;
pub use stream::{read_tar_zst, unpack_tar_zst};
use tree::{Tree, TreeNode};

/// The files that an image's layers add up to. Their contents are in a temporary folder, which lives as long as this
/// value.
///
/// Entries may be files, directories and hard links (which become copies). Names are normalised (`./` and a leading
/// `/` go) and then checked like those of a zip archive. Modes become `0o755` or `0o644`; owners, times, attributes and
/// setuid bits are ignored. After an error the tree is worthless.
#[derive(Debug)]
pub struct LayerTree {
    limits: Limits,
    spool: TempDir,
    /// The SHA-256 of each file in the spool, by its number.
    hashes: Vec<[u8; 32]>,
    tree: Tree,
    used: LayerUsage,
    /// Symbolic links and where they lead; `None` if they are refused.
    symlinks: Option<Vec<(String, Vec<u8>)>>,
}

impl LayerTree {
    /// An image without layers. `spool` is a folder on the file system where the package will lie.
    pub fn new(spool: &Path, limits: Limits) -> Result<Self, ArchiveError> {
        let made = tempfile::Builder::new().prefix("layers-").tempdir_in(spool);
        let spool = made.map_err(ArchiveError::io("create a folder in", spool))?;
        let (tree, used) = (Tree::default(), LayerUsage::default());
        Ok(Self { limits, spool, hashes: Vec::new(), tree, used, symlinks: None })
    }

    /// Puts the next layer, from the bottom up, on top. Returns the digest of the uncompressed layer, which must be
    /// `diff_id` if one is given. One more thread and 6 MiB of buffers are used. The source is read to its end; the digest of its
    /// bytes is the caller's to check.
    ///
    /// # Errors
    /// Symbolic links, devices and the like; a hard link whose copy does not fit into the limits; names as in
    /// [`crate::unpack_zip`]; anything after the end of the compressed stream or of the tar archive except zeros; more bytes or entries in all layers together than the limits allow.
    pub fn apply(
        &mut self,
        source: &mut dyn ByteSource,
        compression: LayerCompression,
        diff_id: Option<&Digest>,
    ) -> Result<Digest, ArchiveError> {
        let hasher = diff_id.and_then(Digest::hasher).unwrap_or_else(DigestHasher::sha256);
        let (limits, used, spooled) = (&self.limits, &mut self.used, self.hashes.len());
        let symlinks = self.symlinks.take();
        let mut folder = FolderTarget::new(self.spool.path());
        let ((mut changes, found), sums) = sink::run(&mut folder, EntryChecksums::Missing, |feed| {
            let consumed = Consumed::new(source, limits.clone(), used.packed);
            let faults = consumed.faults();
            let stream = decoder(consumed, compression);
            let metered = Metered::new(stream, limits.clone(), used.bytes, faults.clone());
            let decoded = Hashed { inner: metered, hasher };
            let mut spool = Spool::new(feed, spooled, symlinks);
            let reading = LayerReading { limits, used, target: &mut spool };
            // A fault of the source or a broken limit lies below the decoders, which would only garble it.
            let Hashed { inner, hasher } = reading.read(decoded).map_err(|error| faults.take().unwrap_or(error))?;
            used.bytes = inner.bytes();
            used.packed = used.packed.saturating_add(faults.bytes_in());
            Ok((spool.into_changes(), hasher.finish()))
        })?;
        self.hashes.extend(sums);
        if let Some(expected) = diff_id.filter(|expected| **expected != found) {
            return Err(ArchiveError::WrongDiffId { expected: expected.clone(), found });
        }
        self.symlinks = changes.symlinks.take();
        let (used, limit) = (&mut self.used.bytes, self.limits.total_bytes);
        self.tree.apply(changes, &mut |copied| {
            *used = used.saturating_add(copied);
            if *used > limit { Err(ArchiveError::TooLarge { limit }) } else { Ok(()) }
        })?;
        Ok(found)
    }

    /// Puts the package into the empty folder `into`. An image without files gives a package without files.
    pub fn materialise(mut self, into: &Path) -> Result<PackageContents, ArchiveError> {
        let nodes = std::mem::take(&mut self.tree).into_nodes();
        let mut names = NameSet::default();
        let mut uses: HashMap<usize, usize> = HashMap::new();
        for (name, node) in &nodes {
            match node {
                TreeNode::Directory => names.insert(name, EntryKind::Directory)?,
                TreeNode::File(file) => {
                    names.insert(name, EntryKind::File)?;
                    *uses.entry(file.spooled).or_default() += 1;
                }
            }
        }
        for (name, _) in self.symlinks.iter().flatten() {
            names.insert(name, EntryKind::File)?;
        }
        let mut folder = FolderTarget::new(into);
        let mut files = Vec::new();
        for (name, node) in nodes {
            let TreeNode::File(file) = node else {
                folder.make_directory(&name)?;
                continue;
            };
            let to = folder.place_for(&name)?;
            let from = self.spool.path().join(file.spooled.to_string());
            let left = uses.entry(file.spooled).or_default();
            *left = left.saturating_sub(1);
            place(&from, &to, *left == 0)?;
            files.push(PackageFile { name, size: file.size, mode: file.mode, sha256: self.hashes[file.spooled] });
        }
        let contents = PackageContents::new(files);
        folder.set_modes(&contents)?;
        match &self.symlinks {
            Some(links) if !links.is_empty() => copy_links(into, links, &self.limits),
            _ => Ok(contents),
        }
    }
}

/// Moves a spooled file, or copies it when it is needed again or lies on another file system.
fn place(from: &Path, to: &PathBuf, last: bool) -> Result<(), ArchiveError> {
    if last {
        match fs::rename(from, to) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {}
            Err(error) => return Err(ArchiveError::io("create", to)(error)),
        }
    }
    let mut input = tofu_oci_disk::open_file(from).map_err(ArchiveError::io("read", from))?;
    let created = OpenOptions::new().write(true).create_new(true).open(to);
    let mut output = created.map_err(ArchiveError::io("create", to))?;
    io::copy(&mut input, &mut output).map_err(ArchiveError::io("write", to))?;
    Ok(())
}

/// Unpacks the tar archive, compressed with gzip, that `source` delivers into the empty folder `into`, by the rules of
/// [`LayerTree`]: one layer over nothing. A symbolic link to a file or folder inside of the package becomes a copy of what it
/// leads to. Returns what is there now.
///
/// # Errors
/// As [`LayerTree::apply`], as [`take_checkout`](crate::take_checkout) for links, and [`ArchiveError::Empty`] for an archive
/// without files.
pub fn unpack_tar_gz(
    source: &mut dyn ByteSource,
    into: &Path,
    limits: &Limits,
) -> Result<PackageContents, ArchiveError> {
    let spool = into.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut tree = LayerTree { symlinks: Some(Vec::new()), ..LayerTree::new(spool, limits.clone())? };
    tree.apply(source, LayerCompression::Gzip, None)?;
    let contents = tree.materialise(into)?;
    if contents.files().is_empty() { Err(ArchiveError::Empty) } else { Ok(contents) }
}
