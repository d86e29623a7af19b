//! From an offer to a verified package.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};

use tofu_oci_archive::Limits;
use tofu_oci_disk::{FileError, Lock, Scratch, Waiter};
use tofu_oci_lockfile::PackageHashes;
use tofu_oci_source::{Offer, Package, Part};
use tofu_oci_types::{Event, PackageHash, Reporter};
use tokio::sync::Semaphore;

use crate::blocking::blocking;
use crate::cache::{CacheRequest, CacheWrite, KeepOutcome, Reservation};
use crate::cache_dir::folder::CacheOrigin;
use crate::error::package_error;
use crate::place::{PackageForm, PackagePath};
use crate::small::{ProvedContents, SmallLayerFault};
use crate::stage::{OfferedBytes, Staged, stage};
use crate::staging::scratch;
use crate::verify::{ExpectedHashes, Verified, verify};
use crate::{FetchError, PackageCache, subject};

/// Packages up to this size, in bytes, are fetched without waiting for a turn.
const SMALL: u64 = 4 << 20;

/// Fetches packages for all requests of one call.
pub struct Fetcher<'a> {
    turns: Semaphore,
    limits: &'a Limits,
    cache: PackageCache,
    /// The zips that this run has been the first to want, until it fetches them.
    reserved: Mutex<HashMap<PackageHash, Lock>>,
    /// Who waits for other programs that fetch the same package.
    waiter: Waiter,
    reporter: &'a dyn Reporter,
}

impl<'a> Fetcher<'a> {
    /// Fetches at most `parallel` packages at once; small ones do not count.
    pub fn new(parallel: usize, limits: &'a Limits, reporter: &'a dyn Reporter) -> Self {
        Self {
            turns: Semaphore::new(parallel.max(1)),
            limits,
            cache: PackageCache::off(),
            reserved: Mutex::default(),
            waiter: Waiter::default(),
            reporter,
        }
    }

    /// The same with a cache: a cached package is not fetched, and a fetched package gets into the cache.
    #[must_use]
    pub fn with_cache(self, cache: PackageCache, waiter: Waiter) -> Self {
        Self { cache, waiter, ..self }
    }

    /// The package, in a temporary folder beside `place`, if it is what the offer says and the lock file admits it. A
    /// package whose descriptors exceed the limit costs no request; a download of unknown size ends at the limit. A package of
    /// the cache is checked as one that was fetched.
    ///
    /// Runs that want the same package take turns, so that one of them fetches it. Whoever waits for that has no turn among
    /// the downloads of this run, so two runs never wait for each other.
    ///
    /// With contents that are `proved`, the small layer is fetched if the release has one, and a package of the cache with
    /// these contents is taken. If the layer is not the package, the zip is fetched with a warning.
    pub async fn fetch(
        &self,
        offer: &Offer,
        place: &PackagePath,
        locked: Option<ExpectedHashes<'_>>,
        proved: &ProvedContents,
    ) -> Result<Verified, FetchError> {
        self.limits.check_packed(offer.bytes().unwrap_or(0)).map_err(|error| package_error(offer, error))?;
        let Some(wanted) = self.cache.wanted(offer, place, proved) else {
            return self.download(offer, place, locked, proved).await;
        };
        let mut staged = self.cache.take_own(&wanted, &self.waiter, self.reporter).await;
        if staged.is_none()
            && let Some((lower, from)) = self.cache.take_lower(&wanted, &self.waiter, self.reporter).await
        {
            let verified = verify(lower, place, offer, locked, self.reporter)?;
            return Ok(self.kept(&wanted, verified, from).await.knowing(self.cache.clone()));
        }
        let mut lock = None;
        if staged.is_none() && self.cache.cache_write(&wanted) == CacheWrite::Sure {
            lock = match self.reservation(wanted.lock_name()) {
                Some(lock) => Some(lock),
                None => self.cache.lock(wanted.lock_name(), &self.waiter, self.reporter).await,
            };
            staged = self.cache.take_own(&wanted, &self.waiter, self.reporter).await;
        }
        if let Some(staged) = staged {
            let verified = verify(staged, place, offer, locked, self.reporter)?;
            return Ok(verified.knowing(self.cache.clone()));
        }
        let verified = self.download(offer, place, locked, proved).await?;
        let verified = self.kept(&wanted, verified, None).await;
        drop(lock);
        Ok(verified)
    }

    /// Puts the package into the cache. If its files are there already, it gets these.
    async fn kept(&self, wanted: &CacheRequest, verified: Verified, from: Option<CacheOrigin>) -> Verified {
        let keep = async || self.cache.keep(wanted, &verified, from.clone(), &self.waiter, self.reporter).await;
        if keep().await == KeepOutcome::Done {
            return verified;
        }
        if let Some(staged) = self.cache.take_own(wanted, &self.waiter, self.reporter).await {
            return verified.sharing(staged).await;
        }
        // If the package of the cache was damaged, it is gone now.
        keep().await;
        verified
    }

    /// Whether the package with this zip may be asked for before it is known to be the package: no cache has it for `place`,
    /// and no other run fetches it for the cache. Other runs then wait until [`Fetcher::fetch`] has fetched it.
    pub fn reserve(&self, zip: &PackageHash, place: &PackagePath, proved: &ProvedContents) -> bool {
        match self.cache.reserve(zip, place, proved, &self.waiter) {
            Reservation::Free => true,
            Reservation::Taken => false,
            Reservation::Locked(lock) => {
                self.reserved.lock().unwrap_or_else(PoisonError::into_inner).insert(zip.clone(), lock);
                true
            }
        }
    }

    fn reservation(&self, zip: &PackageHash) -> Option<Lock> {
        self.reserved.lock().unwrap_or_else(PoisonError::into_inner).remove(zip)
    }

    /// The same without a package of the cache.
    async fn download(
        &self,
        offer: &Offer,
        place: &PackagePath,
        locked: Option<ExpectedHashes<'_>>,
        proved: &ProvedContents,
    ) -> Result<Verified, FetchError> {
        let _turn = match offer.bytes() {
            Some(0..=SMALL) => None,
            _ => Some(self.turns.acquire().await.expect("the semaphore is never closed")),
        };
        let received = AtomicU64::new(0);
        let small = match proved.small_layer(offer, place) {
            Some(layer) => self.small_layer(offer, layer, place, locked, proved, &received).await?,
            None => None,
        };
        let verified = if let Some(verified) = small {
            verified
        } else {
            let staged = self.stage(offer, OfferedBytes::Package, place, &received).await?;
            verify(staged, place, offer, locked, self.reporter)?
        };
        let verified = verified.received(received.into_inner()).knowing(self.cache.clone());
        self.cache.remember(&verified).await;
        Ok(verified)
    }

    /// The package out of its small layer; `None` after a warning if that is not the package.
    async fn small_layer(
        &self,
        offer: &Offer,
        layer: &Part,
        place: &PackagePath,
        locked: Option<ExpectedHashes<'_>>,
        proved: &ProvedContents,
        received: &AtomicU64,
    ) -> Result<Option<Verified>, FetchError> {
        let fetched = async {
            let staged = self.stage(offer, OfferedBytes::SmallLayer(layer), place, received).await?;
            proved.check(&staged.contents, offer)?;
            Ok(verify(staged, place, offer, locked, self.reporter)?)
        };
        match fetched.await.map_err(SmallLayerFault::of_this_machine) {
            Ok(verified) => Ok(Some(verified)),
            Err(Ok(error)) => Err(error),
            Err(Err(fault)) => {
                fault.report(offer, layer, self.reporter);
                Ok(None)
            }
        }
    }

    async fn stage(
        &self,
        offer: &Offer,
        bytes: OfferedBytes<'_>,
        place: &PackagePath,
        received: &AtomicU64,
    ) -> Result<Staged, FetchError> {
        let subject = subject(offer.address(), offer.version(), &offer.platform);
        let size = match bytes {
            OfferedBytes::Package => offer.bytes(),
            OfferedBytes::SmallLayer(layer) => layer.size,
        };
        self.reporter.event(&Event::Started { subject, bytes: size });
        stage(offer, bytes, place, self.limits, received, self.reporter).await
    }

    /// The checksums of the package, which is fetched into the folder `temporary`, verified, and thrown away.
    pub async fn look_at(&self, offer: &Offer, temporary: &Path) -> Result<PackageHashes, FetchError> {
        let form = match offer.package {
            Package::Zip(_) => PackageForm::Archive,
            Package::Layers(_) | Package::Folder(_) => PackageForm::Folder,
        };
        let verified = self.fetch_temporary(offer, temporary, form).await?;
        // Dropping it removes the package, which blocks too.
        Ok(blocking(move || verified.hashes().clone()).await)
    }

    /// The package as a zip in the folder `temporary`, verified. Dropping it removes the zip.
    pub async fn zip(&self, offer: &Offer, temporary: &Path) -> Result<Verified, FetchError> {
        self.fetch_temporary(offer, temporary, PackageForm::Archive).await
    }

    /// The same in a folder whose other files stay, and may be served: the names of temporary files there begin with a
    /// dot.
    pub async fn zip_beside(&self, offer: &Offer, folder: &Path) -> Result<Verified, FetchError> {
        let folder = folder.to_owned();
        let made = blocking(move || {
            let failed = |source| FetchError::from(FileError::new("create a folder in", folder.clone(), source));
            Scratch::beside(&folder).map_err(failed)
        });
        self.fetch_in(offer, made.await?, PackageForm::Archive).await
    }

    async fn fetch_temporary(
        &self,
        offer: &Offer,
        temporary: &Path,
        form: PackageForm,
    ) -> Result<Verified, FetchError> {
        let parent = temporary.to_owned();
        self.fetch_in(offer, blocking(move || scratch(&parent)).await?, form).await
    }

    async fn fetch_in(&self, offer: &Offer, scratch: Scratch, form: PackageForm) -> Result<Verified, FetchError> {
        let place = PackagePath::to_look_at(&Arc::new(scratch), form);
        self.fetch(offer, &place, None, &ProvedContents::default()).await
    }
}
