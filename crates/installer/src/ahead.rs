//! Which places need not be asked, and which packages and small layers are asked for before the manifest that lists them has
//! come.

use tofu_oci_fetch::{ExpectedHashes, Fetcher, OfflineScope, PackagePath, PathContents, ProvedContents};
use tofu_oci_lockfile::ManifestLines;
use tofu_oci_source::{ClaimedPackage, WantedAhead, WantedPackage};
use tofu_oci_types::{PackageHash, Scheme};

use crate::package::{JudgedOffer, LocalState, PackageInstall};
use crate::plan::PlaceAnswer;
use crate::{InstallError, InstallRequest, InstallTarget, LockWrite, Upgrade};

impl PackageInstall<'_> {
    /// A place that was not asked. What it could add is not worth a request if the entry names a package as it is served (`zh:`,
    /// `ch:`) beside the contents of the folder. `--upgrade` asks it all the same, and so does a policy that demands signatures, whose notices
    /// count, or binds the manifest.
    pub(crate) fn not_asked(&self, found: &LocalState<'_>) -> PlaceAnswer {
        let InstallRequest { target, upgrade, .. } = self.request;
        let is_served = |hash: &PackageHash| matches!(hash.scheme(), Scheme::Zh | Scheme::Ch);
        let is_whole = found.locked.is_some_and(|ExpectedHashes { entry, manifests }| {
            manifests == ManifestLines::Optional && entry.hashes.iter().any(is_served)
        });
        let is_alone = found.cached.is_none() && !matches!(target, InstallTarget::MirrorPacked(_));
        let is_open = found.offline == OfflineScope::Locked;
        let is_settled = is_whole && is_alone && is_open && *upgrade == Upgrade::KeepLocked;
        PlaceAnswer::NotAsked(if is_settled { LockWrite::Compare } else { self.context.write })
    }

    /// What the place offers for a package that is fetched then, if the trust policy admits its release.
    pub(crate) async fn ask_to_fetch(&self, found: &LocalState<'_>) -> Result<JudgedOffer, InstallError> {
        let target = found.cached.as_ref().map_or(&found.place, |(path, _)| path);
        let wanted = UsefulPackage { locked: found.locked, target, fetcher: &self.context.fetcher };
        let offer = self.choice.offer_to_fetch(&found.version, &self.request.platform, &wanted).await?;
        self.judged(offer).await
    }
}

impl LocalState<'_> {
    /// Whether the package will be fetched, whatever the place says of it, unless the lock file refuses it: there is no
    /// other one, and no signature decides whether it may be.
    pub(crate) fn will_be_fetched(&self) -> bool {
        let is_package = |contents: &PathContents| matches!(contents, PathContents::Package(_));
        let cached = self.cached.as_ref().is_some_and(|(_, cached)| is_package(cached));
        self.offline == OfflineScope::Locked && !cached && !is_package(&self.installed)
    }
}

/// A package that the lock file admits, as far as it names zips, and that no other run of this user fetches or has fetched.
/// No signature decides whether it may be.
struct UsefulPackage<'a> {
    locked: Option<ExpectedHashes<'a>>,
    target: &'a PackagePath,
    fetcher: &'a Fetcher<'a>,
}

impl UsefulPackage<'_> {
    fn is_admitted(&self, zip: &PackageHash) -> bool {
        let Some(ExpectedHashes { entry, .. }) = self.locked else { return true };
        entry.hashes.contains(zip) || !entry.hashes.iter().any(|hash| hash.scheme() == Scheme::Zh)
    }
}

impl WantedPackage for UsefulPackage<'_> {
    fn wants(&self, claimed: &ClaimedPackage<'_>) -> WantedAhead {
        let ClaimedPackage { platform, zip, claims, .. } = *claimed;
        let proved = self.locked.map(|locked| ProvedContents::by_lock(locked.entry, zip, platform, claims));
        let proved = proved.unwrap_or_default();
        if !self.is_admitted(zip) || !self.fetcher.reserve(zip, self.target, &proved) {
            WantedAhead::Nothing
        } else if proved.suffice_for(self.target) {
            WantedAhead::SmallLayer
        } else {
            WantedAhead::Zip
        }
    }
}
