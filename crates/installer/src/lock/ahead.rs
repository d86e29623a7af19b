//! Which packages `lock` asks for before the answer that leads to them has come.

use std::sync::Arc;

use tofu_oci_fetch::OfflineScope;
use tofu_oci_lockfile::LockEntry;
use tofu_oci_source::{AnyZip, Offer, ReleaseId, SourceError};
use tofu_oci_types::Platform;

use super::provider::{Described, Locking, PLATFORMS};
use crate::lock_request::PlatformChoice;

impl Locking<'_> {
    /// How many platforms the release has, or is looked at for, as long as that is not known.
    pub(super) fn likely_platforms(&self) -> usize {
        match &self.request.platforms {
            PlatformChoice::Named(named) => named.len().clamp(1, PLATFORMS),
            PlatformChoice::Offered => 2,
            PlatformChoice::Covered => 1,
        }
    }

    /// The offer. Without an entry in the lock file, and if no signature decides, the package will be fetched.
    pub(super) async fn offer(
        &self,
        release: Described<'_>,
        platform: &Platform,
        before: Option<&LockEntry>,
    ) -> Result<Offer, SourceError> {
        let ReleaseId { address, version, .. } = release.id;
        let handle = Arc::clone(release.handle);
        if before.is_none() && self.trust_checker.offline_scope(address, version, platform) == OfflineScope::Locked {
            handle.offer_to_fetch(platform, &AnyZip).await
        } else {
            handle.offer(platform).await
        }
    }
}
