//! Zips on disk, made or fetched once, by whoever asks first: of packages that are not a zip layer of known digest and size, and
//! of layers that a client wants a part of.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, UNIX_EPOCH};

use futures_util::future::{BoxFuture, Shared};
use futures_util::{FutureExt as _, TryStreamExt as _};
use tofu_oci_archive::Limits;
use tofu_oci_checker::facts::repository_in_file;
use tofu_oci_disk::{Purpose, Scratch, Waiter};
use tofu_oci_fetch::Fetcher;
use tofu_oci_source::{Locator, Offer, Package};
use tofu_oci_store::ReadStore;
use tofu_oci_types::{Descriptor, NoReporter, Version};
use tokio::io::AsyncWriteExt as _;
use tokio::sync::watch;

use super::kept::{KeptZip, ZipFolder, ZipKey};
use crate::place_fault::{embedded_repository, upstream};
use crate::turns::{Burdened, PlaceTurn, Turns};
use crate::{Refusal, ServedAddress};

/// How long a task waits for another process that makes the same zip.
const OTHERS: Duration = Duration::from_mins(10);

/// The most layers that are fetched from one registry at a time; it decides how long one takes.
const LAYERS_AT_ONCE: usize = 16;

/// How many places may be as slow as they like, until the others wait for them.
const PLACES_AT_ONCE: usize = 4;

/// How long a zip is made on after the last client that waited for it has gone.
const WITHOUT_CLIENTS: Duration = Duration::from_mins(2);

/// Makes zips, equal ones once, and a few at a time. A zip that was begun is made on for a while if the clients that asked for it
/// have gone: they may come again. One that waits for its turn is not, or a client could ask for any number.
pub(super) struct ZipMaker {
    work: Arc<ZipWork>,
    running: Arc<Mutex<HashMap<ZipKey, RunningZip>>>,
}

/// A zip that is being made.
struct RunningZip {
    making: Making,
    /// Each client that waits for it has a receiver.
    clients: watch::Sender<()>,
}

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
    /// A provider.
    Provider,
    /// This version of a module. Clients unpack it as it is, so the names in it are looked at before it is kept.
    Module(Version),
}

/// What a zip is made from.
enum ZipOrigin {
    Offer(Box<Offer>),
    Layer(ServedAddress, ZipLayer),
}

type Making = Shared<BoxFuture<'static, Result<Arc<KeptZip>, Refusal>>>;

struct ZipWork {
    folder: ZipFolder,
    limits: Limits,
    /// Packing takes a core.
    packed: Turns,
    layers: Turns,
}

impl ZipMaker {
    pub(super) fn new(folder: ZipFolder, limits: Limits) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, Into::into);
        let [packed, layers] = [cores, LAYERS_AT_ONCE].map(|turns| Turns::new(PLACES_AT_ONCE * turns, turns));
        let work = Arc::new(ZipWork { folder, limits, packed, layers });
        Self { work, running: Arc::default() }
    }

    /// The bytes of all zips on disk.
    pub(super) fn bytes(&self) -> u64 {
        self.work.folder.bytes()
    }

    /// The zip of an offer.
    pub(super) async fn zip(&self, offer: &Offer) -> Result<Arc<KeptZip>, Refusal> {
        let key = self.work.key(offer).await?;
        self.once(key, ZipOrigin::Offer(Box::new(offer.clone()))).await
    }

    /// The zip of a layer, all of it and verified.
    pub(super) async fn layer(&self, address: &ServedAddress, layer: &ZipLayer) -> Result<Arc<KeptZip>, Refusal> {
        // A digest alone would open other repositories: a client of this one may know digests of theirs.
        let kind = match &layer.holds {
            LayerContents::Provider => "layer",
            LayerContents::Module(_) => "module",
        };
        let place = layer.store.place();
        let key = ZipKey::of(&[kind.to_owned(), place.to_string(), layer.blob.digest.to_string()]);
        self.once(key, ZipOrigin::Layer(address.clone(), layer.clone())).await
    }

    async fn once(&self, key: ZipKey, origin: ZipOrigin) -> Result<Arc<KeptZip>, Refusal> {
        let joined = lock(&self.running).get(&key).map(RunningZip::join);
        if let Some((making, _here)) = joined {
            return making.await;
        }
        if let Some(kept) = self.work.known(&key, &origin).await? {
            return Ok(Arc::new(kept));
        }
        let turn = self.work.turn(&origin).await;
        let (making, _here) = {
            let mut running = lock(&self.running);
            if let Some(running) = running.get(&key) {
                drop(turn);
                running.join()
            } else {
                let (clients, here) = watch::channel(());
                let making = self.making(key.clone(), origin, turn, clients.clone());
                running.insert(key, RunningZip { making: making.clone(), clients });
                drop(tokio::spawn(making.clone()));
                (making, here)
            }
        };
        making.await
    }

    /// Makes a zip, until no client has waited for it for a while.
    fn making(&self, key: ZipKey, origin: ZipOrigin, turn: PlaceTurn, clients: watch::Sender<()>) -> Making {
        let (work, running) = (Arc::clone(&self.work), Arc::clone(&self.running));
        let making = async move {
            let made = tokio::select! {
                made = work.find_or_make(&key, &origin) => made.map(Arc::new),
                () = left(&key, &clients, &running) => {
                    return Err(upstream(origin.address(), &io::Error::from(io::ErrorKind::TimedOut)));
                }
            };
            drop(turn);
            // Whoever asks from here on looks anew: the zip may have been removed meanwhile.
            lock(&running).remove(&key);
            made
        };
        making.boxed().shared()
    }
}

impl RunningZip {
    /// For one client more, which waits as long as it has the receiver.
    fn join(&self) -> (Making, watch::Receiver<()>) {
        (self.making.clone(), self.clients.subscribe())
    }
}

/// Waits until no client has waited for the zip for a while. From then on none finds it here.
async fn left(key: &ZipKey, clients: &watch::Sender<()>, running: &Mutex<HashMap<ZipKey, RunningZip>>) {
    loop {
        clients.closed().await;
        tokio::time::sleep(WITHOUT_CLIENTS).await;
        let mut running = lock(running);
        if clients.receiver_count() == 0 {
            running.remove(key);
            return;
        }
    }
}

fn lock(running: &Mutex<HashMap<ZipKey, RunningZip>>) -> MutexGuard<'_, HashMap<ZipKey, RunningZip>> {
    running.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ZipOrigin {
    fn address(&self) -> ServedAddress {
        match self {
            Self::Offer(offer) => offer.address().into(),
            Self::Layer(address, _) => address.clone(),
        }
    }
}

impl ZipWork {
    async fn find_or_make(self: &Arc<Self>, key: &ZipKey, origin: &ZipOrigin) -> Result<KeptZip, Refusal> {
        let address = &origin.address();
        self.on_disk(address, |work| work.folder.ready()).await?;
        let waiter = Waiter { limit: OTHERS, ..Waiter::default() };
        let turn = self.folder.turn(key, &waiter).await;
        let _turn = turn.map_err(|error| upstream(address.clone(), &error))?;
        if let Some(kept) = self.known(key, origin).await? {
            return Ok(kept);
        }
        let key = key.clone();
        match origin {
            ZipOrigin::Offer(offer) => {
                let fetched = Fetcher::new(1, &self.limits, &NoReporter).zip(offer, self.folder.path()).await;
                let verified =
                    fetched.map_err(|error| upstream(address.clone(), &error).without(offer.place().repository()))?;
                // The temporary folder goes with `verified`, on the thread that may block.
                self.on_disk(address, move |work| work.folder.keep(&key, verified.path())).await
            }
            ZipOrigin::Layer(_, layer) => {
                let scratch =
                    self.on_disk(address, |work| Scratch::temporary(work.folder.path(), Purpose::Lock)).await?;
                let path = scratch.path().join("layer.zip");
                self.fetch_layer(address, layer, &path).await?;
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
    ) -> Result<(), Refusal> {
        let mut pieces = layer.store.fetch(&layer.blob).await.map_err(|error| upstream(address.clone(), &error))?;
        let own = path.to_owned();
        let file = self.on_disk(address, move |_| File::create_new(own)).await?;
        let mut file = tokio::fs::File::from_std(file);
        let on_file = |error: io::Error| upstream(address.clone(), &error);
        while let Some(piece) = pieces.try_next().await.map_err(|error| upstream(address.clone(), &error))? {
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
    ) -> Result<(), Refusal> {
        let LayerContents::Module(version) = &layer.holds else { return Ok(()) };
        let path = path.to_owned();
        match self.on_disk(address, move |_| repository_in_file(&path)).await? {
            Some(name) => Err(embedded_repository(address.clone(), version, name)),
            None => Ok(()),
        }
    }

    /// Waits for a turn to make a zip.
    async fn turn(&self, origin: &ZipOrigin) -> PlaceTurn {
        let (turns, place) = match origin {
            ZipOrigin::Offer(offer) => (&self.packed, offer.place().clone()),
            ZipOrigin::Layer(_, layer) => (&self.layers, layer.store.place()),
        };
        let registry = place.repository().map(|repository| repository.registry().to_owned());
        turns.take(Burdened::Host(registry.unwrap_or_else(|| place.to_string()))).await
    }

    /// The zip, if it is on disk. What is pulled through ends in its destination all the same.
    async fn known(self: &Arc<Self>, key: &ZipKey, origin: &ZipOrigin) -> Result<Option<KeptZip>, Refusal> {
        let key = key.clone();
        let found = self.on_disk(&origin.address(), move |work| work.folder.find(&key)).await?;
        if let (Some(_), ZipOrigin::Offer(offer)) = (&found, origin) {
            offer.release.note_use();
        }
        Ok(found)
    }

    /// What identifies the zip of an offer: the manifest, or else where the package lies and when it was changed last. Another
    /// version of this program may pack in another way.
    async fn key(self: &Arc<Self>, offer: &Offer) -> Result<ZipKey, Refusal> {
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
        self.on_disk(&offer.address().into(), rest).await
    }

    /// Runs work on the folder on a thread that may block.
    async fn on_disk<T: Send + 'static>(
        self: &Arc<Self>,
        address: &ServedAddress,
        work: impl FnOnce(&Self) -> io::Result<T> + Send + 'static,
    ) -> Result<T, Refusal> {
        let this = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || work(&this)).await;
        done.unwrap_or_else(|stopped| Err(io::Error::other(stopped))).map_err(|error| upstream(address.clone(), &error))
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
