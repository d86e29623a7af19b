//! From an offer to a package that has been verified: so many at once, and each told of.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use tofu_oci_archive::Limits;
use tofu_oci_source::{Offer, Source};
use tofu_oci_types::{Event, ProviderAddr, Reporter};
use tokio::sync::Semaphore;

use crate::place::Place;
use crate::stage::{package_error, stage};
use crate::verify::{Held, Verified, verify};
use crate::{InstallError, subject};

/// Packages up to this size are fetched without waiting for a turn.
const SMALL: u64 = 4 << 20;

/// Fetches packages for all jobs of one call.
pub(crate) struct Fetcher<'a> {
    turns: Semaphore,
    /// The providers that were published under another address, once each.
    told: Mutex<BTreeSet<ProviderAddr>>,
    limits: &'a Limits,
    reporter: &'a dyn Reporter,
}

impl<'a> Fetcher<'a> {
    /// So many at once; small ones do not count.
    pub(crate) fn new(parallel: usize, limits: &'a Limits, reporter: &'a dyn Reporter) -> Self {
        Self { turns: Semaphore::new(parallel.max(1)), told: Mutex::default(), limits, reporter }
    }

    /// The package, in a temporary folder of `place`, when it is what the offer says and the lock file admits it. One that
    /// is larger than the limit by its descriptors is not asked for.
    pub(crate) async fn fetch(
        &self,
        source: &dyn Source,
        offer: &Offer,
        place: &Place,
        locked: Option<Held<'_>>,
    ) -> Result<Verified, InstallError> {
        self.limits.check_packed(offer.bytes()).map_err(|error| package_error(offer, error))?;
        let _turn = match offer.bytes() {
            0..=SMALL => None,
            _ => Some(self.turns.acquire().await.expect("nobody closes the semaphore")),
        };
        self.report_address(offer);
        let subject = subject(&offer.address, &offer.version, &offer.platform);
        self.reporter.event(&Event::Started { subject, bytes: Some(offer.bytes()) });
        let staged = stage(source, offer, place, self.limits, self.reporter).await?;
        verify(staged, offer, locked, self.reporter)
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
