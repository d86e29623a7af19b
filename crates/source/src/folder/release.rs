//! One release in a folder of packages.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use tofu_oci_disk::{link_out_of, open_inside};
use tofu_oci_mapper::{FolderForm, FolderPackage};
use tofu_oci_store::{Body as _, FileBody, file_range};
use tofu_oci_trust::{Evidence, Notice};
use tofu_oci_types::Platform;

use super::blocking::blocking;
use super::links::FolderLinks;
use crate::{
    ClaimedHashes, Failure, Locator, NotOffered, Offer, Package, Part, PartStream, Release, ReleaseDate,
    ReleaseDescription, ReleaseId, Search, SourceError, ZipNames,
};

/// The packages of one version, by platform. A folder has no signatures and names no checksums.
pub(super) struct FolderRelease {
    id: ReleaseId,
    about: ReleaseDescription,
    packages: BTreeMap<Platform, FolderPackage>,
    links: FolderLinks,
}

impl FolderRelease {
    pub(super) fn new(id: ReleaseId, packages: BTreeMap<Platform, FolderPackage>, links: FolderLinks) -> Self {
        let platforms = packages.keys().cloned().collect();
        Self { id, about: ReleaseDescription { platforms, ..ReleaseDescription::default() }, packages, links }
    }

    /// Refuses a package that a link out of the tree leads to, or that has one in it.
    async fn require_kept(&self, path: &Path) -> Result<(), SourceError> {
        let FolderLinks::KeptIn(folder) = &self.links else { return Ok(()) };
        let (folder, path) = (folder.clone(), path.to_owned());
        let kept = blocking(move || match link_out_of(&folder, &path) {
            Ok(None) => Ok(()),
            Ok(Some(link)) => Err(leading_out(&folder, &link)),
            Err(error) => Err(unreadable(&path, &error)),
        });
        kept.await.map_err(|problem| self.failed(Failure::FolderUnreadable(problem)))
    }

    fn failed(&self, failure: Failure) -> SourceError {
        SourceError::Failed { place: self.id.place.clone(), failure }
    }
}

#[async_trait]
impl Release for FolderRelease {
    fn id(&self) -> &ReleaseId {
        &self.id
    }

    async fn describe(&self) -> Result<&ReleaseDescription, SourceError> {
        Ok(&self.about)
    }

    async fn platforms(&self) -> Result<Vec<Platform>, SourceError> {
        Ok(self.about.platforms.clone())
    }

    async fn created(&self) -> Result<Option<ReleaseDate>, SourceError> {
        Ok(None)
    }

    async fn offer(self: Arc<Self>, platform: &Platform) -> Result<Offer, SourceError> {
        let Some(FolderPackage { path, form, .. }) = self.packages.get(platform) else {
            let (address, version, place) = (self.id.address.clone(), self.id.version.clone(), self.id.place.clone());
            let offered = self.about.platforms.clone();
            let what = NotOffered::PlatformMissing { version, platform: platform.clone(), offered };
            return Err(SourceError::NotOffered { address, place, what });
        };
        self.require_kept(path).await?;
        let package = match form {
            FolderForm::Unpacked => Package::Folder(path.clone()),
            FolderForm::Packed => {
                let zip = path.clone();
                let size = blocking(move || size_of(&zip)).await.map_err(|failure| self.failed(failure))?;
                Package::Zip(Part { at: Locator::File(path.clone()), size: Some(size), digest: None })
            }
        };
        Ok(Offer {
            platform: platform.clone(),
            manifest: None,
            package,
            small: None,
            claims: Arc::default(),
            allowed: Vec::new(),
            signed: BTreeSet::new(),
            release: self,
        })
    }

    async fn evidence(&self, _: Search) -> Result<Vec<Evidence>, SourceError> {
        Ok(Vec::new())
    }

    async fn leaf_evidence(&self) -> Result<Vec<Evidence>, SourceError> {
        Ok(Vec::new())
    }

    async fn notice(&self) -> Result<Option<Notice>, SourceError> {
        Ok(None)
    }

    async fn zip_names(&self) -> Result<ZipNames, SourceError> {
        Ok(ZipNames::new())
    }

    async fn hashes(&self) -> Result<ClaimedHashes, SourceError> {
        Ok(ClaimedHashes::new())
    }

    async fn open(&self, part: &Part) -> Result<PartStream, SourceError> {
        let Locator::File(path) = &part.at else { unreachable!("this release offers files alone") };
        let FolderLinks::KeptIn(folder) = &self.links else {
            return Ok(PartStream { size: part.size, stream: FileBody(path).open().await? });
        };
        // A link may have replaced it since.
        let (folder, zip) = (folder.clone(), path.clone());
        let opened = blocking(move || match open_inside(&folder, &zip) {
            Ok(Some(file)) => file.metadata().map(|data| (file, data.len())).map_err(|error| unreadable(&zip, &error)),
            Ok(None) => Err(leading_out(&folder, &zip)),
            Err(error) => Err(unreadable(&zip, &error)),
        });
        let (file, size) = opened.await.map_err(|problem| self.failed(Failure::FolderUnreadable(problem)))?;
        Ok(PartStream { size: part.size, stream: file_range(Arc::new(file), path.clone(), 0..size) })
    }
}

fn leading_out(folder: &Path, path: &Path) -> String {
    format!("{} is a link that leads out of {}", path.display(), folder.display())
}

fn unreadable(path: &Path, error: &io::Error) -> String {
    format!("cannot read {}: {error}", path.display())
}

/// The size of a zip. A file of another kind is not opened: a pipe has no end.
fn size_of(zip: &Path) -> Result<u64, Failure> {
    let shown = zip.display();
    match std::fs::metadata(zip) {
        Ok(metadata) if metadata.is_file() => Ok(metadata.len()),
        Ok(_) => Err(Failure::BadZip(format!("{shown} is not a regular file"))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(Failure::PackageMissing(format!("{shown} does not exist")))
        }
        Err(error) => Err(Failure::FolderUnreadable(format!("cannot read {shown}: {error}"))),
    }
}
