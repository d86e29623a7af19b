//! The folder of a package that a source names, perhaps by a pattern.

use std::collections::BTreeSet;

use tofu_oci_archive::PackageContents;
use tofu_oci_types::{Place, Subdir};

use super::error::ModuleFetchError;

/// How many folders an error names.
const NAMED: usize = 20;

/// The folder's name in the package, empty for its root, and what lies there.
///
/// A segment may contain `*` and `?`; the pattern must match one folder. A folder without files does not count.
///
/// Spec: hashicorp/go-getter, `SubdirGlob`; brackets have no meaning here.
pub(super) fn find(
    contents: &PackageContents,
    folder: &Subdir,
    place: &Place,
) -> Result<(String, PackageContents), ModuleFetchError> {
    if folder.is_root() {
        return Ok((String::new(), contents.clone()));
    }
    let folders = folders(contents);
    let matching: Vec<&String> = folders.iter().filter(|name| matches_path(folder.as_str(), name)).collect();
    let (place, folder) = (place.clone(), folder.clone());
    match matching.as_slice() {
        [one] => match contents.below(one) {
            Some(below) => Ok(((*one).clone(), below)),
            None => Err(ModuleFetchError::FolderMissing { place, folder, found: Vec::new() }),
        },
        [] if contents.files().iter().any(|file| matches_path(folder.as_str(), &file.name)) => {
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

/// Whether each segment matches.
fn matches_path(pattern: &str, path: &str) -> bool {
    pattern.split('/').count() == path.split('/').count()
        && pattern.split('/').zip(path.split('/')).all(|(pattern, name)| matches_segment(pattern, name))
}

/// `*` is any characters, `?` is one.
fn matches_segment(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut at, mut seen, mut star) = (0, 0, None);
    while seen < name.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, seen));
                at += 1;
            }
            Some(one) if *one == '?' || *one == name[seen] => {
                at += 1;
                seen += 1;
            }
            _ => {
                let Some((star_at, from)) = star else { return false };
                star = Some((star_at, from + 1));
                (at, seen) = (star_at + 1, from + 1);
            }
        }
    }
    pattern[at..].iter().all(|rest| *rest == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_question_marks_match_within_a_segment() {
        for (pattern, name, want) in [
            ("*", "network-1.0.0", true),
            ("net*", "network", true),
            ("*work", "network", true),
            ("n*t*k", "network", true),
            ("n?twork", "network", true),
            ("net", "network", false),
            ("network?", "network", false),
            ("**", "x", true),
            ("*a*b", "aab", true),
            ("*a*b", "aac", false),
        ] {
            assert_eq!(matches_segment(pattern, name), want, "{pattern} {name}");
        }
        assert!(matches_path("*/modules/x", "a/modules/x"));
        assert!(!matches_path("*", "a/b"));
    }
}
