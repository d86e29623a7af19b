//! The program of a package: the beginning of its executable.

use std::fs::{self, File};
use std::io::{self, Read, Seek as _, SeekFrom};
use std::path::Path;

use flate2::read::DeflateDecoder;

use super::{HEAD, Program};
use crate::names::EntryKind;
use crate::zip::{CentralEntry, DEFLATED, LOCAL, open_entries, u16_at};
use crate::{ArchiveError, Limits, is_executable_name};

/// Most files of a package that are read.
const MOST: usize = 16;

/// The program that a provider's package in the folder `dir` runs; `None` if the file does not exist, or if its header
/// says nothing.
pub fn folder_program(dir: &Path, provider_type: &str) -> Result<Option<Program>, ArchiveError> {
    let programs = folder_programs(dir, &|name| is_executable_name(name, provider_type))?;
    Ok(programs.into_iter().next().and_then(|(_, program)| program))
}

/// The files in the folder `dir` whose names are `wanted`, sorted by name, at most 16, each with what its header says.
pub fn folder_programs(
    dir: &Path,
    wanted: &dyn Fn(&str) -> bool,
) -> Result<Vec<(String, Option<Program>)>, ArchiveError> {
    let mut names = Vec::new();
    for entry in fs::read_dir(dir).map_err(ArchiveError::io("read", dir))? {
        let entry = entry.map_err(ArchiveError::io("read", dir))?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        // Checked before it is opened, because opening a pipe would wait forever.
        if wanted(&name) && fs::metadata(entry.path()).is_ok_and(|metadata| metadata.is_file()) {
            names.push(name);
        }
    }
    names.sort();
    names.truncate(MOST);
    let mut found = Vec::with_capacity(names.len());
    for name in names {
        let path = dir.join(&name);
        let file = tofu_oci_disk::open_file(&path).map_err(ArchiveError::io("read", &path))?;
        let head = head(file).map_err(ArchiveError::io("read", &path))?;
        found.push((name, Program::read(&head)));
    }
    Ok(found)
}

/// The program that a provider's package in the zip archive at `path` runs; `None` if the file does not exist, or if its
/// header says nothing.
pub fn zip_program(path: &Path, provider_type: &str) -> Result<Option<Program>, ArchiveError> {
    let programs = zip_programs(path, &|name| is_executable_name(name, provider_type))?;
    Ok(programs.into_iter().next().and_then(|(_, program)| program))
}

/// The files in the root of the zip archive at `path` whose names are `wanted`, sorted by name, at most 16, each with
/// what its header says. Contents that cannot be unpacked say nothing.
pub fn zip_programs(
    path: &Path,
    wanted: &dyn Fn(&str) -> bool,
) -> Result<Vec<(String, Option<Program>)>, ArchiveError> {
    let mut entries = open_entries(path, &Limits::default())?;
    entries.retain(|entry| entry.header.kind == EntryKind::File && wanted(&entry.header.name));
    entries.sort_by(|one, other| one.header.name.cmp(&other.header.name));
    entries.truncate(MOST);
    let mut file = tofu_oci_disk::open_file(path).map_err(ArchiveError::io("read", path))?;
    let mut found = Vec::with_capacity(entries.len());
    for entry in entries {
        let program = entry_head(&mut file, &entry).ok().and_then(|head| Program::read(&head));
        found.push((entry.header.name, program));
    }
    Ok(found)
}

/// The beginning of an entry's contents.
fn entry_head(file: &mut File, entry: &CentralEntry) -> io::Result<Vec<u8>> {
    let mut local = [0; 30];
    file.seek(SeekFrom::Start(entry.offset))?;
    file.read_exact(&mut local)?;
    if local[..4] != LOCAL {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let names = i64::from(u16_at(&local, 26)) + i64::from(u16_at(&local, 28));
    file.seek(SeekFrom::Current(names))?;
    let data = file.take(entry.header.compressed);
    if entry.header.method == DEFLATED { head(DeflateDecoder::new(data)) } else { head(data) }
}

fn head(reader: impl Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    reader.take(HEAD as u64).read_to_end(&mut head)?;
    Ok(head)
}
