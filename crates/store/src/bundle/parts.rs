//! The file of a bundle, or its parts one after the other.

use std::collections::BTreeSet;
use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tofu_oci_disk::FileIdentity;
use tofu_oci_types::Place;

use crate::error::StoreError;
use crate::range::read_at;

/// The most parts that a bundle has.
pub(super) const MAX_PARTS: usize = 999;

/// How often a bundle is opened anew while another program puts a new one in its place.
const ATTEMPTS: u32 = 8;

/// The time between the first two attempts; each one is longer by as much.
const PAUSE: Duration = Duration::from_millis(5);

/// The path of a part, from 1: `FILE.001`.
pub(super) fn part_path(path: &Path, number: usize) -> PathBuf {
    with_ending(path, &part_name(number))
}

/// The number of a part as names have it.
pub(super) fn part_name(number: usize) -> String {
    format!("{number:03}")
}

/// The folder whose parts are on their way to their names: `FILE.new`.
pub(super) fn switched_parts(path: &Path) -> PathBuf {
    with_ending(path, "new")
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{ending}"));
    name.into()
}

/// The numbers of the parts in a folder that are named `PREFIX` and a number.
pub(super) fn numbers_in(folder: &Path, prefix: &str) -> Result<BTreeSet<usize>, StoreError> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if is_absent(&error) => return Ok(BTreeSet::new()),
        Err(error) => return Err(StoreError::io("read", folder, error)),
    };
    let number = |name: &str| {
        let number = name.strip_prefix(prefix).filter(|number| number.len() == 3)?.parse().ok()?;
        (1..=MAX_PARTS).contains(&number).then_some(number)
    };
    Ok(entries.flatten().filter_map(|entry| number(entry.file_name().to_str()?)).collect())
}

/// Whether a bundle lies there, in one file or in parts.
pub fn is_bundle_there(path: &Path) -> bool {
    path.exists() || part_path(path, 1).exists() || switched_parts(path).exists()
}

/// Demands that the files of a bundle can have their names: one that is too long is refused before anything is fetched.
///
/// # Errors
/// What the file system says.
pub fn check_bundle_name(path: &Path, max_part: u64) -> Result<(), StoreError> {
    let path = if max_part == u64::MAX { path.to_owned() } else { part_path(path, 1) };
    path.try_exists().map(drop).map_err(|error| StoreError::io("write", path, error))
}

/// Whether the error means that there is no such file.
fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::InvalidFilename)
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
    /// Opens `FILE`, or else `FILE.001` and those that follow it. Parts in `FILE.new` come before both: an interrupted run has
    /// put them in their place, and not given them their names yet.
    pub(super) fn open(path: &Path) -> Result<Self, StoreError> {
        let switched = switched_parts(path);
        let mut missing = None;
        for attempt in 0..ATTEMPTS {
            std::thread::sleep(PAUSE * attempt);
            let numbers = numbers_in(&switched, "")?;
            let opened = Self::open_now(path, &numbers);
            let is_settled = numbers_in(&switched, "")? == numbers;
            missing = None;
            match opened {
                // A writer may be removing the parts, after it has put one file in their place.
                Err(error @ StoreError::MissingPart { .. }) => missing = Some(error),
                Err(StoreError::UnknownRepository { .. }) if path.exists() => {}
                Ok(all) if !all.is_current() || numbers.is_empty() && !all.is_all() => {}
                opened if is_settled => return opened,
                _ => {}
            }
        }
        let problem = "it keeps changing".to_owned();
        Err(missing.unwrap_or_else(|| StoreError::Malformed { place: Place::Bundle(path.to_owned()), problem }))
    }

    fn open_now(path: &Path, switched: &BTreeSet<usize>) -> Result<Self, StoreError> {
        let mut all = Self { path: path.to_owned(), parts: Vec::new(), size: 0 };
        if let Some(last) = switched.last() {
            for number in 1..=*last {
                let now = switched_parts(path).join(part_name(number));
                let now = if switched.contains(&number) { now } else { part_path(path, number) };
                if !all.add(now)? {
                    return Err(all.missing_part());
                }
            }
            return Ok(all);
        }
        if all.add(path.to_owned())? {
            return Ok(all);
        }
        while all.parts.len() < MAX_PARTS && all.add(part_path(path, all.parts.len() + 1))? {}
        let next = all.parts.len() + 1;
        let later = || (next + 1..=next + 8).any(|number| part_path(path, number).exists());
        match all.parts.is_empty() {
            true if later() => Err(all.missing_part()),
            true => Err(StoreError::UnknownRepository { place: all.place() }),
            false => Ok(all),
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
            Err(error) if is_absent(&error) => Ok(false),
            Err(error) => Err(StoreError::io("read", path, error)),
        }
    }

    /// Whether the files that were opened are those that have these names now.
    fn is_current(&self) -> bool {
        self.parts.iter().all(|part| {
            let (opened, named) = (part.file.metadata().ok(), std::fs::metadata(&part.path).ok());
            let identity = |data: Option<Metadata>| data.as_ref().and_then(FileIdentity::of);
            named.is_some() && identity(opened) == identity(named)
        })
    }

    /// Whether there is nothing but these parts, if it is not one file.
    fn is_all(&self) -> bool {
        let is_absent = |path: &Path| !path.exists();
        let is_file = self.parts.first().is_some_and(|first| first.path == self.path);
        is_file || is_absent(&self.path) && (self.parts.len() == MAX_PARTS || is_absent(&self.next_part()))
    }

    /// Refuses parts that are not of one bundle, as far as their sizes and the archive show it: all parts are as large as the first
    /// one, and the last one is not larger.
    ///
    /// # Errors
    /// [`StoreError::Malformed`].
    pub(super) fn demand_one_bundle(&self) -> Result<(), StoreError> {
        let (Some((last, rest)), Some(first)) = (self.parts.split_last(), self.parts.first()) else { return Ok(()) };
        match rest.iter().find(|part| part.size != first.size) {
            Some(other) => Err(self.mixed(&format!("{} has another size than the first one", other.path.display()))),
            None if last.size > first.size => {
                Err(self.mixed(&format!("{} is larger than the first one", last.path.display())))
            }
            None => Ok(()),
        }
    }

    /// The error of an archive that cannot be read: of several parts perhaps that they are not of one bundle.
    pub(super) fn perhaps_mixed(&self, error: StoreError) -> StoreError {
        match (self.demand_one_bundle(), error) {
            (Err(mixed), _) => mixed,
            (Ok(()), StoreError::Malformed { problem, .. }) if self.is_split() => self.mixed(&problem),
            (Ok(()), error) => error,
        }
    }

    /// The error for parts that are not of one bundle.
    pub(super) fn mixed(&self, problem: &str) -> StoreError {
        let problem = format!("it is damaged, or its parts are of several bundles: {problem}");
        StoreError::Malformed { place: self.place(), problem }
    }

    /// Whether it lies in several files.
    pub(super) fn is_split(&self) -> bool {
        self.parts.len() > 1
    }

    /// Forgets the parts after the one in which the archive ends: they are of another bundle.
    pub(super) fn end_at(&mut self, end: u64) {
        self.parts.retain(|part| part.begin < end);
        self.size = self.parts.last().map_or(0, |last| last.begin + last.size);
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
        StoreError::MissingPart { place: self.place(), part: self.next_part() }
    }

    fn next_part(&self) -> PathBuf {
        part_path(&self.path, self.parts.len() + 1)
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
