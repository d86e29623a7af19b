//! From an offer to a package that has been verified: so many at once, and each told of.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use tofu_oci_archive::Limits;
use tofu_oci_lockfile::PackageHashes;
use tofu_oci_source::{LeafKind, Offer, Source};
use tofu_oci_types::{Event, ProviderAddr, Reporter};
use tokio::sync::Semaphore;

use crate::place::{PackageForm, PackagePath};
use crate::stage::{package_error, stage};
use crate::staging::scratch;
use crate::verify::{Expect, Verified, verify};
use crate::{FetchError, blocking, subject};

/// Packages up to this size are fetched without waiting for a turn.
const SMALL: u64 = 4 << 20;

/// Fetches packages for all jobs of one call.
pub struct Fetcher<'a> {
    turns: Semaphore,
    /// The providers that were published under another address, once each.
    told: Mutex<BTreeSet<ProviderAddr>>,
    limits: &'a Limits,
    reporter: &'a dyn Reporter,
}

impl<'a> Fetcher<'a> {
    /// So many at once; small ones do not count.
    pub fn new(parallel: usize, limits: &'a Limits, reporter: &'a dyn Reporter) -> Self {
        Self { turns: Semaphore::new(parallel.max(1)), told: Mutex::default(), limits, reporter }
    }

    /// The package, in a temporary folder of `place`, when it is what the offer says and the lock file admits it. One that
    /// is larger than the limit by its descriptors is not asked for.
    pub async fn fetch(
        &self,
        source: &dyn Source,
        offer: &Offer,
        place: &PackagePath,
        locked: Option<Expect<'_>>,
    ) -> Result<Verified, FetchError> {
        self.limits.check_packed(offer.bytes()).map_err(|error| package_error(offer, error))?;
        let _turn = match offer.bytes() {
            0..=SMALL => None,
            _ => Some(self.turns.acquire().await.expect("nobody closes the semaphore")),
        };
        self.report_address(offer);
        let subject = subject(&offer.address, &offer.version, &offer.platform);
        self.reporter.event(&Event::Started { subject, bytes: Some(offer.bytes()) });
        let staged = stage(source, offer, place, self.limits, self.reporter).await?;
        verify(staged, place, offer, locked, self.reporter)
    }

    /// The checksums of the package, which is fetched, verified and thrown away. `temporary` is the folder that it is put
    /// into for that long.
    pub async fn look_at(
        &self,
        source: &dyn Source,
        offer: &Offer,
        temporary: &Path,
    ) -> Result<PackageHashes, FetchError> {
        let parent = temporary.to_owned();
        let scratch = Arc::new(blocking(move || scratch(&parent)).await?);
        let form = match offer.kind {
            LeafKind::Artifact => PackageForm::Archive,
            LeafKind::Image => PackageForm::Folder,
        };
        let place = PackagePath::to_look_at(&scratch, form);
        let verified = self.fetch(source, offer, &place, None).await?;
        // Removing the package is work for the disk, too.
        Ok(blocking(move || verified.hashes().clone()).await)
    }

    /// Tells, once for all platforms, of a release that was published under another address than the one asked for.
    fn report_address(&self, offer: &Offer) {
        let Offer { address, version, place, .. } = offer;
        let Some(published) = offer.published_as.as_ref().filter(|published| *published != address) else { return };
        if self.told.lock().unwrap_or_else(PoisonError::into_inner).insert(address.clone()) {
            let text = format!("{place} has {version} as {published}, not as {address}");
            let hint = "right for a mirror; otherwise check the address and the place";
            self.reporter.event(&Event::note("other-address", text).with_hint(hint));
        }
    }
}
