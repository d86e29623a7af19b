//! One file that carries releases across an air gap.
//!
//! Releases are collected in a folder beside the file. The file is written at the end, so a run that fails or is
//! interrupted leaves the file that was there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use tofu_oci_disk::{FolderOwner, Lockable, Scratch, Waiter};
use tofu_oci_packer::ReplaceTag;
use tofu_oci_source::{BundleSource, OciSource, Release, ReleaseId, Source};
use tofu_oci_store::{
    BundleArchive, BundleContents, DirStore, ReadStore, Store, StoreError, check_bundle_name, is_bundle_there,
};
use tofu_oci_types::{Event, Place, ProviderAddr, Reporter, Tag};

use super::{Destination, PlatformFill};
use crate::bundle_notes;
use crate::{MirrorError, TransferRequest, Transferred, transfer};

/// What becomes of the releases of a bundle that is there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExistingReleases {
    /// They stay in it.
    Keep,
    /// The new bundle has those that were received, and no others.
    Drop,
}

/// A bundle that is written when everything has been received.
pub struct BundleFile {
    file: PathBuf,
    folder: PathBuf,
    max_part: u64,
    existing: ExistingReleases,
    waiter: Waiter,
    scratch: Scratch,
    collected: Mutex<BTreeMap<String, DirStore>>,
}

impl BundleFile {
    /// A bundle at this path, in parts of at most `max_part` bytes. The folder beside it is made now. The waiter waits for
    /// other programs that write a bundle there.
    ///
    /// # Errors
    /// If the folder of the file cannot be written to.
    pub fn new(
        file: impl Into<PathBuf>,
        max_part: u64,
        existing: ExistingReleases,
        waiter: Waiter,
    ) -> Result<Self, MirrorError> {
        let file = file.into();
        if file.is_dir() {
            return Err(StoreError::io("write", &file, std::io::ErrorKind::IsADirectory.into()).into());
        }
        check_bundle_name(&file, max_part)?;
        let folder = match file.parent() {
            Some(parent) if parent != Path::new("") => parent.to_owned(),
            _ => PathBuf::from("."),
        };
        tofu_oci_disk::sweep(&folder, FolderOwner::Users);
        let scratch = Scratch::beside(&folder).map_err(|error| StoreError::io("create a folder in", &folder, error))?;
        Ok(Self { file, folder, max_part, existing, waiter, scratch, collected: Mutex::default() })
    }

    /// Where the versions of a provider or module of this name are collected.
    pub(crate) fn collected(&self, name: &str) -> Result<DirStore, MirrorError> {
        let mut collected = self.collected.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = collected.get(name) {
            return Ok(store.clone());
        }
        let store = DirStore::create_on_write(self.scratch.path().join(format!("repository-{}", collected.len())))?;
        collected.insert(name.to_owned(), store.clone());
        Ok(store)
    }

    /// The file.
    pub(crate) fn bundle_place(&self) -> Place {
        Place::Bundle(self.file.clone())
    }

    /// The release that the bundle has already: what it is widened with is compared with it, and its other platforms stay.
    async fn collect_existing(
        &self,
        request: &TransferRequest<'_>,
        id: &ReleaseId,
        store: &DirStore,
        reporter: &dyn Reporter,
    ) -> Result<(), MirrorError> {
        let existing = self.source(&id.address)?.release(&id.address, &id.version).await?;
        let platforms = existing.platforms().await?;
        let request = TransferRequest { platforms, signing: None, replace: ReplaceTag::Refuse, ..request.clone() };
        transfer(&request, existing, store, reporter).await?;
        Ok(())
    }

    /// The bundle that is there, if its releases stay.
    pub(crate) async fn kept(&self) -> Result<Option<BundleArchive>, StoreError> {
        match self.existing {
            ExistingReleases::Drop => Ok(None),
            ExistingReleases::Keep => match BundleArchive::open(&self.file).await {
                Ok(bundle) => Ok(Some(bundle)),
                Err(StoreError::UnknownRepository { .. }) => Ok(None),
                Err(error) => Err(error),
            },
        }
    }

    /// Writes the bundle with what was collected, if there is anything new.
    pub(crate) async fn complete(&self, reporter: &dyn Reporter) -> Result<(), MirrorError> {
        let on = Lockable::Folder(self.folder.clone());
        let report = |held: &_| reporter.event(&Event::note("waiting-for-lock", self.waiter.words(held)));
        let lock = tofu_oci_disk::lock(&on, &self.waiter, &report).await;
        // What another program has added to the bundle meanwhile stays.
        let lock = lock.map_err(StoreError::Locked)?;
        let (mut contents, is_new) = self.contents().await?;
        if !is_new {
            return Ok(());
        }
        contents.notes = bundle_notes::notes(&contents).await?;
        contents.write(&self.file, self.max_part, reporter, lock).await?;
        Ok(())
    }

    /// What the bundle will hold, and whether any of it is new.
    async fn contents(&self) -> Result<(BundleContents, bool), MirrorError> {
        let mut contents = BundleContents::default();
        if let Some(bundle) = self.kept().await? {
            contents = contents_of(&bundle).await?;
        }
        let collected = self.collected.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut is_new = false;
        for (name, store) in collected {
            let store: Arc<dyn ReadStore> = Arc::new(store);
            is_new |= add(&mut contents, &name, &store).await?;
        }
        Ok((contents, is_new))
    }
}

/// What a bundle holds, without its notes.
///
/// # Errors
/// If it cannot be read.
pub async fn contents_of(bundle: &BundleArchive) -> Result<BundleContents, StoreError> {
    let mut contents = BundleContents::default();
    for name in bundle.repositories() {
        let store: Arc<dyn ReadStore> = Arc::new(bundle.repository(name));
        add(&mut contents, name, &store).await?;
    }
    Ok(contents)
}

/// Adds all tags of a repository; true if it has one.
async fn add(contents: &mut BundleContents, name: &str, store: &Arc<dyn ReadStore>) -> Result<bool, StoreError> {
    let tags: Vec<Tag> = store.tags().await?;
    if tags.is_empty() {
        return Ok(false);
    }
    let repository = contents.repositories.entry(name.to_owned()).or_default();
    repository.extend(tags.into_iter().map(|tag| (tag, Arc::clone(store))));
    Ok(true)
}

#[async_trait]
impl Destination for BundleFile {
    fn place(&self, _address: &ProviderAddr) -> Result<Place, MirrorError> {
        Ok(self.bundle_place())
    }

    fn source(&self, address: &ProviderAddr) -> Result<Arc<dyn Source>, MirrorError> {
        let is_there = is_bundle_there(&self.file);
        if self.existing == ExistingReleases::Keep && is_there {
            return Ok(Arc::new(BundleSource::new(&self.file)));
        }
        Ok(Arc::new(OciSource::new(Arc::new(self.collected(&address.to_string())?))))
    }

    fn store(&self, _address: &ProviderAddr) -> Result<Option<Arc<dyn Store>>, MirrorError> {
        Ok(None)
    }

    /// Other bytes are refused: what is there is collected first.
    fn platform_fill(&self) -> PlatformFill {
        PlatformFill::Any
    }

    async fn receive(
        &self,
        request: &TransferRequest<'_>,
        release: Arc<dyn Release>,
        reporter: &dyn Reporter,
    ) -> Result<Transferred, MirrorError> {
        let store = self.collected(&release.id().address.to_string())?;
        if request.replace == ReplaceTag::Replace {
            self.collect_existing(request, release.id(), &store, reporter).await?;
        }
        transfer(request, release, &store, reporter).await
    }

    async fn finish(&self, reporter: &dyn Reporter) -> Result<(), MirrorError> {
        self.complete(reporter).await
    }
}

impl Drop for BundleFile {
    fn drop(&mut self) {
        // The stores hold no files open; the folder goes with the scratch.
        self.collected.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
