//! Which packages the bridge makes zips of, or fetches whole, once for all clients: those that are not a zip layer of
//! known digest and size, and layers of which a client wants a part.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared};
use tofu_oci_archive::Limits;
use tofu_oci_source::Offer;
use tokio::sync::watch;

use super::progress::ZipProgress;
use super::work::{ZipLayer, ZipOrigin, ZipWork};
use super::zip_folder::{CachedZip, ZipFolder, ZipKey};
use crate::permits::{Permit, Permits};
use crate::place_fault::{stalled, upstream};
use crate::{Refusal, ServedAddress};

/// The most layers that are fetched from one registry at a time; it decides how long one takes.
const LAYERS_AT_ONCE: usize = 16;

/// How many places may be slow before the others wait for them.
const PLACES_AT_ONCE: usize = 4;

/// For how long the making goes on after the last waiting client has gone.
const WITHOUT_CLIENTS: Duration = Duration::from_mins(2);

/// Makes zips, equal ones once, and a few at a time. It goes on for a while after the clients have gone: they may come
/// again. A zip that still waits for its turn is given up, or a client could ask for any number.
pub(super) struct ZipMaker {
    work: Arc<ZipWork>,
    running: Arc<Mutex<HashMap<ZipKey, RunningZip>>>,
}

/// A zip that is being made.
struct RunningZip {
    making: Making,
    progress: Arc<ZipProgress>,
    /// Each client that waits for it has a receiver.
    clients: watch::Sender<()>,
}

type Making = Shared<BoxFuture<'static, Result<Arc<CachedZip>, Refusal>>>;

impl ZipMaker {
    pub(super) fn new(folder: Arc<ZipFolder>, limits: Limits) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, Into::into);
        let [packed, layers] = [cores, LAYERS_AT_ONCE].map(|permits| Permits::new(PLACES_AT_ONCE * permits, permits));
        let work = Arc::new(ZipWork { folder, limits, packed, layers });
        Self { work, running: Arc::default() }
    }

    /// The bytes of all zips on disk.
    pub(super) fn bytes(&self) -> u64 {
        self.work.folder.bytes()
    }

    pub(super) async fn zip(&self, offer: &Offer) -> Result<Arc<CachedZip>, Refusal> {
        let key = self.work.key(offer).await?;
        self.once(key, ZipOrigin::Offer(Box::new(offer.clone()))).await
    }

    /// The zip of a layer, all of it and verified.
    pub(super) async fn layer(&self, address: &ServedAddress, layer: &ZipLayer) -> Result<Arc<CachedZip>, Refusal> {
        self.once(layer.key(), ZipOrigin::Layer(address.clone(), layer.clone())).await
    }

    /// Whether the zip of a layer is on disk.
    pub(super) async fn has_layer(&self, address: &ServedAddress, layer: &ZipLayer) -> bool {
        let origin = ZipOrigin::Layer(address.clone(), layer.clone());
        self.work.known(&layer.key(), &origin).await.is_ok_and(|known| known.is_some())
    }

    async fn once(&self, key: ZipKey, origin: ZipOrigin) -> Result<Arc<CachedZip>, Refusal> {
        let address = origin.address();
        let joined = lock(&self.running).get(&key).map(RunningZip::join);
        if let Some(joined) = joined {
            return joined.wait(address).await;
        }
        if let Some(kept) = self.work.known(&key, &origin).await? {
            return Ok(Arc::new(kept));
        }
        let turn = self.work.turn(&origin).await;
        let joined = {
            let mut running = lock(&self.running);
            if let Some(running) = running.get(&key) {
                drop(turn);
                running.join()
            } else {
                let (clients, progress) = (watch::Sender::new(()), Arc::new(ZipProgress::new()));
                let making = self.making((key.clone(), origin), turn, clients.clone(), Arc::clone(&progress));
                let begun = RunningZip { making, progress, clients };
                let joined = begun.join();
                running.insert(key, begun);
                drop(tokio::spawn(joined.making.clone()));
                joined
            }
        };
        joined.wait(address).await
    }

    /// Makes a zip, until no client has waited for it for a while.
    fn making(
        &self,
        (key, origin): (ZipKey, ZipOrigin),
        turn: Permit,
        clients: watch::Sender<()>,
        progress: Arc<ZipProgress>,
    ) -> Making {
        let (work, running) = (Arc::clone(&self.work), Arc::clone(&self.running));
        let making = async move {
            let made = tokio::select! {
                made = work.find_or_make(&key, &origin, &progress) => made.map(Arc::new),
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
    /// For one client more.
    fn join(&self) -> JoinedZip {
        JoinedZip { making: self.making.clone(), progress: Arc::clone(&self.progress), _here: self.clients.subscribe() }
    }
}

/// A zip that a client waits for as long as it has this.
struct JoinedZip {
    making: Making,
    progress: Arc<ZipProgress>,
    _here: watch::Receiver<()>,
}

impl JoinedZip {
    /// The zip. A client stops waiting if nothing of it comes; the making goes on for a while.
    async fn wait(self, address: ServedAddress) -> Result<Arc<CachedZip>, Refusal> {
        tokio::select! {
            biased;
            made = self.making => made,
            () = self.progress.stalls() => Err(stalled(address)),
        }
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
