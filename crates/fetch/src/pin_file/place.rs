//! The name of an image layout directory in the pins.
//!
//! It is the path from the folder of the pin file if both lie below one folder that is not the root: the file is in
//! version control and should not name folders of one machine. Otherwise the path is absolute.

use std::path::{Component, Path, PathBuf};

use tofu_oci_types::Place;

/// The name of the place in the pins at `pins`. The path of a layout is relative to the current folder, as on the
/// command line. Any other place stays as it is.
pub fn place(pins: &Path, place: &Place) -> Place {
    named(pins, place, Path::new(""))
}

/// The same for a place that the file names: a path is relative to the folder of the file.
pub(super) fn written(pins: &Path, place: &Place) -> Place {
    named(pins, place, &folder(pins))
}

fn folder(pins: &Path) -> PathBuf {
    let parent = pins.parent().filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new(".")).to_owned()
}

fn named(pins: &Path, place: &Place, base: &Path) -> Place {
    let Place::Layout(path) = place else { return place.clone() };
    let (Some(path), Some(folder)) = (absolute(&base.join(path)), real(&folder(pins))) else { return place.clone() };
    let path = relative(&path, &folder).unwrap_or(path);
    match path.to_str() {
        Some("") => Place::Layout(".".into()),
        Some(path) if cfg!(windows) => Place::Layout(path.replace('\\', "/").into()),
        Some(_) => Place::Layout(path),
        None => place.clone(),
    }
}

/// The path from `folder` to `path`, if both lie below one folder that is not the root.
///
/// It follows only links above that folder. A link further down is a name that the user has chosen and that may lead to
/// another folder later, as a tag does.
fn relative(path: &Path, folder: &Path) -> Option<PathBuf> {
    path.ancestors().find_map(|above| {
        let shared = above.canonicalize().ok().filter(|shared| shared.parent().is_some())?;
        let up = folder.strip_prefix(&shared).ok()?;
        let down = path.strip_prefix(above).ok()?;
        Some(up.components().map(|_| Component::ParentDir).chain(down.components()).collect())
    })
}

/// The folder without links; the absolute path if it does not exist.
fn real(folder: &Path) -> Option<PathBuf> {
    folder.canonicalize().ok().or_else(|| absolute(folder))
}

/// The path from the root, without detours.
fn absolute(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for part in std::path::absolute(path).ok()?.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    Some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with a project in it, without links above.
    fn projects() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("project/sub")).unwrap();
        (folder, root)
    }

    #[track_caller]
    fn check(root: &Path, pins: &str, path: &str, want: &str) {
        let (pins, path) = (root.join(pins).join("pins"), Place::Layout(root.join(path)));
        assert_eq!(place(&pins, &path).to_string(), want, "{path}");
        assert_eq!(written(&pins, &path).to_string(), want, "{path}");
        assert_eq!(written(&pins, &want.parse().unwrap()).to_string(), want, "as it was written");
    }

    #[test]
    fn a_layout_is_named_from_the_folder_of_the_pins() {
        let (_folder, root) = projects();
        for path in ["project/lay", "project/./lay/", "project/sub/../lay", "other/../project/lay"] {
            check(&root, "project", path, "oci:lay");
            check(&root, "project/sub", path, "oci:../lay");
        }
        check(&root, "project", "project", "oci:.");
        check(&root, "project", "beside/lay", "oci:../beside/lay");
        check(&root, "missing", "lay", "oci:../lay");
        assert_eq!(place(Path::new("pins"), &"oci:lay".parse().unwrap()).to_string(), "oci:lay");
        assert_eq!(place(Path::new("pins"), &"oci:./a/../lay".parse().unwrap()).to_string(), "oci:lay");
        assert_eq!(place(Path::new("pins"), &"ghcr.io/acme/lay".parse().unwrap()).to_string(), "ghcr.io/acme/lay");
    }

    #[cfg(unix)]
    #[test]
    fn a_layout_that_shares_nothing_with_the_project_is_named_from_the_root() {
        let (_folder, root) = projects();
        let pins = root.join("project/pins");
        assert_eq!(place(&pins, &"oci:/no-such-folder/lay".parse().unwrap()).to_string(), "oci:/no-such-folder/lay");
        assert_eq!(
            written(&pins, &"oci:/no-such-folder/./lay/".parse().unwrap()).to_string(),
            "oci:/no-such-folder/lay"
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_the_project_is_the_project_and_a_link_within_it_is_a_name() {
        let (_folder, root) = projects();
        std::os::unix::fs::symlink(root.join("project"), root.join("linked")).unwrap();
        std::fs::create_dir(root.join("project/lay")).unwrap();
        std::os::unix::fs::symlink("lay", root.join("project/current")).unwrap();
        check(&root, "project", "linked/lay", "oci:lay");
        check(&root, "linked", "project/lay", "oci:lay");
        check(&root, "linked", "linked/lay", "oci:lay");
        check(&root, "project", "project/current", "oci:current");
    }
}
