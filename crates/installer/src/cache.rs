//! Packages that lie in the plugin cache.
//!
//! ```text
//! locked, and the cache has a package with a locked `h1:`   -> linked; where signatures are asked for and no pin knows
//!                                                              this `h1:`, only when the release is let in
//! not locked, and the cache may break the lock file         -> the place is asked, the cached package linked
//! otherwise                                                 -> fetched, verified, compared with the cached one, linked
//! ```
//!
//! Where a signature stands for the package, its bytes must be covered: what is linked without being fetched has an `h1:`
//! that the signed index names, or that was computed from a fetched package ([`Judgement::admits_unfetched`]).
//!
//! [`Judgement::admits_unfetched`]: tofu_oci_fetch::Judgement::admits_unfetched
//!
//! Spec: `OpenTofu` 1.12, providercache installer, "globalCacheDir"; measured with 1.12.6 and 1.13.

use tofu_oci_archive::PackageContents;
use tofu_oci_fetch::{
    Expect, Linked, PackagePath, PathContents, Unasked, check_lines, known_before, report_wrong, subject,
};
use tofu_oci_lockfile::{LockEntry, PackageHashes};
use tofu_oci_types::{Event, Place, Scheme, Version};

use crate::pipeline::{Done, Offered, Run, is_vouched};
use crate::{InstallError, Outcome};

impl Run<'_> {
    /// Where the package lies in the cache, when there is one.
    pub(crate) fn cached(&self, version: &Version) -> Option<PackagePath> {
        self.job
            .target
            .cache()
            .map(|cache| PackagePath::in_cache(&cache.dir, &self.job.address, version, &self.job.platform))
    }

    /// Uses what the lock file vouches for, from the cache or where it is installed already; nothing is asked.
    ///
    /// A line of `h1:` decides, whatever else the entry says: the contents are the locked ones. They must also be among
    /// the `unasked` ones.
    pub(crate) async fn locked_in_the_cache(
        &self,
        version: &Version,
        entry: Option<&LockEntry>,
        place: &PackagePath,
        unasked: &Unasked,
    ) -> Result<Option<Done>, InstallError> {
        if unasked.is_empty() {
            return Ok(None);
        }
        let (Some(cached), Some(entry)) = (self.cached(version), entry) else { return Ok(None) };
        let admitted = |held| locked(held, entry).filter(|package| unasked.admits(&package.h1()));
        let held = match cached.look(self.limits).await? {
            PathContents::Nothing => return Ok(None),
            held => admitted(held),
        };
        if let Some(installed) = admitted(place.look(self.limits).await?) {
            return Ok(Some(self.without_asking(version, &installed, place, Outcome::AlreadyInstalled)));
        }
        let Some(held) = held else { return Ok(None) };
        self.link(version, &cached, place).await?;
        Ok(Some(self.without_asking(version, &held, place, Outcome::Linked)))
    }

    /// Uses the cached package of a release that was let in, when the lock file has its `h1:`, and the release is known
    /// to have these very contents: by a signature, or where none stands for it, by the lock file.
    pub(crate) async fn judged_in_the_cache(
        &self,
        offered: &Offered,
        lines: Option<Expect<'_>>,
        cached: &PackagePath,
        place: &PackagePath,
    ) -> Result<Option<Done>, InstallError> {
        let Some(Expect { entry, .. }) = lines else { return Ok(None) };
        let Some(held) = locked(cached.look(self.limits).await?, entry) else { return Ok(None) };
        let offer = &offered.offer;
        let hashes = PackageHashes { h1: Some(held.h1()), ..known_before(offer) };
        let covered = offered.judged.as_ref().and_then(|judged| judged.covered().get(&offer.platform));
        let is_known = is_vouched(entry, offer) || covered.is_some_and(|covered| covered.contains(&held.h1()));
        if !is_known || !offered.admits_unfetched(&hashes) {
            return Ok(None);
        }
        let report = check_lines(offer, lines, &hashes)?;
        report_wrong(offer, &report, self.reporter);
        self.link(offer.version(), cached, place).await?;
        Ok(Some(self.linked(offered, place, &held, hashes)))
    }

    /// Uses the cached package of an offer that the lock file says nothing of, where the cache may do so. Where a signature
    /// stands for the package, it must be that one.
    pub(crate) async fn unlocked_in_the_cache(
        &self,
        offered: &Offered,
        entry: Option<&LockEntry>,
        cached: &PackagePath,
        place: &PackagePath,
    ) -> Result<Option<Done>, InstallError> {
        let says = |entry: &LockEntry| entry.hashes.iter().any(|hash| hash.scheme() != Scheme::Other);
        if entry.is_some_and(says) || !self.job.target.cache().is_some_and(|cache| cache.may_break_lock) {
            return Ok(None);
        }
        let PathContents::Package(held) = cached.look(self.limits).await? else { return Ok(None) };
        if held.executable(self.job.address.provider_type()).is_none() {
            return Ok(None);
        }
        let Offered { offer, judged } = offered;
        let hashes = PackageHashes { h1: Some(held.h1()), ..known_before(offer) };
        if !offered.admits_unfetched(&hashes) {
            return Ok(None);
        }
        self.link(offer.version(), cached, place).await?;
        Ok(Some(match judged {
            Some(judged) if judged.stands_for(offer) => self.linked(offered, place, &held, hashes),
            _ => self.without_asking(offer.version(), &held, place, Outcome::Linked),
        }))
    }

    /// What came of a package that was linked and belongs to an offer.
    fn linked(&self, offered: &Offered, place: &PackagePath, package: &PackageContents, hashes: PackageHashes) -> Done {
        let subject = subject(&self.job.address, offered.offer.version(), &self.job.platform);
        self.reporter.event(&Event::Finished { subject, outcome: "linked".to_owned() });
        self.done(offered, place, Outcome::Linked, package.bytes(), hashes)
    }

    /// Links what has just been put into the cache, or was found there to be the same.
    pub(crate) async fn link_fetched(
        &self,
        mut done: Done,
        cached: &PackagePath,
        place: &PackagePath,
    ) -> Result<Done, InstallError> {
        if self.link(&done.installed.version, cached, place).await? != Linked::Before {
            done.installed.outcome = Outcome::Installed;
        }
        place.path().clone_into(&mut done.installed.path);
        Ok(done)
    }

    fn without_asking(
        &self,
        version: &Version,
        package: &PackageContents,
        place: &PackagePath,
        outcome: Outcome,
    ) -> Done {
        let hashes = PackageHashes { h1: Some(package.h1()), zh: None, ch: None };
        let mut installed = self.installed(version.clone(), place, outcome, package.bytes(), &hashes, None);
        if let Some(cache) = self.job.target.cache() {
            installed.place = Place::PluginCache(cache.dir.clone());
        }
        let finished = match outcome {
            Outcome::Installed | Outcome::Linked => "linked",
            Outcome::AlreadyInstalled => "already installed",
        };
        let subject = subject(&self.job.address, version, &self.job.platform);
        self.reporter.event(&Event::Finished { subject, outcome: finished.to_owned() });
        Done { installed, hashes, judged: None }
    }

    async fn link(&self, version: &Version, cached: &PackagePath, place: &PackagePath) -> Result<Linked, InstallError> {
        let linked = place.link_to(cached, self.waiter, self.reporter).await?;
        if linked == Linked::Instead {
            let text = format!("{} was replaced by a link to {}", place.path().display(), cached.path().display());
            let address = &self.job.address;
            let hint = format!("what lay there was not the locked package of {address} {version}, or no link to it");
            self.reporter.event(&Event::note("replaced-by-link", text).with_hint(hint));
        }
        Ok(linked)
    }
}

/// The package, when the lock file names its contents.
fn locked(existing: PathContents, entry: &LockEntry) -> Option<PackageContents> {
    match existing {
        PathContents::Package(package) if entry.hashes.contains(&package.h1()) => Some(package),
        _ => None,
    }
}
