//! The places that findings name.

use crate::facts::{FoundRelease, IndexEntry};
use crate::model::Finding;

/// The findings so far.
pub(super) type Findings = Vec<Finding>;

/// The place of a release's index.
pub(crate) fn index_place(release: &FoundRelease) -> String {
    match (&release.index.found, &release.tag) {
        (Ok(document), _) => format!("index {}", document.digest),
        (Err(_), Some(tag)) => format!("tag {tag}"),
        (Err(_), None) => format!("version {}", release.version),
    }
}

/// The place of an entry's manifest.
pub(crate) fn manifest_place(entry: &IndexEntry) -> String {
    if entry.descriptor.digest.is_empty() {
        format!("entry {} of the index", entry.position)
    } else {
        format!("manifest {}", entry.descriptor.digest)
    }
}

/// The text of a foreign value in quotes; `none` if it is empty.
pub(super) fn quoted(text: &str) -> String {
    if text.is_empty() { "none".to_owned() } else { format!("`{text}`") }
}
