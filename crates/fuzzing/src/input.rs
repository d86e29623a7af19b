//! The bytes as a reader takes them.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

/// Runs with the folder of a target, which this thread alone uses.
pub(crate) fn with_folder<T>(target: &str, run: impl FnOnce(&Path) -> T) -> T {
    thread_local!(static FOLDER: TempDir = tempfile::tempdir().expect("a temporary folder"));
    FOLDER.with(|folder| {
        let folder = folder.path().join(target);
        fs::create_dir_all(&folder).expect("a folder is made");
        run(&folder)
    })
}

/// The text that the bytes begin with: all of them if they are text.
pub(crate) fn text_of(bytes: &[u8]) -> &str {
    bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid())
}
