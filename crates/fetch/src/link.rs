//! A link from the working directory to the plugin cache.

use std::fs;
use std::io;
use std::path::{Path, PathBuf, absolute};

use tofu_oci_disk::Waiter;
use tofu_oci_types::Reporter;

use crate::FetchError;
use crate::blocking::blocking;
use crate::guard::package_lock;
use crate::place::{PackagePath, is_same};
use crate::staging::StagingFolder;

/// What had to be done for a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linked {
    Now,
    /// It has replaced something else.
    Instead,
    /// It was there already.
    Before,
}

impl PackagePath {
    /// Replaces whatever lies in this place by a link to a package of the plugin cache, under the lock of this place.
    ///
    /// # Errors
    /// [`FetchError::Lock`], [`FetchError::LinkOutOfTree`], and errors of the file system.
    pub async fn link_to(&self, cached: &Self, waiter: &Waiter, reporter: &dyn Reporter) -> Result<Linked, FetchError> {
        let beside = self.clone();
        let staging = blocking(move || StagingFolder::beside(&beside)).await?;
        let _lock = package_lock(&self.path, waiter, reporter).await?;
        let (from, to) = (cached.clone(), self.clone());
        blocking(move || link(staging, &from, &to)).await
    }
}

/// Makes `to` a symbolic link to the folder `from`, or a copy of it if the file system has no links.
///
/// It replaces whatever lies at `to`, which is only a view of the cache. The link is made in `staging`, beside `to`,
/// and renamed, so that no one sees half of it.
///
/// Spec: `OpenTofu` 1.12, `LinkFromOtherCache`, `PackageLocalDir.InstallProviderPackage`.
fn link(mut staging: StagingFolder, from: &PackagePath, to: &PackagePath) -> Result<Linked, FetchError> {
    let failed = |action, path: &Path| {
        let path = path.to_owned();
        move |source| FetchError::Io { action, path, source }
    };
    let source = absolute(&from.path).map_err(failed("read", &from.path))?;
    let existing = match fs::symlink_metadata(&to.path) {
        Ok(metadata) => Some(metadata),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(failed("read", &to.path)(error)),
    };
    if existing.is_some() && is_same(&source, &to.path) {
        staging.keep_parents();
        return Ok(Linked::Before);
    }
    let new = staging.path().join("package");
    if link_folder(&source, &new).is_err() {
        copy(&source, &new)?;
    }
    let old = staging.path().join("before");
    let folder = existing.as_ref().is_some_and(fs::Metadata::is_dir);
    if folder {
        fs::rename(&to.path, &old).map_err(failed("replace", &to.path))?;
    } else if existing.is_some() && (cfg!(windows) || !new.is_symlink()) {
        // A folder cannot be renamed over a link, nor can a link on Windows.
        remove_link(&to.path).map_err(failed("replace", &to.path))?;
    }
    if let Err(error) = fs::rename(&new, &to.path) {
        if folder {
            // An error of this rename would only hide the cause.
            let _ = fs::rename(&old, &to.path);
        }
        return Err(failed("rename", &to.path)(error));
    }
    staging.keep_parents();
    Ok(if existing.is_some() { Linked::Instead } else { Linked::Now })
}

/// Makes `to` a symbolic link to the folder `from`, by its absolute path.
///
/// Spec: `OpenTofu` 1.12, `PackageLocalDir.InstallProviderPackage`.
pub(crate) fn link_folder(from: &Path, to: &Path) -> io::Result<()> {
    symlink(&absolute(from)?, to)
}

#[cfg(unix)]
fn symlink(from: &Path, to: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(from, to)
}

#[cfg(windows)]
fn symlink(from: &Path, to: &Path) -> io::Result<()> {
    std::os::windows::fs::symlink_dir(from, to)
}

fn remove_link(path: &Path) -> io::Result<()> {
    fs::remove_file(path).or_else(|_| fs::remove_dir(path))
}

/// Copies a package's folder, which has files and folders only.
pub(crate) fn copy(from: &Path, to: &Path) -> Result<(), FetchError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| FetchError::Io { action: "copy", path, source }
    };
    let mut folders: Vec<PathBuf> = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        fs::create_dir(to.join(&folder)).map_err(failed(to))?;
        for entry in fs::read_dir(from.join(&folder)).map_err(failed(from))? {
            let name = folder.join(entry.map_err(failed(from))?.file_name());
            let path = from.join(&name);
            if fs::metadata(&path).map_err(failed(&path))?.is_dir() {
                folders.push(name);
            } else {
                fs::copy(&path, to.join(&name)).map_err(failed(&path))?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(path: PathBuf) -> PackagePath {
        let address = "example.com/acme/widget".parse().unwrap();
        let mut place =
            PackagePath::in_cache(Path::new(""), &address, &"1.0.0".parse().unwrap(), &"linux_amd64".parse().unwrap());
        place.path = path;
        place
    }

    /// A cached package and the place of its link, below one folder.
    fn package() -> (tempfile::TempDir, PackagePath, PackagePath) {
        let root = tempfile::tempdir().unwrap();
        let (from, to) = (root.path().join("cache/1.0.0/os_arch"), root.path().join("w/1.0.0/os_arch"));
        fs::create_dir_all(from.join("docs")).unwrap();
        fs::write(from.join("docs/guide.md"), "the guide").unwrap();
        (root, place(from), place(to))
    }

    /// Makes the link after `prepare` has put something in the place.
    #[track_caller]
    fn check(prepare: impl FnOnce(&Path, &Path), want: Linked) {
        let (_root, from, to) = package();
        fs::create_dir_all(to.parent()).unwrap();
        prepare(&from.path, &to.path);
        assert_eq!(link(StagingFolder::beside(&to).unwrap(), &from, &to).unwrap(), want);
        assert_eq!(fs::read_to_string(to.path.join("docs/guide.md")).unwrap(), "the guide");
        let left: Vec<_> = fs::read_dir(to.parent()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["os_arch"], "the staging folder is gone");
    }

    #[cfg(unix)]
    #[test]
    fn whatever_lies_there_gives_way_to_the_link() {
        check(|_, _| (), Linked::Now);
        check(|from, to| symlink(from, to).unwrap(), Linked::Before);
        check(|_, to| symlink(Path::new("/nowhere"), to).unwrap(), Linked::Instead);
        check(|_, to| symlink(Path::new("/"), to).unwrap(), Linked::Instead);
        check(|_, to| fs::write(to, "a file").unwrap(), Linked::Instead);
        check(
            |_, to| {
                fs::create_dir(to).unwrap();
                fs::write(to.join("tampered"), "x").unwrap();
            },
            Linked::Instead,
        );
    }

    #[test]
    fn where_there_are_no_links_the_package_is_copied() {
        let (_root, from, to) = package();
        fs::create_dir_all(to.parent()).unwrap();
        copy(&from.path, &to.path).unwrap();
        assert_eq!(fs::read_to_string(to.path.join("docs/guide.md")).unwrap(), "the guide");
        assert!(!fs::symlink_metadata(&to.path).unwrap().is_symlink());
    }
}
