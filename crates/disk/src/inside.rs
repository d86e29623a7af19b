//! Where a path leads.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

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
}
