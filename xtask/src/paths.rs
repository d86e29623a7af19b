//! Where things lie in the workspace.

use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::{ChoreResult, Doing};

/// The root of the workspace.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_path_buf).unwrap_or_default()
}

/// The folder of golden files.
pub(crate) fn testdata() -> PathBuf {
    root().join("testdata")
}

/// All files below a folder, as paths relative to it, sorted.
pub(crate) fn files_below(folder: &Path) -> ChoreResult<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(here) = open.pop() {
        for entry in fs::read_dir(&here).doing(|| format!("reading {}", here.display()))? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                open.push(entry.path());
            } else {
                found.push(entry.path().strip_prefix(folder)?.to_path_buf());
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Copies a folder with everything in it; modes go along.
pub(crate) fn copy_folder(from: &Path, to: &Path) -> ChoreResult {
    fs::create_dir_all(to)?;
    for file in files_below(from)? {
        let target = to.join(&file);
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::copy(from.join(&file), &target).doing(|| format!("copying {}", file.display()))?;
    }
    Ok(())
}

/// Writes a file and the folders above it.
pub(crate) fn write(path: &Path, content: impl AsRef<[u8]>) -> ChoreResult {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::write(path, content).doing(|| format!("writing {}", path.display()))
}
