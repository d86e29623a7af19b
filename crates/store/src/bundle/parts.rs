//! The file of a bundle, or its parts one after the other.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tofu_oci_types::Place;

use crate::error::StoreError;
use crate::range::read_at;

/// The most parts that a bundle has.
pub(super) const MAX_PARTS: usize = 999;

/// The name of a part, from 1: `FILE.001`.
pub(super) fn part_path(path: &Path, number: usize) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{number:03}"));
    name.into()
}

/// The first part of a bundle, if it lies in parts: `FILE.001`.
pub fn first_part(path: &Path) -> PathBuf {
    part_path(path, 1)
}

/// A file that may lie in parts.
#[derive(Debug)]
pub(super) struct BundleParts {
    pub(super) path: PathBuf,
    parts: Vec<BundlePart>,
    size: u64,
}

#[derive(Debug)]
struct BundlePart {
    path: PathBuf,
    file: File,
    /// Where it begins in the whole.
    begin: u64,
    size: u64,
}

impl BundleParts {
    /// Opens `FILE`, or else `FILE.001` and those that follow it.
    pub(super) fn open(path: &Path) -> Result<Self, StoreError> {
        let mut all = Self { path: path.to_owned(), parts: Vec::new(), size: 0 };
        if all.add(path.to_owned())? {
            return Ok(all);
        }
        while all.parts.len() < MAX_PARTS && all.add(part_path(path, all.parts.len() + 1))? {}
        let next = all.parts.len() + 1;
        let later = (next + 1..=next + 8).any(|number| part_path(path, number).exists());
        match (later, all.parts.is_empty()) {
            (true, _) => Err(all.missing_part()),
            (false, true) => Err(StoreError::UnknownRepository { place: all.place() }),
            (false, false) => Ok(all),
        }
    }

    fn add(&mut self, path: PathBuf) -> Result<bool, StoreError> {
        let opened = tofu_oci_disk::open_file(&path).and_then(|file| Ok((file.metadata()?.len(), file)));
        match opened {
            Ok((size, file)) => {
                self.parts.push(BundlePart { path, file, begin: self.size, size });
                self.size += size;
                Ok(true)
            }
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(false),
            Err(error) => Err(StoreError::io("read", path, error)),
        }
    }

    pub(super) fn place(&self) -> Place {
        Place::Bundle(self.path.clone())
    }

    /// All parts together, in bytes.
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// What is wrong if the archive goes on after the last byte: a part is missing, or the file has been cut off.
    pub(super) fn ends_early(&self) -> StoreError {
        let is_full = match self.parts.as_slice() {
            // One part alone does not show how large a part is.
            [only] => only.path != self.path,
            [first, .., last] => last.size == first.size,
            [] => false,
        };
        if is_full {
            return self.missing_part();
        }
        let path = self.parts.last().map_or_else(|| self.path.clone(), |part| part.path.clone());
        StoreError::CutOff { path, size: self.parts.last().map_or(0, |part| part.size) }
    }

    fn missing_part(&self) -> StoreError {
        StoreError::MissingPart { place: self.place(), part: part_path(&self.path, self.parts.len() + 1) }
    }

    /// The bytes of a range that lies within the whole.
    pub(super) fn read_exact_at(&self, mut at: u64, mut buffer: &mut [u8]) -> Result<(), StoreError> {
        while !buffer.is_empty() {
            let Some(part) = self.parts.iter().find(|part| at >= part.begin && at - part.begin < part.size) else {
                return Err(self.ends_early());
            };
            let within = at - part.begin;
            let most = usize::try_from(part.size - within).map_or(buffer.len(), |rest| rest.min(buffer.len()));
            let read = match read_at(&part.file, &mut buffer[..most], within) {
                Ok(0) => return Err(StoreError::CutOff { path: part.path.clone(), size: within }),
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(StoreError::io("read", &part.path, error)),
            };
            at += read as u64;
            buffer = &mut buffer[read..];
        }
        Ok(())
    }
}

/// A range of the whole as a reader.
pub(super) struct FileSection {
    pub(super) parts: Arc<BundleParts>,
    pub(super) at: u64,
    pub(super) end: u64,
}

impl Read for FileSection {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.end - self.at;
        let most = usize::try_from(left).map_or(buffer.len(), |left| left.min(buffer.len()));
        self.parts.read_exact_at(self.at, &mut buffer[..most]).map_err(io::Error::other)?;
        self.at += most as u64;
        Ok(most)
    }
}
