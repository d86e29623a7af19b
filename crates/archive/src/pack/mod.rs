//! Writes archives: equal files give equal bytes.
//!
//! Sorted by name, one fixed time, no owners, no directory entries, `0o755` for what is executable and `0o644` for
//! the rest. The bytes are the same for the same version of the deflate library; another version may compress
//! differently, so a digest is kept and not recomputed.

mod compress;
mod layer;
#[cfg(test)]
mod tests;
mod zip;

use std::fs::File;
use std::io::{self, Read as _, Write};
use std::path::Path;

use sha2::{Digest as _, Sha256};

pub use layer::{WrittenLayer, layer_from_zip, small_layer_from_zip, write_layer, write_small_layer};
pub use zip::{WrittenZip, write_zip};

use crate::names::{EntryKind, NameSet, check_name};
use crate::{ArchiveError, InputFile, PackageFile};

const BUFFER_BYTES: usize = 256 << 10;
const LEVEL: u32 = 6;

/// The files sorted by name, with names that any system can hold.
fn in_order(files: &[InputFile]) -> Result<Vec<&InputFile>, ArchiveError> {
    let mut names = NameSet::default();
    for file in files {
        check_name(&file.name)?;
        names.insert(&file.name, EntryKind::File)?;
    }
    if files.is_empty() {
        return Err(ArchiveError::Empty);
    }
    let mut files: Vec<&InputFile> = files.iter().collect();
    files.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(files)
}

fn mode_of(executable: bool) -> u32 {
    if executable { 0o755 } else { 0o644 }
}

/// Passes a file to `take`, piece by piece, and describes it.
fn read_file(
    input: &InputFile,
    buffer: &mut [u8],
    take: &mut dyn FnMut(&[u8]) -> Result<(), ArchiveError>,
) -> Result<PackageFile, ArchiveError> {
    let mut file = tofu_oci_disk::open_file(&input.path).map_err(ArchiveError::io("read", &input.path))?;
    let mut sha256 = Sha256::new();
    let mut size = 0;
    loop {
        match file.read(buffer) {
            Ok(0) => break,
            Ok(count) => {
                sha256.update(&buffer[..count]);
                size += count as u64;
                take(&buffer[..count])?;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(ArchiveError::io("read", &input.path)(error)),
        }
    }
    let mode = mode_of(input.executable);
    Ok(PackageFile { name: input.name.clone(), size, mode, sha256: sha256.finalize().into() })
}

/// Creates the file at `path`, or empties the one that is there.
fn create(path: &Path) -> Result<File, ArchiveError> {
    File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .open(path)
        .map_err(ArchiveError::io("create", path))
}

/// Hands everything on in pieces of 256 KiB. What a deflate encoder makes depends on the pieces that it is given, and
/// those that come from a file or from another thread are not always the same.
struct Blocks<W> {
    inner: W,
    block: Vec<u8>,
}

impl<W: Write> Blocks<W> {
    fn new(inner: W) -> Self {
        Self { inner, block: Vec::with_capacity(BUFFER_BYTES) }
    }

    /// Hands on what is left.
    fn finish(mut self) -> io::Result<W> {
        self.inner.write_all(&self.block)?;
        Ok(self.inner)
    }
}

impl<W: Write> Write for Blocks<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = bytes.len().min(BUFFER_BYTES - self.block.len());
        self.block.extend_from_slice(&bytes[..count]);
        if self.block.len() == BUFFER_BYTES {
            self.inner.write_all(&self.block)?;
            self.block.clear();
        }
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Counts and hashes what goes through.
struct Hashing<W> {
    inner: W,
    sha256: Sha256,
    size: u64,
}

impl<W> Hashing<W> {
    fn new(inner: W) -> Self {
        Self { inner, sha256: Sha256::new(), size: 0 }
    }
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.inner.write(bytes)?;
        self.sha256.update(&bytes[..count]);
        self.size += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
