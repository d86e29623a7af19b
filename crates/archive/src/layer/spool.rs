//! The entries of a layer, kept until all layers have been read: contents in a folder, names and kinds in a list.

use super::entries::{EntryContents, LayerTarget};
use super::tree::{Changes, SpooledFile};
use crate::ArchiveError;
use crate::sink::Feed;
use crate::zip::LINK_BYTES;

/// The changes of one layer. Its files go to the sink, each named by its number.
pub(super) struct Spool {
    feed: Feed,
    /// How many files lie in the folder.
    files: usize,
    changes: Changes,
}

impl Spool {
    /// The layers before this one had `files` files, and these symbolic links.
    pub(super) fn new(feed: Feed, files: usize, symlinks: Option<Vec<(String, Vec<u8>)>>) -> Self {
        let mut changes = Changes::default();
        changes.symlinks = symlinks;
        Self { feed, files, changes }
    }

    pub(super) fn into_changes(self) -> Changes {
        self.changes
    }
}

impl LayerTarget for Spool {
    fn directory(&mut self, name: String) -> Result<(), ArchiveError> {
        self.changes.directory(name);
        Ok(())
    }

    fn file(&mut self, name: String, mode: u32, contents: &mut EntryContents<'_>) -> Result<(), ArchiveError> {
        let file = SpooledFile { spooled: self.files, size: contents.size(), mode };
        self.files += 1;
        contents.pass_on(&file.spooled.to_string(), &mut self.feed)?;
        self.changes.file(name, file);
        Ok(())
    }

    fn link(&mut self, name: String, target: String) -> Result<(), ArchiveError> {
        self.changes.link(name, target);
        Ok(())
    }

    fn symlink(&mut self, name: String, target: Vec<u8>) -> Result<(), ArchiveError> {
        let Some(symlinks) = &mut self.changes.symlinks else { return Err(ArchiveError::Symlink { name }) };
        if target.len() as u64 > LINK_BYTES {
            return Err(ArchiveError::UnsupportedEntry { name, kind: "a symbolic link of more than 4 KiB" });
        }
        symlinks.push((name, target));
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
