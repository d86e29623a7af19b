//! The work of making a zip, which one task of one process does.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use futures_util::TryStreamExt as _;
use tofu_oci_archive::Limits;
use tofu_oci_checker::facts::repository_in_file;
use tofu_oci_disk::{Purpose, Scratch, Waiter};
use tofu_oci_fetch::Fetcher;
use tofu_oci_source::{Locator, Offer, Package};
use tofu_oci_store::{ReadStore, StoreError};
use tofu_oci_types::{Descriptor, Event, NoReporter, Reporter, Version};
use tokio::io::AsyncWriteExt as _;

use super::progress::ZipProgress;
use super::zip_folder::{CachedZip, ZipFolder, ZipKey};
use crate::permits::{LimitScope, Permit, Permits};
use crate::place_fault::{PlaceFault, embedded_repository, has_no_room, upstream};
use crate::{Refusal, ServedAddress};

/// How long a task waits for another process that makes the same zip.
const OTHERS: Duration = Duration::from_mins(10);

/// A layer of a repository that is a zip.
#[derive(Clone)]
pub(super) struct ZipLayer {
    pub(super) store: Arc<dyn ReadStore>,
    pub(super) blob: Box<Descriptor>,
    pub(super) holds: LayerContents,
}

/// What a layer is the zip of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LayerContents {
    Provider,
    /// This version of a module. Clients unpack it as it is, so the names in it are looked at before it is kept.
    Module(Version),
}

/// What a zip is made from.
pub(super) enum ZipOrigin {
    Offer(Box<Offer>),
    Layer(ServedAddress, ZipLayer),
}

/// What making needs.
pub(super) struct ZipWork {
    pub(super) folder: Arc<ZipFolder>,
    pub(super) limits: Limits,
    /// Packing takes a core.
    pub(super) packed: Permits,
    pub(super) layers: Permits,
}

/// Why a zip was not made.
pub(super) struct UnmadeZip {
    refusal: Refusal,
    /// Whether the disk has no room for it.
    is_full: bool,
}

impl ZipLayer {
    /// The digest alone would open other repositories: a client of this one may know digests of theirs.
    pub(super) fn key(&self) -> ZipKey {
        let kind = match &self.holds {
            LayerContents::Provider => "layer",
            LayerContents::Module(_) => "module",
        };
        ZipKey::of(&[kind.to_owned(), self.store.place().to_string(), self.blob.digest.to_string()])
    }
}

impl UnmadeZip {
    fn of(address: &ServedAddress, error: &(impl PlaceFault + 'static)) -> Self {
        Self { refusal: upstream(address.clone(), error), is_full: has_no_room(error) }
    }
}

impl From<Refusal> for UnmadeZip {
    fn from(refusal: Refusal) -> Self {
        Self { refusal, is_full: false }
    }
}

impl From<UnmadeZip> for Refusal {
    fn from(fault: UnmadeZip) -> Self {
        fault.refusal
    }
}

impl ZipOrigin {
    pub(super) fn address(&self) -> ServedAddress {
        match self {
            Self::Offer(offer) => offer.address().into(),
            Self::Layer(address, _) => address.clone(),
        }
    }

    /// How many bytes come from the place, if it says that.
    fn bytes(&self) -> Option<u64> {
        match self {
            Self::Offer(offer) => offer.bytes(),
            Self::Layer(_, layer) => Some(layer.blob.size),
        }
    }
}

impl ZipWork {
    pub(super) async fn find_or_make(
        self: &Arc<Self>,
        key: &ZipKey,
        origin: &ZipOrigin,
        progress: &ZipProgress,
    ) -> Result<CachedZip, Refusal> {
        let address = &origin.address();
        self.on_disk(address, |work| work.folder.ready()).await?;
        let waiter = Waiter { limit: OTHERS, ..Waiter::default() };
        let turn = self.folder.turn(key, &waiter).await;
        let _turn = turn.map_err(|error| upstream(address.clone(), &error))?;
        if let Some(kept) = self.known(key, origin).await? {
            return Ok(kept);
        }
        let made = self.make(key, origin, progress).await;
        let (is_full, bytes) = (made.as_ref().is_err_and(|fault| fault.is_full), origin.bytes());
        // The disk may be smaller than the folder is meant to be. If others fill it, the zips that are left stay.
        if is_full && self.on_disk(address, move |work| Ok(work.folder.make_room_on_disk(bytes))).await? {
            return Ok(self.make(key, origin, progress).await?);
        }
        Ok(made?)
    }

    async fn make(
        self: &Arc<Self>,
        key: &ZipKey,
        origin: &ZipOrigin,
        progress: &ZipProgress,
    ) -> Result<CachedZip, UnmadeZip> {
        let (address, key) = (&origin.address(), key.clone());
        match origin {
            ZipOrigin::Offer(offer) => {
                let reporter: &dyn Reporter = match &offer.package {
                    // No place sends it: this program does all the work.
                    Package::Folder(_) => &NoReporter,
                    Package::Zip(_) | Package::Layers(_) => progress,
                };
                let fetched = Fetcher::new(1, &self.limits, reporter).zip(offer, self.folder.path()).await;
                let verified = fetched.map_err(|error| {
                    let fault = UnmadeZip::of(address, &error);
                    UnmadeZip { refusal: fault.refusal.without(offer.place().repository()), ..fault }
                })?;
                // The temporary folder goes with `verified`, on the thread that may block.
                self.on_disk(address, move |work| work.folder.keep(&key, verified.path())).await
            }
            ZipOrigin::Layer(_, layer) => {
                let scratch =
                    self.on_disk(address, |work| Scratch::temporary(work.folder.path(), Purpose::Lock)).await?;
                let path = scratch.path().join("layer.zip");
                self.fetch_layer(address, layer, &path, progress).await?;
                self.check_names(address, layer, &path).await?;
                self.on_disk(address, move |work| {
                    let kept = work.folder.keep(&key, &path);
                    drop(scratch);
                    kept
                })
                .await
            }
        }
    }

    /// Writes the bytes of a layer to a new file, which is right if no error comes.
    async fn fetch_layer(
        self: &Arc<Self>,
        address: &ServedAddress,
        layer: &ZipLayer,
        path: &Path,
        progress: &ZipProgress,
    ) -> Result<(), UnmadeZip> {
        let from_place = |error: StoreError| UnmadeZip::of(address, &error);
        let (subject, mut done) = (address.to_string(), 0);
        progress.event(&Event::Started { subject: subject.clone(), bytes: Some(layer.blob.size) });
        let mut pieces = layer.store.fetch(&layer.blob).await.map_err(from_place)?;
        let own = path.to_owned();
        let file = self.on_disk(address, move |_| File::create_new(own)).await?;
        let mut file = tokio::fs::File::from_std(file);
        let on_file = |error: io::Error| UnmadeZip::of(address, &error);
        while let Some(piece) = pieces.try_next().await.map_err(from_place)? {
            done += piece.len() as u64;
            progress.event(&Event::Progress { subject: subject.clone(), done });
            file.write_all(&piece).await.map_err(on_file)?;
        }
        file.flush().await.map_err(on_file)
    }

    /// Refuses the zip of a module that has a repository of version control in it.
    async fn check_names(
        self: &Arc<Self>,
        address: &ServedAddress,
        layer: &ZipLayer,
        path: &Path,
    ) -> Result<(), UnmadeZip> {
        let LayerContents::Module(version) = &layer.holds else { return Ok(()) };
        let path = path.to_owned();
        match self.on_disk(address, move |_| repository_in_file(&path)).await? {
            Some(name) => Err(embedded_repository(address.clone(), version, name).into()),
            None => Ok(()),
        }
    }

    /// Waits for a turn to make a zip.
    pub(super) async fn turn(&self, origin: &ZipOrigin) -> Permit {
        let (permits, place) = match origin {
            ZipOrigin::Offer(offer) => (&self.packed, offer.place().clone()),
            ZipOrigin::Layer(_, layer) => (&self.layers, layer.store.place()),
        };
        let registry = place.repository().map(|repository| repository.registry().to_owned());
        permits.take(LimitScope::Host(registry.unwrap_or_else(|| place.to_string()))).await
    }

    /// The zip, if it is on disk. What is pulled through ends in its destination all the same.
    pub(super) async fn known(
        self: &Arc<Self>,
        key: &ZipKey,
        origin: &ZipOrigin,
    ) -> Result<Option<CachedZip>, Refusal> {
        let key = key.clone();
        let found = self.on_disk(&origin.address(), move |work| work.folder.find(&key)).await?;
        if let (Some(_), ZipOrigin::Offer(offer)) = (&found, origin) {
            offer.release.note_use();
        }
        Ok(found)
    }

    /// What identifies the zip of an offer: the manifest, or else where the package lies and when it was changed last. Another
    /// version of this program may pack in another way.
    pub(super) async fn key(self: &Arc<Self>, offer: &Offer) -> Result<ZipKey, Refusal> {
        let mut texts = vec![
            env!("CARGO_PKG_VERSION").to_owned(),
            offer.place().to_string(),
            offer.address().to_string(),
            offer.version().to_string(),
            offer.platform.to_string(),
        ];
        let known = offer.clone();
        let rest = move |work: &Self| {
            match (&known.manifest, &known.package) {
                (Some(manifest), _) => texts.push(manifest.to_string()),
                (None, Package::Folder(path)) => note_files(path, work.limits.entries, &mut texts)?,
                (None, package) => {
                    for part in package.parts() {
                        texts.extend(part.digest.iter().map(ToString::to_string));
                        texts.extend(part.size.iter().map(ToString::to_string));
                        match &part.at {
                            Locator::File(path) => note_file(path, &mut texts)?,
                            Locator::Url(url) => texts.push(url.to_string()),
                            Locator::Blob(media_type) => texts.push(media_type.clone()),
                        }
                    }
                    texts.extend(known.allowed.iter().map(ToString::to_string));
                }
            }
            Ok(ZipKey::of(&texts))
        };
        Ok(self.on_disk(&offer.address().into(), rest).await?)
    }

    /// Runs work on the folder on a thread that may block.
    async fn on_disk<T: Send + 'static>(
        self: &Arc<Self>,
        address: &ServedAddress,
        work: impl FnOnce(&Self) -> io::Result<T> + Send + 'static,
    ) -> Result<T, UnmadeZip> {
        let this = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || work(&this)).await;
        done.unwrap_or_else(|stopped| Err(io::Error::other(stopped))).map_err(|error| UnmadeZip::of(address, &error))
    }
}

/// Path, size and time of a file.
fn note_file(path: &Path, texts: &mut Vec<String>) -> io::Result<()> {
    let data = std::fs::metadata(path)?;
    let changed = data.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    texts.push(format!("{} {} {}", path.display(), data.len(), changed.as_nanos()));
    Ok(())
}

/// The same of the files of a folder and those below it, at most so many.
fn note_files(folder: &Path, most: usize, texts: &mut Vec<String>) -> io::Result<()> {
    let (mut folders, mut left) = (vec![folder.to_owned()], most);
    while let Some(folder) = folders.pop() {
        let mut entries = std::fs::read_dir(&folder)?.collect::<io::Result<Vec<_>>>()?;
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries {
            left = left.checked_sub(1).ok_or_else(|| io::Error::other("the folder has too many files"))?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            } else {
                note_file(&entry.path(), texts)?;
            }
        }
    }
    Ok(())
}
