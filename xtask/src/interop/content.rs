//! What came back: compared byte for byte with what was sent.

use std::fs;
use std::path::Path;

use tofu_oci_types::Digest;

use crate::failure::{ChoreFailure, ChoreResult, Doing};
use crate::paths;

/// `sha256:` and the hash of the bytes.
pub(super) fn digest(bytes: &[u8]) -> String {
    Digest::sha256(bytes).to_string()
}

/// A failure unless both folders hold the same files with the same bytes.
pub(super) fn must_be_equal(found: &Path, wanted: &Path) -> ChoreResult {
    let (found_files, wanted_files) = (paths::files_below(found)?, paths::files_below(wanted)?);
    if found_files != wanted_files {
        let text = format!("{} holds {found_files:?}, expected {wanted_files:?}", found.display());
        return Err(ChoreFailure::new(text));
    }
    for file in &wanted_files {
        let here = fs::read(found.join(file)).doing(|| format!("reading {}", file.display()))?;
        if here != fs::read(wanted.join(file))? {
            return Err(ChoreFailure::new(format!("{} differs in {}", file.display(), found.display())));
        }
    }
    Ok(())
}

/// A failure unless the file contains `text`.
pub(super) fn must_contain(file: &Path, text: &str) -> ChoreResult {
    let content = fs::read_to_string(file).doing(|| format!("reading {}", file.display()))?;
    if content.contains(text) {
        return Ok(());
    }
    Err(ChoreFailure::new(format!("{} lacks `{text}`:\n{content}", file.display())))
}
