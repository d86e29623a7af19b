//! Who fetches a zip that several runs want, decided before it is known to be the package.

use tofu_oci_disk::{Lock, Lockable, Waiter};
use tofu_oci_types::PackageHash;

use super::keep::CacheWrite;
use super::take::CacheRequest;
use crate::cache_dir::open::PackageCache;
use crate::place::PackagePath;
use crate::small::ProvedContents;

/// What stands in the way of asking for a zip before it is known to be the package.
pub(crate) enum Reservation {
    /// Nothing: no other run waits for it.
    Free,
    /// Nothing, and other runs wait until this is dropped.
    Locked(Lock),
    /// It is in a cache, or another run fetches it.
    Taken,
}

impl PackageCache {
    /// Keeps other runs from fetching a zip that this one will put into the cache. Waits for nothing.
    pub(crate) fn reserve(
        &self,
        zip: &PackageHash,
        place: &PackagePath,
        proved: &ProvedContents,
        waiter: &Waiter,
    ) -> Reservation {
        let (Some(caches), Some(request)) = (self.0.as_ref(), CacheRequest::of_zip(zip, place, proved)) else {
            return Reservation::Free;
        };
        if caches.hold(&request) {
            return Reservation::Taken;
        }
        let own = caches.own.as_ref().filter(|_| self.cache_write(&request) == CacheWrite::Sure);
        let Some(own) = own else { return Reservation::Free };
        match tofu_oci_disk::try_lock(&Lockable::File(own.lock(zip)), &waiter.program) {
            // Another run may have put it there before the lock was taken.
            Ok(Some(_)) if caches.hold(&request) => Reservation::Taken,
            Ok(Some(lock)) => Reservation::Locked(lock),
            Ok(None) => Reservation::Taken,
            Err(_) => Reservation::Free,
        }
    }
}
