//! The entries of a layer, kept until all layers have been read: contents in a folder, names and kinds in a list.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use sha2::{Digest as _, Sha256};

use super::entries::{EntryContents, LayerTarget};
use super::tree::{Changes, SpooledFile};
use crate::ArchiveError;

const BUFFER_BYTES: usize = 256 << 10;

/// The changes of one layer.
pub(super) struct Spool<'a> {
    folder: &'a Path,
    /// How many files lie in the folder.
    files: &'a mut u64,
    changes: Changes,
    buffer: Vec<u8>,
}

impl<'a> Spool<'a> {
    pub(super) fn new(folder: &'a Path, files: &'a mut u64) -> Self {
        Self { folder, files, changes: Changes::default(), buffer: vec![0; BUFFER_BYTES] }
    }

    pub(super) fn into_changes(self) -> Changes {
        self.changes
    }
}

impl LayerTarget for Spool<'_> {
    fn directory(&mut self, name: String) -> Result<(), ArchiveError> {
        self.changes.directory(name);
        Ok(())
    }

    fn file(&mut self, name: String, mode: u32, contents: &mut EntryContents<'_>) -> Result<(), ArchiveError> {
        let spooled = *self.files;
        *self.files += 1;
        let path = self.folder.join(spooled.to_string());
        let mut file = File::create_new(&path).map_err(ArchiveError::io("create", &path))?;
        let mut sha256 = Sha256::new();
        loop {
            let count = contents.fill(&mut self.buffer)?;
            if count == 0 {
                break;
            }
            sha256.update(&self.buffer[..count]);
            file.write_all(&self.buffer[..count]).map_err(ArchiveError::io("write", &path))?;
        }
        let file = SpooledFile { spooled, size: contents.size(), mode, sha256: sha256.finalize().into() };
        self.changes.file(name, file);
        Ok(())
    }

    fn link(&mut self, name: String, target: String) -> Result<(), ArchiveError> {
        self.changes.link(name, target);
        Ok(())
    }

    fn whiteout(&mut self, name: String) -> Result<(), ArchiveError> {
        self.changes.whiteouts.push(name);
        Ok(())
    }

    fn opaque(&mut self, directory: &str) -> Result<(), ArchiveError> {
        self.changes.opaque.push(directory.to_owned());
        Ok(())
    }
}
