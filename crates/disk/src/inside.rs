//! Whether a link leads out of a folder, and how a file inside it is opened.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

#[cfg(not(unix))]
use crate::read::open_file;

/// Whether the path leads out of the folder by a symbolic link. Of a path that is not there, what would be made there counts; a
/// link to nothing leads out.
///
/// # Errors
/// If the system does not say.
pub fn leads_out(folder: &Path, path: &Path) -> io::Result<bool> {
    let is_there = |at: &&Path| at.starts_with(folder) && fs::symlink_metadata(at).is_ok();
    let Some(there) = path.ancestors().find(is_there) else { return Ok(false) };
    match fs::canonicalize(there) {
        Ok(real) => Ok(!real.starts_with(fs::canonicalize(folder)?)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error),
    }
}

/// The first link that leads out of the folder: the path itself, or one below it. It does not follow links to folders inside.
///
/// # Errors
/// If the system does not say.
pub fn link_out_of(folder: &Path, path: &Path) -> io::Result<Option<PathBuf>> {
    if leads_out(folder, path)? {
        return Ok(Some(path.to_owned()));
    }
    let mut waiting = Vec::from_iter(path.is_dir().then(|| path.to_owned()));
    while let Some(at) = waiting.pop() {
        for entry in fs::read_dir(at)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                waiting.push(entry.path());
            } else if kind.is_symlink() && leads_out(folder, &entry.path())? {
                return Ok(Some(entry.path()));
            }
        }
    }
    Ok(None)
}

/// The file at a path, if it is in this folder; `None` if the path leads out of it. A link that is set meanwhile is not followed.
/// Only a regular file is opened.
///
/// # Errors
/// If it cannot be opened.
pub fn open_inside(folder: &Path, path: &Path) -> io::Result<Option<File>> {
    let (root, real) = (fs::canonicalize(folder)?, fs::canonicalize(path)?);
    match real.strip_prefix(&root) {
        Ok(below) => open_below(&root, below).map(Some),
        Err(_) => Ok(None),
    }
}

/// Opens a file whose path has no links, folder by folder.
#[cfg(unix)]
fn open_below(root: &Path, below: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags, openat};

    let mut at = File::open(root)?;
    let mut names = below.components().peekable();
    while let Some(name) = names.next() {
        // A pipe may have taken its place by now.
        let kind = if names.peek().is_some() { OFlags::DIRECTORY } else { OFlags::NONBLOCK };
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | kind;
        at = openat(&at, name.as_os_str(), flags, Mode::empty())?.into();
    }
    if at.metadata()?.is_file() {
        Ok(at)
    } else {
        Err(io::Error::new(ErrorKind::InvalidInput, "it is not a regular file"))
    }
}

/// The same, as far as this system lets a program: the path is looked at once more when the file is open.
#[cfg(not(unix))]
fn open_below(root: &Path, below: &Path) -> io::Result<File> {
    let path = root.join(below);
    let file = open_file(&path)?;
    if fs::canonicalize(&path)? == path { Ok(file) } else { Err(io::Error::other("a link was put into its path")) }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_a_link_leads_out_of_a_folder() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        fs::create_dir_all(at("tree/a/b")).unwrap();
        fs::create_dir(at("tree-too")).unwrap();
        for (link, to) in [("out", "../tree-too"), ("in", "a"), ("nothing", "../missing"), ("a/up", "../..")] {
            symlink(to, at("tree").join(link)).unwrap();
        }
        symlink("tree", at("linked")).unwrap();
        let check = |folder: &str, path: &str, want: bool| {
            assert_eq!(leads_out(&at(folder), &at(folder).join(path)).unwrap(), want, "{folder}, {path}");
        };
        for (path, want) in [("a/b/new", false), ("out", true), ("out/new/x", true), ("in/b", false), ("nothing", true)]
        {
            check("tree", path, want);
            check("linked", path, want);
        }
        check("tree", "a/up/tree-too", true);
        check("tree", "a/up/tree/a", false);
        check("missing", "a/b", false);
    }

    #[test]
    fn a_link_out_is_found_below_a_path_too() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        fs::create_dir_all(at("tree/p/docs")).unwrap();
        fs::create_dir(at("outside")).unwrap();
        fs::write(at("tree/p/x"), "").unwrap();
        symlink("../x", at("tree/p/docs/in")).unwrap();
        symlink("p", at("tree/linked")).unwrap();
        let found = |path: &str| link_out_of(&at("tree"), &at(path)).unwrap();
        for path in ["tree/p", "tree/p/x", "tree/linked", "tree/missing"] {
            assert_eq!(found(path), None, "{path}");
        }
        symlink("../../../outside/secret", at("tree/p/docs/LICENSE")).unwrap();
        assert_eq!(found("tree/p"), Some(at("tree/p/docs/LICENSE")));
        assert_eq!(found("tree/linked"), Some(at("tree/linked/docs/LICENSE")));
        assert_eq!(found("tree/p/docs/LICENSE"), Some(at("tree/p/docs/LICENSE")));
    }

    #[test]
    fn a_link_that_was_set_after_it_was_looked_at_was_followed() {
        use std::io::Read as _;

        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        fs::create_dir_all(at("tree/a")).unwrap();
        fs::create_dir(at("secrets")).unwrap();
        fs::write(at("tree/a/x"), "public").unwrap();
        fs::write(at("secrets/x"), "secret").unwrap();
        symlink("../a/x", at("tree/a/in")).unwrap();
        symlink("../secrets", at("tree/out")).unwrap();
        let read = |path: &str| {
            let mut text = String::new();
            open_inside(&at("tree"), &at("tree").join(path)).unwrap()?.read_to_string(&mut text).unwrap();
            Some(text)
        };
        assert_eq!(read("a/x").as_deref(), Some("public"));
        assert_eq!(read("a/in").as_deref(), Some("public"));
        assert_eq!(read("out/x"), None);
        assert!(open_inside(&at("tree"), &at("tree/a")).is_err(), "it is not a file");
        // What `open_inside` has found stays what it was, whatever is there by now.
        let tree = fs::canonicalize(at("tree")).unwrap();
        fs::rename(at("tree/a"), at("tree/b")).unwrap();
        symlink("../secrets", at("tree/a")).unwrap();
        assert!(open_below(&tree, Path::new("a/x")).is_err());
        fs::remove_file(at("tree/b/x")).unwrap();
        symlink("../../secrets/x", at("tree/b/x")).unwrap();
        assert!(open_below(&tree, Path::new("b/x")).is_err());
    }
}
