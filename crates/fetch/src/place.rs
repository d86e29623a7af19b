//! Where a package goes and what lies there already; whether a folder or a cached package is linked or copied there.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tofu_oci_archive::{
    ArchiveError, KnownFiles, Limits, PackageContents, Program, folder_program, read_known_directory, read_zip,
    zip_program,
};
use tofu_oci_disk::{FileError, Scratch};
use tofu_oci_types::{DigestHasher, PackageHash, Platform, ProviderAddr, Version, zip_name};

use crate::blocking::blocking;
use crate::{FetchError, PackageCache};

/// The place of one package: a folder or an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackagePath {
    pub(crate) path: PathBuf,
    pub(crate) form: PackageForm,
    /// The folder `…/providers`, or the mirror, if it lies in a directory that may come from a git repository. Writing
    /// follows no link out of it.
    tree: Option<PathBuf>,
    pub(crate) writers: Writers,
    /// The temporary folder of a package that will be thrown away.
    pub(crate) scratch: Option<Arc<Scratch>>,
}

/// What a package is kept as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PackageForm {
    /// `ROOT/HOST/NS/TYPE/VERSION/OS_ARCH/`.
    Folder,
    /// `ROOT/HOST/NS/TYPE/terraform-provider-TYPE_VERSION_OS_ARCH.zip`.
    Archive,
}

/// How a place gets a package out of the package cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CacheUse {
    /// Its files may be those of the cache.
    LinksAndCopies,
    /// It gets files of its own.
    Copies,
    /// It does not.
    Never,
}

/// Which programs put packages into a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writers {
    /// `OpenTofu` too, so this program takes the same lock.
    OpenTofu,
    /// Only this program.
    Ourselves,
}

/// What lies in a package's place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathContents {
    /// Nothing, or an empty folder.
    Nothing,
    /// A symbolic link to a missing file, or one that leads back to itself.
    DanglingLink,
    /// A package, possibly through a symbolic link (Terraform links packages of a mirror).
    Package(FoundPackage),
    Other,
}

/// A package that lies in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundPackage {
    contents: PackageContents,
    /// The `zh:` of the archive; `None` for a folder.
    zh: Option<PackageHash>,
}

impl FoundPackage {
    /// The checksum of its files.
    pub fn h1(&self) -> PackageHash {
        self.contents.h1()
    }

    /// Bytes of its files.
    pub fn bytes(&self) -> u64 {
        self.contents.bytes()
    }

    /// Whether it has the program of a provider of this type.
    pub fn has_executable(&self, provider_type: &str) -> bool {
        self.contents.executable(provider_type).is_some()
    }

    /// Whether an archive is byte for byte the release's: a packed mirror serves its `zh:`. True for a folder, and for
    /// a release without archives: only the contents count there.
    pub fn is_archive(&self, zh: Option<&PackageHash>) -> bool {
        self.zh.is_none() || zh.is_none() || self.zh.as_ref() == zh
    }
}

impl PackagePath {
    /// The place of a package in a tree that `OpenTofu` installs into too, such as `.terraform/providers`.
    ///
    /// Spec: `OpenTofu` 1.12, `UnpackedDirectoryPathForPackage`.
    pub fn in_working_dir(root: &Path, address: &ProviderAddr, version: &Version, platform: &Platform) -> Self {
        let path = Self::in_mirror(root, PackageForm::Folder, address, version, platform);
        Self { writers: Writers::OpenTofu, ..path }
    }

    /// The place of a package in a filesystem mirror.
    ///
    /// Spec: `OpenTofu` 1.12, `PackageFilePathForPackage`, `UnpackedDirectoryPathForPackage`.
    pub fn in_mirror(
        root: &Path,
        form: PackageForm,
        address: &ProviderAddr,
        version: &Version,
        platform: &Platform,
    ) -> Self {
        let provider = root.join(address.hostname().display()).join(address.namespace()).join(address.provider_type());
        let path = match form {
            PackageForm::Archive => provider.join(zip_name(address, version, platform)),
            PackageForm::Folder => provider.join(version.to_string()).join(platform.to_string()),
        };
        Self { path, form, tree: Some(root.to_owned()), writers: Writers::Ourselves, scratch: None }
    }

    /// The place of a package in a plugin cache: a user may spread one over several disks by links.
    pub fn in_cache(root: &Path, address: &ProviderAddr, version: &Version, platform: &Platform) -> Self {
        Self { tree: None, ..Self::in_working_dir(root, address, version, platform) }
    }

    /// A place for a package that is looked at and thrown away.
    pub(crate) fn to_look_at(scratch: &Arc<Scratch>, form: PackageForm) -> Self {
        let (path, scratch) = (scratch.path().join("package"), Some(Arc::clone(scratch)));
        Self { path, form, tree: None, writers: Writers::Ourselves, scratch }
    }

    /// The folder or archive.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What lies here now. Reads all of it, except large files of a folder that the cache has known and that have not changed.
    pub async fn look(&self, limits: &Limits, cache: &PackageCache) -> Result<PathContents, FetchError> {
        let (place, limits, cache) = (self.clone(), limits.clone(), cache.clone());
        blocking(move || place.inspect(&limits, &cache)).await
    }

    /// The platforms of the provider's program here; `None` if its header does not say.
    pub async fn program(&self, provider_type: &str) -> Option<Program> {
        let (place, provider_type) = (self.clone(), provider_type.to_owned());
        let read = move || match place.form {
            PackageForm::Folder => folder_program(&place.path, &provider_type),
            PackageForm::Archive => zip_program(&place.path, &provider_type),
        };
        blocking(read).await.ok().flatten()
    }

    /// Whether both are one folder, directly or through links.
    pub async fn leads_to(&self, other: &Self) -> bool {
        let (one, other) = (self.path.clone(), other.path.clone());
        blocking(move || is_same(&one, &other)).await
    }

    /// Whether a folder of a filesystem mirror is linked here, as `OpenTofu` does. A mirror gets a copy: it may be moved, or
    /// come with a git repository.
    pub(crate) fn takes_links(&self) -> bool {
        self.writers == Writers::OpenTofu || self.scratch.is_some()
    }

    /// How the package cache may serve this place: the working directory is only a view of packages. A mirror may be moved or
    /// edited; a plugin cache is shared by its own means; what is thrown away is not worth it.
    pub(crate) fn cache_use(&self) -> CacheUse {
        match (self.form, self.writers) {
            (PackageForm::Archive, _) => CacheUse::Never,
            _ if self.scratch.is_some() || self.tree.is_none() => CacheUse::Never,
            (PackageForm::Folder, Writers::OpenTofu) => CacheUse::LinksAndCopies,
            (PackageForm::Folder, Writers::Ourselves) => CacheUse::Copies,
        }
    }

    /// The folder that the place is in.
    pub(crate) fn parent(&self) -> &Path {
        self.path.parent().expect("a place has a folder above it")
    }

    /// Refuses symbolic links out of the tree between the tree and the package: such a link may come with a git
    /// repository and lead to files of another project. Callers ask before they make or remove anything.
    ///
    /// The tree may be a link. So may the package: nothing is written through it.
    ///
    /// # Errors
    /// [`FetchError::LinkOutOfTree`].
    pub(crate) fn check_folders(&self) -> Result<(), FetchError> {
        let Some(tree) = &self.tree else { return Ok(()) };
        let Ok(below) = self.parent().strip_prefix(tree) else { return Ok(()) };
        let mut path = tree.clone();
        for part in below.components() {
            path.push(part);
            match fs::symlink_metadata(&path) {
                Ok(metadata) if metadata.is_symlink() => {}
                Ok(_) => continue,
                // Missing, or not a folder: making the folder reports it.
                Err(_) => return Ok(()),
            }
            let inside =
                matches!((path.canonicalize(), tree.canonicalize()), (Ok(to), Ok(tree)) if to.starts_with(&tree));
            if !inside {
                return Err(FetchError::LinkOutOfTree { link: path, tree: tree.clone() });
            }
        }
        Ok(())
    }

    /// What lies here now. Reads all of it that is not known.
    pub(crate) fn inspect(&self, limits: &Limits, known: &dyn KnownFiles) -> Result<PathContents, FetchError> {
        let failed = |source| FetchError::from(FileError::new("read", self.path.clone(), source));
        let link = match fs::symlink_metadata(&self.path) {
            Ok(metadata) => metadata.is_symlink(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(PathContents::Nothing),
            Err(error) => return Err(failed(error)),
        };
        let metadata = match fs::metadata(&self.path) {
            Ok(metadata) => metadata,
            Err(error) if link && leads_nowhere(&error) => return Ok(PathContents::DanglingLink),
            Err(error) => return Err(failed(error)),
        };
        let contents = match self.form {
            PackageForm::Folder if metadata.is_dir() => {
                if !link && fs::read_dir(&self.path).map_err(failed)?.next().is_none() {
                    return Ok(PathContents::Nothing);
                }
                read_known_directory(&self.path, limits, known)
            }
            PackageForm::Archive if metadata.is_file() => read_zip(&self.path, limits),
            _ => return Ok(PathContents::Other),
        };
        match contents {
            Ok(contents) => Ok(PathContents::Package(FoundPackage { contents, zh: self.zh()? })),
            Err(ArchiveError::Io(error)) => Err(error.into()),
            Err(_) => Ok(PathContents::Other),
        }
    }

    /// The `zh:` of the archive that lies here; `None` for a folder.
    fn zh(&self) -> Result<Option<PackageHash>, FetchError> {
        match self.form {
            PackageForm::Folder => Ok(None),
            PackageForm::Archive => {
                let failed = |source| FetchError::from(FileError::new("read", self.path.clone(), source));
                let mut hasher = DigestHasher::sha256();
                let mut file = tofu_oci_disk::open_file(&self.path).map_err(failed)?;
                let mut buffer = vec![0; 64 * 1024];
                loop {
                    match file.read(&mut buffer).map_err(failed)? {
                        0 => return Ok(PackageHash::zh(&hasher.finish())),
                        read => hasher.update(&buffer[..read]),
                    }
                }
            }
        }
    }

    /// Renames a package into this place, which must be empty or a dangling link; a link may also replace a link.
    pub(crate) fn put(&self, from: &Path, existing: &PathContents) -> Result<(), FetchError> {
        let failed = |action| move |source| FetchError::from(FileError::new(action, self.path.clone(), source));
        if *existing == PathContents::DanglingLink || (cfg!(windows) && self.path.is_symlink()) {
            fs::remove_file(&self.path).or_else(|_| fs::remove_dir(&self.path)).map_err(failed("replace"))?;
        } else if (cfg!(windows) || from.is_symlink())
            && self.form == PackageForm::Folder
            && self.path.is_dir()
            && !self.path.is_symlink()
        {
            // It is empty; a link cannot be renamed over a folder.
            fs::remove_dir(&self.path).map_err(failed("replace"))?;
        }
        fs::rename(from, &self.path).map_err(failed("rename"))
    }
}

/// Whether both are one folder, directly or through links.
pub(crate) fn is_same(one: &Path, other: &Path) -> bool {
    matches!((fs::canonicalize(one), fs::canonicalize(other)), (Ok(one), Ok(other)) if one == other)
}

/// Whether this is the error for a link that leads to no file or in a circle.
fn leads_nowhere(error: &io::Error) -> bool {
    /// `ELOOP` of Linux, and of macOS and the BSDs.
    const LOOPS: [i32; 2] = [40, 62];
    let loops = || cfg!(unix) && error.raw_os_error().is_some_and(|code| LOOPS.contains(&code));
    error.kind() == io::ErrorKind::NotFound || loops()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: impl Fn(&ProviderAddr, &Version, &Platform) -> PackagePath, want: &str) {
        let address = "Registry.Example.test/acme/widget".parse().unwrap();
        let place = path(&address, &"1.0.0+x".parse().unwrap(), &"linux_amd64".parse().unwrap());
        assert_eq!(place.path, Path::new(want));
    }

    #[test]
    fn mirrors_are_found_by_opentofus_own_search() {
        tofu_oci_vectors::Vectors::open("filesystem_layout.json").each("entries", |entry| {
            let (path, found) = (entry["path"].as_str().unwrap(), &entry["result"]);
            // The search ignores case and knows legacy addresses; this program writes neither.
            let Some(address) = found["provider"].as_str().and_then(|text| text.parse::<ProviderAddr>().ok()) else {
                return;
            };
            let text = |name: &str| found[name].as_str().unwrap();
            let form = if text("form") == "packed" { PackageForm::Archive } else { PackageForm::Folder };
            let (version, platform) = (text("version").parse().unwrap(), text("platform").parse().unwrap());
            let place = PackagePath::in_mirror(Path::new(""), form, &address, &version, &platform);
            assert!(place.path.display().to_string().eq_ignore_ascii_case(path), "{path}: {}", place.path.display());
        });
    }

    #[test]
    fn places_are_where_opentofu_looks() {
        let provider = "registry.example.test/acme/widget";
        let (root, folder) = (Path::new("m"), format!("m/{provider}/1.0.0+x/linux_amd64"));
        check(|address, version, platform| PackagePath::in_working_dir(root, address, version, platform), &folder);
        check(|address, version, platform| PackagePath::in_cache(root, address, version, platform), &folder);
        let mirror = |form| {
            move |address: &_, version: &_, platform: &_| PackagePath::in_mirror(root, form, address, version, platform)
        };
        check(mirror(PackageForm::Folder), &folder);
        let zip = "terraform-provider-widget_1.0.0+x_linux_amd64.zip";
        check(mirror(PackageForm::Archive), &format!("m/{provider}/{zip}"));
    }
}
