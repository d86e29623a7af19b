//! A folder of packages as a source: a filesystem mirror, or a folder of plugins.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use tofu_oci_mapper::{ConfigFiles, FolderPackage, folder_packages, nearly_packages};
use tofu_oci_types::{Identity, Place, Platform, ProviderAddr, Version};
use tokio::sync::OnceCell;

pub(crate) use self::blocking::blocking;
use self::links::FolderLinks;
use self::release::FolderRelease;
use crate::{Failure, Listing, NotOffered, Release, ReleaseId, Source, SourceError};

mod blocking;
mod links;
mod release;
#[cfg(test)]
mod tests;

/// A folder with the packages of any number of providers, as folders or as zips.
///
/// It is searched once, when it is first asked. `index.json` and `VERSION.json` beside the zips are not read: they are for
/// clients of a web server. Of two packages for one platform the unpacked one counts.
///
/// Spec: `OpenTofu` 1.12, getproviders, `FilesystemMirrorSource`.
pub struct FolderSource {
    place: Place,
    path: PathBuf,
    counts: Box<dyn Fn(&FolderPackage) -> bool + Send + Sync>,
    links: FolderLinks,
    found: OnceCell<BTreeMap<ProviderAddr, Vec<FolderPackage>>>,
}

impl FolderSource {
    /// A filesystem mirror of the user's configuration. Nothing is read yet.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self::with(path.into(), |_| true, |_| FolderLinks::Followed)
    }

    /// A static tree, from which no link leads out; only the packages that `counts` admits are there.
    pub fn tree(path: impl Into<PathBuf>, counts: impl Fn(&FolderPackage) -> bool + Send + Sync + 'static) -> Self {
        Self::with(path.into(), counts, FolderLinks::KeptIn)
    }

    fn with(
        path: PathBuf,
        counts: impl Fn(&FolderPackage) -> bool + Send + Sync + 'static,
        links: impl FnOnce(PathBuf) -> FolderLinks,
    ) -> Self {
        let (place, links) = (Place::Folder(path.clone()), links(path.clone()));
        Self { place, path, counts: Box::new(counts), links, found: OnceCell::new() }
    }

    async fn packages(&self, address: &ProviderAddr) -> Result<&[FolderPackage], SourceError> {
        let searched = self.found.get_or_try_init(|| async {
            let path = self.path.clone();
            let found = blocking(move || search(&path)).await;
            let mut found = found.map_err(|failure| SourceError::Failed { place: self.place.clone(), failure })?;
            for packages in found.values_mut() {
                packages.retain(|package| (self.counts)(package));
            }
            found.retain(|_, packages| !packages.is_empty());
            Ok::<_, SourceError>(found)
        });
        let unknown = || self.not_offered(address, NotOffered::UnknownProvider);
        searched.await?.get(address).map(Vec::as_slice).ok_or_else(unknown)
    }

    fn not_offered(&self, address: &ProviderAddr, what: NotOffered) -> SourceError {
        SourceError::NotOffered { address: address.clone(), place: self.place.clone(), what }
    }
}

#[async_trait]
impl Source for FolderSource {
    fn place(&self) -> &Place {
        &self.place
    }

    async fn nearly_named(&self, address: &ProviderAddr) -> Vec<(String, String)> {
        let (path, address) = (self.path.clone(), address.clone());
        blocking(move || nearly_packages(&FoldersOnDisk, &path, &address)).await.unwrap_or_default()
    }

    async fn versions(&self, address: &ProviderAddr) -> Result<Listing, SourceError> {
        Ok(Listing { versions: versions(self.packages(address).await?), ..Listing::default() })
    }

    async fn release(&self, address: &ProviderAddr, version: &Version) -> Result<Arc<dyn Release>, SourceError> {
        let packages = self.packages(address).await?;
        let mut own: BTreeMap<Platform, FolderPackage> = BTreeMap::new();
        for package in packages.iter().filter(|package| package.version == *version) {
            own.entry(package.platform.clone()).or_insert_with(|| package.clone());
        }
        let version = version.clone();
        if own.is_empty() {
            let what = NotOffered::VersionMissing { version, offered: versions(packages) };
            return Err(self.not_offered(address, what));
        }
        let (address, place) = (address.clone(), self.place.clone());
        let id = ReleaseId { address, version, place, identity: Identity::Unidentified };
        Ok(Arc::new(FolderRelease::new(id, own, self.links.clone())))
    }
}

/// Ascending, each once.
fn versions(packages: &[FolderPackage]) -> Vec<Version> {
    let mut versions: Vec<Version> = packages.iter().map(|package| package.version.clone()).collect();
    versions.sort_by(|one, other| one.precedence(other).then_with(|| one.to_string().cmp(&other.to_string())));
    versions.dedup();
    versions
}

fn search(folder: &Path) -> Result<BTreeMap<ProviderAddr, Vec<FolderPackage>>, Failure> {
    match std::fs::metadata(folder) {
        Ok(metadata) if metadata.is_dir() => {}
        Ok(_) => return Err(Failure::FolderMissing(format!("{} is not a folder", folder.display()))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(Failure::FolderMissing(format!("{} does not exist", folder.display())));
        }
        Err(error) => return Err(Failure::FolderUnreadable(format!("cannot read {}: {error}", folder.display()))),
    }
    let found = folder_packages(&FoldersOnDisk, folder, &|folder, name| folder.join(name))
        .map_err(|error| Failure::FolderUnreadable(error.to_string()))?;
    let mut providers: BTreeMap<ProviderAddr, Vec<FolderPackage>> = BTreeMap::new();
    for package in found {
        providers.entry(package.address.clone()).or_default().push(package);
    }
    Ok(providers)
}

/// The folders of this machine, of which only names are read.
struct FoldersOnDisk;

impl ConfigFiles for FoldersOnDisk {
    fn read(&self, _: &Path) -> io::Result<Vec<u8>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn list(&self, path: &Path) -> io::Result<Vec<OsString>> {
        std::fs::read_dir(path)?.map(|entry| Ok(entry?.file_name())).collect()
    }

    fn is_dir(&self, path: &Path) -> bool {
        path.is_dir()
    }

    fn exists(&self, path: &Path) -> bool {
        path.exists()
    }

    fn is_link(&self, path: &Path) -> bool {
        path.is_symlink()
    }
}
