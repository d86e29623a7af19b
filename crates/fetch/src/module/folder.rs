//! The folder of a package that a source names, perhaps by a pattern.

use std::collections::BTreeSet;

use tofu_oci_archive::PackageContents;
use tofu_oci_types::{Place, Subdir};

use super::error::ModuleFetchError;

/// How many folders an error names.
const NAMED: usize = 20;

/// The folder's name in the package, empty for its root, and what lies there.
///
/// A pattern must match one folder. A folder without files does not count.
pub(super) fn find(
    contents: &PackageContents,
    folder: &Subdir,
    place: &Place,
) -> Result<(String, PackageContents), ModuleFetchError> {
    if folder.is_root() {
        return Ok((String::new(), contents.clone()));
    }
    let folders = folders(contents);
    let matching = folder.matches(folders.iter().map(String::as_str));
    let (place, folder) = (place.clone(), folder.clone());
    match matching.as_slice() {
        [one] => match contents.below(one) {
            Some(below) => Ok(((*one).to_owned(), below)),
            None => Err(ModuleFetchError::FolderMissing { place, folder, found: Vec::new() }),
        },
        [] if !folder.matches(contents.files().iter().map(|file| file.name.as_str())).is_empty() => {
            Err(ModuleFetchError::FolderIsFile { place, folder })
        }
        [] => {
            let mut found: Vec<String> = folders.into_iter().filter(|name| !name.contains('/')).collect();
            found.truncate(NAMED);
            Err(ModuleFetchError::FolderMissing { place, folder, found })
        }
        several => {
            let found = several.iter().map(ToString::to_string).collect();
            Err(ModuleFetchError::SeveralFolders { place, folder, found })
        }
    }
}

/// Every folder that has a file in it or below it.
fn folders(contents: &PackageContents) -> BTreeSet<String> {
    let above = |name: &str| -> Vec<String> { name.match_indices('/').map(|(at, _)| name[..at].to_owned()).collect() };
    contents.files().iter().flat_map(|file| above(&file.name)).collect()
}
