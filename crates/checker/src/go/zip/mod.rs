//! Zip archives as Go's `archive/zip` reads them: the directory at the end counts, and of local headers only where the
//! data begin.
//!
//! Spec: Go 1.24 to 1.26, `archive/zip`, `reader.go`.

mod contents;
mod directory;
#[cfg(test)]
mod tests;

use std::io::{self, Read, Seek};
use std::sync::atomic::{AtomicU64, Ordering};

pub use directory::ZipFault;

/// An archive's directory, with the result of reading each entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZipListing {
    /// The entries in the order of the directory.
    pub items: Vec<ZipItem>,
    /// Whether the contents of all entries were read; they are not if all archives together unpack to more than
    /// 32 GiB.
    pub complete: bool,
}

/// One entry of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZipItem {
    /// The name as it is stored; bytes that are not UTF-8 are U+FFFD here.
    pub name: String,
    /// Whether it is a directory for Go.
    pub directory: bool,
    /// Whether its mode says that it is a symbolic link.
    pub link: bool,
    /// The mode's nine permission bits.
    pub permissions: u32,
    pub method: u16,
    /// Bytes after unpacking, as the directory claims.
    pub size: u64,
    /// Whether its contents are damaged, or packed in a way that Go does not know.
    pub damaged: bool,
}

/// Reads the directory of an archive of `size` bytes, and every entry to its end as long as so many bytes may be
/// `unpacked`.
///
/// # Errors
/// When the file cannot be read; what is wrong with the archive is part of the result.
pub(crate) fn list_zip(
    file: &mut (impl Read + Seek),
    size: u64,
    unpacked: &AtomicU64,
) -> io::Result<Result<ZipListing, ZipFault>> {
    let headers = match directory::headers(file, size)? {
        Ok(headers) => headers,
        Err(fault) => return Ok(Err(fault)),
    };
    let mut complete = true;
    let mut items = Vec::new();
    for header in headers {
        let mut damaged = false;
        let spend = |left: u64| left.checked_sub(header.size);
        if header.is_directory() {
        } else if complete && unpacked.fetch_update(Ordering::Relaxed, Ordering::Relaxed, spend).is_ok() {
            damaged = match contents::open(file, &header)? {
                Some(start) => !contents::is_sound(file, &header, start)?,
                None => true,
            };
        } else {
            complete = false;
        }
        items.push(ZipItem {
            name: String::from_utf8_lossy(&header.name).into_owned(),
            directory: header.is_directory(),
            link: header.is_link(),
            permissions: header.permissions(),
            method: header.method,
            size: header.size,
            damaged,
        });
    }
    Ok(Ok(ZipListing { items, complete }))
}

/// The names in the directory of an archive of `size` bytes; nothing else of it is read.
///
/// # Errors
/// When the file cannot be read.
pub(crate) fn list_names(file: &mut (impl Read + Seek), size: u64) -> io::Result<Result<Vec<String>, ZipFault>> {
    let headers = directory::headers(file, size)?;
    Ok(headers.map(|all| all.iter().map(|header| String::from_utf8_lossy(&header.name).into_owned()).collect()))
}

/// Takes an entry's name and contents.
pub(crate) type EachItem<'a> = dyn FnMut(&str, Option<Vec<u8>>) -> io::Result<()> + 'a;

/// Hands out the contents of the entries that `wanted` names, in the order of the directory, of an archive that
/// [`list_zip`] has read to its end; `None` for contents of more than `limit` bytes.
///
/// # Errors
/// When the file cannot be read.
pub(crate) fn read_items(
    file: &mut (impl Read + Seek),
    size: u64,
    limit: u64,
    wanted: &dyn Fn(&str) -> bool,
    each: &mut EachItem<'_>,
) -> io::Result<()> {
    for header in directory::headers(file, size)?.unwrap_or_default() {
        let name = String::from_utf8_lossy(&header.name).into_owned();
        if header.is_directory() || !wanted(&name) {
            continue;
        }
        if let Some(start) = contents::open(file, &header)? {
            each(&name, contents::bytes(file, &header, start, limit)?)?;
        }
    }
    Ok(())
}
