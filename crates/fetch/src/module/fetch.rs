//! A module's package, fetched and unpacked into a temporary folder.

use std::path::{Path, PathBuf};

use bytes::Bytes;
use tofu_oci_archive::{ArchiveError, Limits, PackageContents, take_checkout, unpack_module_zip, unpack_tar_gz};
use tofu_oci_source::{ArchiveForm, GitCheckout, ModuleError, ModulePackage, PackageBytes, Part};
use tofu_oci_types::{Event, GitReference, PackageHash, Place, Reporter};

use super::error::ModuleFetchError;
use super::folder::find;
use super::git::CheckedOut;
use super::target::ModuleDir;
use crate::blocking::blocking;
use crate::chunks::{ChunkReceiver, ChunkSender, queue};
use crate::staging::StagingFolder;

/// A module in a temporary folder beside its place: its bytes have the size and digest that its place names, and every name in
/// it is safe. Dropping it removes it.
#[derive(Debug)]
pub struct FetchedModule {
    pub(super) staging: StagingFolder,
    /// The folder that will be renamed into place.
    pub(super) folder: PathBuf,
    pub(super) contents: PackageContents,
    pub(super) target: ModuleDir,
    subdir: String,
    commit: Option<GitReference>,
}

impl FetchedModule {
    /// The checksum of its files.
    pub fn h1(&self) -> PackageHash {
        self.contents.h1()
    }

    /// How many files it has.
    pub fn files(&self) -> usize {
        self.contents.files().len()
    }

    /// Bytes of its files.
    pub fn bytes(&self) -> u64 {
        self.contents.bytes()
    }

    /// The folder of the package that it is, empty for the root.
    pub fn subdir(&self) -> &str {
        &self.subdir
    }

    /// The whole package, in which the module is.
    pub fn package_path(&self) -> &Path {
        let above = self.subdir.split('/').filter(|part| !part.is_empty()).count();
        self.folder.ancestors().nth(above).unwrap_or(&self.folder)
    }

    /// The commit that its files are of, in full; `None` if it is not from a git repository.
    pub fn commit(&self) -> Option<&GitReference> {
        self.commit.as_ref()
    }

    /// The module, before it is put in its place.
    pub fn path(&self) -> &Path {
        &self.folder
    }
}

/// Fetches the package and unpacks it beside its place. If the future is dropped, the download ends, and the unpacking thread
/// cleans up.
///
/// # Errors
/// [`ModuleFetchError`]; nothing is left then.
pub async fn fetch_module(
    package: &ModulePackage,
    target: &ModuleDir,
    subject: &str,
    limits: &Limits,
    reporter: &dyn Reporter,
) -> Result<FetchedModule, ModuleFetchError> {
    let (part, form) = match (package.bytes(), package.git()) {
        (PackageBytes::Archive { part, form }, _) => (part, *form),
        (PackageBytes::Commit, Some(checkout)) => {
            return of_git(checkout, package, target, subject, limits, reporter).await;
        }
        (PackageBytes::Commit, None) => unreachable!("a commit is in a git repository"),
    };
    let place = package.place().clone();
    let refused = |source| ModuleFetchError::Archive { place: place.clone(), source };
    limits.check_packed(part.size.unwrap_or(0)).map_err(refused)?;
    let (sender, mut receiver) = queue();
    let work = ModuleUnpacking {
        place: place.clone(),
        form,
        target: target.clone(),
        subdir: package.subdir().clone(),
        limits: limits.clone(),
    };
    // The thread owns the staging folder, and removes it after it has closed the last file.
    let unpacking = blocking(move || work.run(&mut receiver));
    let (sent, unpacked) = tokio::join!(send(sender, package, part, subject, limits, reporter), unpacking);
    // A broken download is the cause; the unpacker's error is its effect.
    sent?;
    unpacked
}

/// Checks out the commit beside the place, and takes its files.
async fn of_git(
    checkout: &GitCheckout,
    package: &ModulePackage,
    target: &ModuleDir,
    subject: &str,
    limits: &Limits,
    reporter: &dyn Reporter,
) -> Result<FetchedModule, ModuleFetchError> {
    reporter.event(&Event::Started { subject: subject.to_owned(), bytes: None });
    let parent = target.parent().to_owned();
    let staging = blocking(move || StagingFolder::in_users_folder(&parent)).await?;
    let work = staging.path().join("git");
    // The program is ended before the folder is removed, if this future is dropped.
    let commit = CheckedOut::new(limits).check_out(checkout, &work).await?;
    let (place, subdir, target, limits) =
        (package.place().clone(), package.subdir().clone(), target.clone(), limits.clone());
    blocking(move || {
        let folder = staging.folder("package")?;
        let refused = |source| ModuleFetchError::Archive { place: place.clone(), source };
        let contents = take_checkout(&work, &folder, &limits).map_err(refused)?;
        let (subdir, contents) = find(&contents, &subdir, &place)?;
        let folder = if subdir.is_empty() { folder } else { folder.join(&subdir) };
        Ok(FetchedModule { staging, folder, contents, target, subdir, commit: Some(commit) })
    })
    .await
}

async fn send(
    sender: ChunkSender,
    package: &ModulePackage,
    part: &Part,
    subject: &str,
    limits: &Limits,
    reporter: &dyn Reporter,
) -> Result<(), ModuleFetchError> {
    let place = package.place();
    let refused = |source| ModuleFetchError::Archive { place: place.clone(), source };
    let opened = package.open().await?;
    limits.check_packed(opened.size.unwrap_or(0)).map_err(refused)?;
    reporter.event(&Event::Started { subject: subject.to_owned(), bytes: opened.size });
    let stream = part.checked(place, opened.stream).map_err(ModuleError::from)?;
    let mut done = 0;
    let look = |chunk: &Bytes| {
        done += chunk.len() as u64;
        limits.check_packed(done).map_err(refused)?;
        reporter.event(&Event::Progress { subject: subject.to_owned(), done });
        Ok(())
    };
    sender.part(stream, look, |error| ModuleError::from(error).into()).await.map(drop)
}

/// What the unpacking thread does.
struct ModuleUnpacking {
    place: Place,
    form: ArchiveForm,
    target: ModuleDir,
    subdir: tofu_oci_types::Subdir,
    limits: Limits,
}

impl ModuleUnpacking {
    fn run(self, receiver: &mut ChunkReceiver) -> Result<FetchedModule, ModuleFetchError> {
        let staging = StagingFolder::in_users_folder(self.target.parent())?;
        let folder = staging.folder("package")?;
        let unpacked = receiver.read_part(|source| match self.form {
            ArchiveForm::Zip => unpack_module_zip(source, &folder, &self.limits),
            ArchiveForm::TarGz => unpack_tar_gz(source, &folder, &self.limits),
        });
        let contents = unpacked.map_err(|source| self.refused(source))?;
        let (subdir, contents) = find(&contents, &self.subdir, &self.place)?;
        let folder = if subdir.is_empty() { folder } else { folder.join(&subdir) };
        Ok(FetchedModule { staging, folder, contents, target: self.target, subdir, commit: None })
    }

    fn refused(&self, source: ArchiveError) -> ModuleFetchError {
        ModuleFetchError::Archive { place: self.place.clone(), source }
    }
}
