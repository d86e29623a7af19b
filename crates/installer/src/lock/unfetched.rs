//! What is known of a package without a download.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use tofu_oci_fetch::known_before;
use tofu_oci_lockfile::{LockEntry, PackageHashes};
use tofu_oci_source::Offer;
use tofu_oci_types::{Digest, Platform, Scheme};

/// The checksums of packages that this run has fetched, by their parts.
#[derive(Default)]
pub(super) struct FetchedHashes(Mutex<HashMap<Vec<Digest>, PackageHashes>>);

impl FetchedHashes {
    pub(super) fn get(&self, offer: &Offer) -> Option<PackageHashes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&Self::key(offer)?).cloned()
    }

    pub(super) fn put(&self, offer: &Offer, hashes: &PackageHashes) {
        if let Some(key) = Self::key(offer) {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key, hashes.clone());
        }
    }

    /// The digests of the manifest and of the parts; `None` if no digest names the contents of the package.
    fn key(offer: &Offer) -> Option<Vec<Digest>> {
        let parts: Option<Vec<Digest>> = offer.package.parts().map(|part| part.digest.clone()).collect();
        let key: Vec<Digest> = offer.manifest.iter().cloned().chain(parts?).collect();
        (!key.is_empty()).then_some(key)
    }
}

/// Whether what the origin registry has signed is all that is needed of a package. The `h1:` is worth a download only for
/// the platform of this machine, and only if the entry has none: `OpenTofu` adds that of any other platform there. An
/// entry must share a line with what was signed.
pub(super) fn origin_suffices(offer: &Offer, before: Option<&LockEntry>) -> bool {
    let is_signed = offer.zh().is_some_and(|zh| offer.signed.contains(&zh));
    let lines = || before.into_iter().flat_map(|before| &before.hashes);
    let has_h1 = lines().any(|hash| hash.scheme() == Scheme::H1);
    let agrees = before.is_none() || lines().any(|hash| offer.signed.contains(hash));
    is_signed && agrees && (has_h1 || offer.platform != Platform::current())
}

/// The package's checksums if the lock file has them: the `zh:`, or the leaf's `ch:` for an image, and the `h1:` that
/// the release claims for these contents. The caller decides whether to believe the claim.
pub(super) fn kept(before: &LockEntry, offer: &Offer) -> Option<PackageHashes> {
    let known = known_before(offer);
    let contents = known.zh.as_ref().or(known.ch.as_ref())?;
    let claims = offer.claims.get(&offer.platform)?;
    let h1 = claims.iter().find(|hash| hash.scheme() == Scheme::H1)?;
    let locked = before.hashes.contains(contents) && before.hashes.contains(h1);
    locked.then(|| PackageHashes { h1: Some(h1.clone()), ..known })
}
