//! Unpacking a zip in the order of `go-getter`, into a file system of names alone.
//!
//! Spec: `go-getter` 1.7 and 1.8, `ZipDecompressor`; `OpenTofu` 1.12, `CachedProvider.ExecutableFile`.

use std::collections::BTreeMap;

use super::zip::{ZipFault, ZipItem, ZipListing};
use crate::Rejection;

/// Longest name of a file or folder, in bytes, on the file systems in use.
const LONGEST: usize = 255;

#[derive(Clone, Copy, PartialEq, Eq)]
enum UnpackNode {
    Folder,
    File,
}

/// The contents of the package's folder after unpacking.
#[derive(Default)]
pub(crate) struct Unpacked(BTreeMap<Vec<String>, UnpackNode>);

/// Unpacks the entries in order. A path may have `room` bytes.
pub(crate) fn unpack(zip: &ZipListing, room: usize) -> Result<Unpacked, Rejection> {
    if zip.items.is_empty() {
        return Err(Rejection::EmptyArchive);
    }
    let mut unpacked = Unpacked::default();
    for item in &zip.items {
        unpacked.add(item, room)?;
    }
    Ok(unpacked)
}

impl Unpacked {
    fn add(&mut self, item: &ZipItem, room: usize) -> Result<(), Rejection> {
        if item.name.split(['/', '\\']).any(|part| part == "..") {
            return Err(Rejection::UnsafeEntry);
        }
        let path = path_of(&item.name);
        let length = path.iter().map(|part| part.len() + 1).sum::<usize>().saturating_sub(1);
        if length > room {
            return Err(Rejection::EntryNotWritable);
        }
        if item.directory {
            return self.folders(&path);
        }
        self.folders(&path[..path.len().saturating_sub(1)])?;
        if path.is_empty()
            || self.0.get(&path) == Some(&UnpackNode::Folder)
            || path.iter().any(|part| is_impossible(part))
        {
            return Err(Rejection::EntryNotWritable);
        }
        self.0.insert(path, UnpackNode::File);
        if item.damaged { Err(Rejection::DamagedArchive) } else { Ok(()) }
    }

    fn folders(&mut self, path: &[String]) -> Result<(), Rejection> {
        for length in 1..=path.len() {
            if is_impossible(&path[length - 1]) {
                return Err(Rejection::EntryNotWritable);
            }
            if *self.0.entry(path[..length].to_vec()).or_insert(UnpackNode::Folder) == UnpackNode::File {
                return Err(Rejection::EntryNotWritable);
            }
        }
        Ok(())
    }

    /// Every file and folder, `/` between the segments.
    pub(super) fn paths(&self) -> impl Iterator<Item = String> {
        self.0.keys().map(|path| path.join("/"))
    }

    /// Every folder, the outer before the inner.
    pub(super) fn every_folder(&self) -> impl Iterator<Item = String> {
        self.0.iter().filter(|(_, node)| **node == UnpackNode::Folder).map(|(path, _)| path.join("/"))
    }

    /// The files in the root.
    pub(crate) fn root_files(&self) -> impl Iterator<Item = &str> {
        let files = self.0.iter().filter(|(_, node)| **node == UnpackNode::File);
        files.filter_map(|(path, _)| if let [name] = path.as_slice() { Some(name.as_str()) } else { None })
    }

    /// Whether a name cannot be part of a checksum.
    pub(crate) fn has_line_break(&self) -> bool {
        self.0.iter().any(|(path, node)| *node == UnpackNode::File && path.iter().any(|part| part.contains('\n')))
    }
}

/// The segments of an entry's path after unpacking.
pub(super) fn path_of(name: &str) -> Vec<String> {
    name.split('/').filter(|part| !matches!(*part, "" | ".")).map(str::to_owned).collect()
}

/// A name that no file can have.
fn is_impossible(name: &str) -> bool {
    name.contains('\0') || name.len() > LONGEST
}

impl ZipFault {
    /// Why `OpenTofu` refuses an archive with this fault.
    pub(crate) fn because(self) -> Rejection {
        match self {
            Self::NotAZip => Rejection::NotAZip,
            Self::TooMany => Rejection::RepositoryUnreadable,
        }
    }
}
