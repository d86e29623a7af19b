//! Where a package goes, and what lies there already.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tofu_oci_archive::{ArchiveError, Limits, PackageContents, read_directory, read_zip};
use tofu_oci_disk::Scratch;
use tofu_oci_types::{DigestHasher, PackageHash, Platform, ProviderAddr, Version};

use crate::{InstallError, PluginCache, Target};

/// A package's place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The folder or archive.
    pub(crate) path: PathBuf,
    pub(crate) form: Form,
    /// The folder `…/providers`, or the mirror, if it lies in a directory that may come from a repository. No link below
    /// it is followed out of it to write.
    pub(crate) tree: Option<PathBuf>,
    /// The folder that goes away with everything in it, where the package is only looked at.
    pub(crate) scratch: Option<Arc<Scratch>>,
}

/// What a package is kept as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Folder,
    Archive,
}

/// What lies in a package's place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Existing {
    /// Nothing, or an empty folder.
    Nothing,
    /// A symbolic link to something that is gone, or one that leads back to itself.
    DanglingLink,
    /// A package, possibly behind a symbolic link (Terraform links packages of a mirror).
    Package(PackageContents),
    /// Something that is no package.
    Other,
}

impl Place {
    /// The place of a package.
    ///
    /// Spec: `OpenTofu` 1.12, `PackageFilePathForPackage`, `UnpackedDirectoryPathForPackage`.
    pub(crate) fn of(target: &Target, address: &ProviderAddr, version: &Version, platform: &Platform) -> Self {
        let root = match target {
            Target::WorkingDir { data_dir, .. } => data_dir.join("providers"),
            Target::MirrorUnpacked(root) | Target::MirrorPacked(root) => root.clone(),
        };
        let provider = root.join(address.hostname().display()).join(address.namespace()).join(address.provider_type());
        let (path, form) = match target {
            Target::MirrorPacked(_) => (provider.join(zip_name(address, version, platform)), Form::Archive),
            _ => (provider.join(version.to_string()).join(platform.to_string()), Form::Folder),
        };
        Self { path, form, tree: Some(root), scratch: None }
    }

    /// The place of a package in a plugin cache: a user may spread one over several disks by links.
    pub(crate) fn in_cache(
        cache: &PluginCache,
        address: &ProviderAddr,
        version: &Version,
        platform: &Platform,
    ) -> Self {
        let place = Self::of(&Target::MirrorUnpacked(cache.dir.clone()), address, version, platform);
        Self { tree: None, ..place }
    }

    /// A place that nothing is ever put into: what is staged beside it is looked at and thrown away.
    pub(crate) fn to_look_at(scratch: &Arc<Scratch>, form: Form) -> Self {
        Self { path: scratch.path().join("package"), form, tree: None, scratch: Some(Arc::clone(scratch)) }
    }

    /// The folder that the place is in.
    pub(crate) fn parent(&self) -> &Path {
        self.path.parent().expect("a place has a folder above it")
    }

    /// Refuses folders between the tree and the package that are symbolic links out of the tree: a repository may have
    /// them checked in, and what they lead to belongs to somebody else. It is called before anything is made or removed.
    ///
    /// The tree itself may be a link, and so may the package: it is never written through.
    ///
    /// # Errors
    /// [`InstallError::LinkOutOfTree`].
    pub(crate) fn check_folders(&self) -> Result<(), InstallError> {
        let Some(tree) = &self.tree else { return Ok(()) };
        let Ok(below) = self.parent().strip_prefix(tree) else { return Ok(()) };
        let mut path = tree.clone();
        for part in below.components() {
            path.push(part);
            match fs::symlink_metadata(&path) {
                Ok(metadata) if metadata.is_symlink() => {}
                Ok(_) => continue,
                // Missing, or not a folder: making it says so.
                Err(_) => return Ok(()),
            }
            let inside =
                matches!((path.canonicalize(), tree.canonicalize()), (Ok(to), Ok(tree)) if to.starts_with(&tree));
            if !inside {
                return Err(InstallError::LinkOutOfTree { link: path, tree: tree.clone() });
            }
        }
        Ok(())
    }

    /// What lies here now. Reads it all.
    pub(crate) fn inspect(&self, limits: &Limits) -> Result<Existing, InstallError> {
        let failed = |source| InstallError::Io { action: "read", path: self.path.clone(), source };
        let link = match fs::symlink_metadata(&self.path) {
            Ok(metadata) => metadata.is_symlink(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Existing::Nothing),
            Err(error) => return Err(failed(error)),
        };
        let metadata = match fs::metadata(&self.path) {
            Ok(metadata) => metadata,
            Err(error) if link && leads_nowhere(&error) => return Ok(Existing::DanglingLink),
            Err(error) => return Err(failed(error)),
        };
        let contents = match self.form {
            Form::Folder if metadata.is_dir() => {
                if !link && fs::read_dir(&self.path).map_err(failed)?.next().is_none() {
                    return Ok(Existing::Nothing);
                }
                read_directory(&self.path, limits)
            }
            Form::Archive if metadata.is_file() => read_zip(&self.path, limits),
            _ => return Ok(Existing::Other),
        };
        match contents {
            Ok(contents) => Ok(Existing::Package(contents)),
            Err(ArchiveError::Io { action, path, source }) => Err(InstallError::Io { action, path, source }),
            Err(_) => Ok(Existing::Other),
        }
    }

    /// Whether the archive that lies here has the bytes of the release's: whoever serves a packed mirror serves their `zh:`.
    /// A folder, and the package of a release without archives, is known by its contents alone.
    pub(crate) fn has_zh(&self, zh: Option<&PackageHash>) -> Result<bool, InstallError> {
        let Some(wanted) = zh else { return Ok(true) };
        Ok(self.zh()?.is_none_or(|found| found == *wanted))
    }

    /// The `zh:` of the archive that lies here; `None` for a folder.
    fn zh(&self) -> Result<Option<PackageHash>, InstallError> {
        match self.form {
            Form::Folder => Ok(None),
            Form::Archive => {
                let failed = |source| InstallError::Io { action: "read", path: self.path.clone(), source };
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

    /// Puts something in its place at once; what lies here must be nothing or a dangling link.
    pub(crate) fn put(&self, from: &Path, existing: &Existing) -> Result<(), InstallError> {
        let failed = |action| move |source| InstallError::Io { action, path: self.path.clone(), source };
        if *existing == Existing::DanglingLink {
            fs::remove_file(&self.path).map_err(failed("replace"))?;
        } else if cfg!(windows) && self.form == Form::Folder && self.path.is_dir() {
            fs::remove_dir(&self.path).map_err(failed("replace"))?;
        }
        fs::rename(from, &self.path).map_err(failed("rename"))
    }
}

/// Whether this is what a link is answered with that leads to nothing, or in a circle.
fn leads_nowhere(error: &io::Error) -> bool {
    /// `ELOOP` of Linux, and of macOS and the BSDs.
    const LOOPS: [i32; 2] = [40, 62];
    let loops = || cfg!(unix) && error.raw_os_error().is_some_and(|code| LOOPS.contains(&code));
    error.kind() == io::ErrorKind::NotFound || loops()
}

/// The name of a release's archive.
pub(crate) fn zip_name(address: &ProviderAddr, version: &Version, platform: &Platform) -> String {
    format!("terraform-provider-{}_{version}_{platform}.zip", address.provider_type())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(target: &Target, want: &str) {
        let place = Place::of(
            target,
            &"Registry.Example.test/acme/widget".parse().unwrap(),
            &"1.0.0+x".parse().unwrap(),
            &"linux_amd64".parse().unwrap(),
        );
        assert_eq!(place.path, Path::new(want));
    }

    #[test]
    fn mirrors_are_found_by_opentofus_own_search() {
        tofu_oci_testkit::Vectors::open("filesystem_layout.json").each("entries", |entry| {
            let (path, found) = (entry["path"].as_str().unwrap(), &entry["result"]);
            // The search ignores case and knows legacy addresses; neither is ever written.
            let Some(address) = found["provider"].as_str().and_then(|text| text.parse::<ProviderAddr>().ok()) else {
                return;
            };
            let text = |name: &str| found[name].as_str().unwrap();
            let target = match text("form") {
                "packed" => Target::MirrorPacked(PathBuf::new()),
                _ => Target::MirrorUnpacked(PathBuf::new()),
            };
            let place =
                Place::of(&target, &address, &text("version").parse().unwrap(), &text("platform").parse().unwrap());
            assert!(place.path.display().to_string().eq_ignore_ascii_case(path), "{path}: {}", place.path.display());
        });
    }

    #[test]
    fn places_are_where_opentofu_looks() {
        let provider = "registry.example.test/acme/widget";
        let data_dir = PathBuf::from(".terraform");
        check(
            &Target::WorkingDir { data_dir, cache: None },
            &format!(".terraform/providers/{provider}/1.0.0+x/linux_amd64"),
        );
        check(&Target::MirrorUnpacked("m".into()), &format!("m/{provider}/1.0.0+x/linux_amd64"));
        let zip = "terraform-provider-widget_1.0.0+x_linux_amd64.zip";
        check(&Target::MirrorPacked("m".into()), &format!("m/{provider}/{zip}"));
        check(&Target::vendor(Path::new("w")), &format!("w/terraform.d/plugins/{provider}/1.0.0+x/linux_amd64"));
    }
}
