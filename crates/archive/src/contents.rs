//! The files of a package, and its `h1:`.

use sha2::{Digest as _, Sha256};
use tofu_oci_types::{Digest, PackageHash};

use crate::ArchiveError;
use crate::names::{EntryKind, NameSet, check_name};

/// One file of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageFile {
    /// Relative to the package's root, parts separated by `/`.
    pub name: String,
    /// Bytes.
    pub size: u64,
    /// `0o755` or `0o644`.
    pub mode: u32,
    /// SHA-256 of the contents.
    pub sha256: [u8; 32],
}

/// The files of a package, sorted bytewise by name. Directories do not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageContents {
    files: Vec<PackageFile>,
}

impl PackageContents {
    pub(crate) fn new(mut files: Vec<PackageFile>) -> Self {
        files.sort_by(|a, b| a.name.cmp(&b.name));
        Self { files }
    }

    /// Files as a record names them. What they hold must be checked by the caller.
    ///
    /// # Errors
    /// If a name is not safe or comes twice.
    pub fn recorded(files: Vec<PackageFile>) -> Result<Self, ArchiveError> {
        let mut names = NameSet::default();
        for file in &files {
            check_name(&file.name)?;
            names.insert(&file.name, EntryKind::File)?;
        }
        Ok(Self::new(files))
    }

    /// The same files with other modes.
    pub(crate) fn map_modes(mut self, mode: impl Fn(&PackageFile) -> u32) -> Self {
        for file in &mut self.files {
            file.mode = mode(file);
        }
        self
    }

    /// The files, sorted bytewise by name.
    pub fn files(&self) -> &[PackageFile] {
        &self.files
    }

    /// The files in a folder, named from there, parts separated by `/`; `None` if there is no file in it.
    #[must_use]
    pub fn below(&self, folder: &str) -> Option<Self> {
        let prefix = format!("{folder}/");
        let below = |file: &PackageFile| {
            Some(PackageFile { name: file.name.strip_prefix(&prefix)?.to_owned(), ..file.clone() })
        };
        let files: Vec<PackageFile> = self.files.iter().filter_map(below).collect();
        (!files.is_empty()).then(|| Self::new(files))
    }

    /// The size of all files together.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.size).sum()
    }

    /// The `h1:` checksum: names and contents, not modes, not times, not empty directories.
    ///
    /// Spec: `OpenTofu` 1.12, `getproviders.PackageHashV1`; `golang.org/x/mod/sumdb/dirhash`, `Hash1`.
    pub fn h1(&self) -> PackageHash {
        let mut summary = Sha256::new();
        for file in &self.files {
            let mut line = String::with_capacity(64 + 2 + file.name.len() + 1);
            line.push_str(Digest::from_sha256(file.sha256).encoded());
            line.push_str("  ");
            line.push_str(&file.name);
            line.push('\n');
            summary.update(line.as_bytes());
        }
        PackageHash::h1(&summary.finalize())
    }

    /// The provider's executable: the first root file that [`is_executable_name`] accepts.
    ///
    /// Spec: `OpenTofu` 1.12, `providercache.CachedProvider.ExecutableFile`.
    pub fn executable(&self, provider_type: &str) -> Option<&PackageFile> {
        self.files.iter().find(|file| is_executable_name(&file.name, provider_type))
    }

    /// The provider's executable, or an error that names what the root has instead.
    pub fn require_executable(&self, provider_type: &str) -> Result<&PackageFile, ArchiveError> {
        self.executable(provider_type)
            .ok_or_else(|| no_executable(provider_type, self.files.iter().map(|file| file.name.as_str())))
    }
}

/// Whether a file of this name (relative to the package's root) is the executable of a provider of this type:
/// `terraform-provider-TYPE`, alone or continued with `_` or `.`. The mode is not looked at.
pub fn is_executable_name(name: &str, provider_type: &str) -> bool {
    let rest = name.strip_prefix("terraform-provider-").and_then(|rest| rest.strip_prefix(provider_type));
    !name.contains('/') && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['_', '.']))
}

/// The error for a package whose files are `names`.
pub(crate) fn no_executable<'a>(provider_type: &str, names: impl Iterator<Item = &'a str>) -> ArchiveError {
    let found = names.filter(|name| !name.contains('/')).take(20).map(str::to_owned).collect();
    ArchiveError::NoExecutable { provider_type: provider_type.to_owned(), found }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tofu_oci_vectors::Vectors;

    fn contents(names: &[&str]) -> PackageContents {
        let file = |name: &&str| PackageFile {
            name: (*name).to_owned(),
            size: 0,
            mode: 0o644,
            sha256: Sha256::digest(b"").into(),
        };
        PackageContents::new(names.iter().map(file).collect())
    }

    #[test]
    fn finds_the_executable_as_opentofu_does() {
        Vectors::open("executables.json").each("cases", |case| {
            let names: Vec<&str> =
                case["entries"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
            let files: Vec<&str> = names.iter().copied().filter(|name| !name.ends_with('/')).collect();
            let contents = contents(&files);
            let found = contents.executable(case["type"].as_str().unwrap()).map(|file| file.name.as_str());
            assert_eq!(found, case["found"].as_str(), "{case}");
        });
    }

    #[test]
    fn a_folder_has_the_files_below_it_alone() {
        let all = contents(&["a/b/main.tf", "a/b.tf", "a/b/c/x", "ab/y"]);
        let names = |folder: &str| {
            all.below(folder).map(|found| found.files().iter().map(|file| file.name.clone()).collect::<Vec<_>>())
        };
        assert_eq!(names("a/b"), Some(vec!["c/x".to_owned(), "main.tf".to_owned()]));
        assert_eq!(names("a/b.tf"), None);
        assert_eq!(names("x"), None);
    }

    #[test]
    fn a_missing_executable_is_told_with_what_is_there() {
        let error = contents(&["README.md", "terraform-provider-zip", "docs/terraform-provider-zap"])
            .require_executable("zap")
            .expect_err("there is none");
        insta::assert_snapshot!(error, @"the package has no executable `terraform-provider-zap`");
        let ArchiveError::NoExecutable { found, .. } = error else { panic!("{error}") };
        assert_eq!(found, ["README.md", "terraform-provider-zip"]);
    }

    #[test]
    fn the_empty_package_has_the_checksum_of_nothing() {
        assert_eq!(contents(&[]).h1().as_str(), "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
    }
}
