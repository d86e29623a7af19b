//! Which version is installed; when connections are made before it is chosen.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::join;
use tofu_oci_lockfile::Guide;
use tofu_oci_source::{Listing, NotOffered, Offer, Release, Source, SourceError, StrayEffect, WantedPackage};
use tofu_oci_types::{Constraints, Event, Place, Platform, ProviderAddr, Reporter, Version};

use crate::{InstallError, Upgrade};

/// How many requests for one package are made at once: for its manifest and for itself.
pub(crate) const FOR_A_PACKAGE: usize = 2;

/// What decides which version is chosen.
#[derive(Clone, Copy)]
pub(crate) struct VersionChoice<'a> {
    pub(crate) address: &'a ProviderAddr,
    pub(crate) constraints: &'a Constraints,
    pub(crate) source: &'a dyn Source,
    pub(crate) lock: Option<&'a Guide>,
    pub(crate) upgrade: Upgrade,
    /// How many requests will be made at once when the version is known.
    pub(crate) at_once: usize,
}

impl VersionChoice<'_> {
    /// The version to install: the locked one, or the newest that the constraints admit.
    ///
    /// A locked version needs no listing: a place that lacks it says so when [`Self::release`] asks.
    ///
    /// Spec: `OpenTofu` 1.12, providercache installer, "ensureProviderVersionsNeed", "selectedVersion".
    pub(crate) async fn version(&self, reporter: &dyn Reporter) -> Result<Version, InstallError> {
        if self.constraints.ask_for_unspecified() {
            return Err(InstallError::UnspecifiedVersion { address: self.address.clone() });
        }
        match self.lock {
            Some(guide) if self.upgrade == Upgrade::KeepLocked => admitted(self.address, self.constraints, guide),
            _ => self.newest(reporter).await,
        }
    }

    async fn newest(&self, reporter: &dyn Reporter) -> Result<Version, InstallError> {
        self.source.prepare(self.at_once);
        let listing = self.source.versions(self.address).await?;
        self.warn_of_strays(&listing, reporter);
        match self.constraints.select(&listing.versions) {
            Some(version) => Ok(version.clone()),
            None => Err(self.nothing_matches(listing).await),
        }
    }

    /// What was asked for may have been withdrawn: then the place says why.
    async fn nothing_matches(&self, listing: Listing) -> InstallError {
        if let Some(version) = self.constraints.select(&listing.withdrawn)
            && let Err(withdrawn) = self.source.release(self.address, version).await
        {
            return withdrawn.into();
        }
        InstallError::NoMatchingVersion {
            address: self.address.clone(),
            place: self.source.place().clone(),
            constraints: self.constraints.clone(),
            offered: listing.versions,
        }
    }

    fn warn_of_strays(&self, listing: &Listing, reporter: &dyn Reporter) {
        let breaking = listing.stray.iter().filter(|stray| stray.effect == StrayEffect::BreaksInit);
        let tags: Vec<String> = breaking.map(|stray| stray.tag.to_string()).collect();
        if tags.is_empty() {
            return;
        }
        let text = format!(
            "{} has tags that OpenTofu takes for versions it cannot find, so that `tofu init` fails: {}",
            self.source.place(),
            tags.join(", ")
        );
        reporter.event(&Event::warning("floating-tag", text).with_hint("ask the publisher to delete these tags"));
    }

    /// The offer of the chosen version.
    pub(crate) async fn offer(&self, version: &Version, platform: &Platform) -> Result<Offer, InstallError> {
        let release = self.release(version).await?;
        release.offer(platform).await.map_err(|error| self.explain(error))
    }

    /// The same for a package that will be fetched, unless something speaks against it, and if it is `wanted`. If the version
    /// was not listed, a notice is asked for beside it.
    pub(crate) async fn offer_to_fetch(
        &self,
        version: &Version,
        platform: &Platform,
        wanted: &dyn WantedPackage,
    ) -> Result<Offer, InstallError> {
        if self.is_locked(version) {
            self.source.prepare(self.at_once + 1);
        }
        let release = self.release(version).await?;
        release.offer_to_fetch(platform, wanted).await.map_err(|error| self.explain(error))
    }

    /// The release of the chosen version.
    ///
    /// Of several methods, any one can end the search while they list versions, even if the package would come from
    /// another one. So they list versions even if the version is locked, as `OpenTofu` does. A single method is asked for
    /// the release meanwhile.
    pub(crate) async fn release(&self, version: &Version) -> Result<Arc<dyn Release>, InstallError> {
        let mut asked = None;
        if let Place::Methods(methods) = self.source.place()
            && self.is_locked(version)
        {
            let versions = self.source.versions(self.address);
            let listing = if methods.len() == 1 {
                let (listing, release) = join(versions, self.source.release(self.address, version)).await;
                // The words of an error need the list, which may also say that the version was withdrawn.
                let listing = listing?;
                asked = release.ok().filter(|_| !listing.withdrawn.contains(version));
                listing
            } else {
                versions.await?
            };
            if !listing.versions.contains(version) && !listing.withdrawn.contains(version) {
                return Err(self.locked_version_gone(version, listing.versions));
            }
        }
        match asked {
            Some(release) => Ok(release),
            None => self.source.release(self.address, version).await.map_err(|error| self.explain(error)),
        }
    }

    fn is_locked(&self, version: &Version) -> bool {
        self.upgrade == Upgrade::KeepLocked && self.lock.is_some_and(|guide| guide.entry.version == *version)
    }

    fn explain(&self, error: SourceError) -> InstallError {
        match error {
            SourceError::NotOffered { what: NotOffered::VersionMissing { version, offered }, .. }
                if self.is_locked(&version) =>
            {
                self.locked_version_gone(&version, offered)
            }
            other => other.into(),
        }
    }

    fn locked_version_gone(&self, version: &Version, offered: Vec<Version>) -> InstallError {
        let (address, place) = (self.address.clone(), self.source.place().clone());
        let by = self.lock.map_or_else(|| address.clone(), |guide| guide.by.clone());
        InstallError::LockedVersionGone { address, by, place, locked: version.clone(), offered }
    }

    /// Warns of a version that the entry of the provider's predecessor chooses, once in each run.
    pub(crate) fn warn_of_predecessor(&self, warned: &Warned, reporter: &dyn Reporter) {
        let Some(guide) = self.lock.filter(|_| self.upgrade == Upgrade::KeepLocked) else { return };
        let Some(by) = guide.predecessor(self.address) else { return };
        let version = &guide.entry.version;
        let text = format!("{by} is locked at {version}, so {} is chosen at {version}, too", self.address);
        if !warned.is_new(&text) {
            return;
        }
        let hint = "the checksums of that entry are not taken over: the two registries do not have the same bytes";
        reporter.event(&Event::warning("locked-by-predecessor", text).with_hint(hint));
    }
}

/// The locked version, if the constraints admit it.
pub(crate) fn admitted(
    address: &ProviderAddr,
    constraints: &Constraints,
    Guide { by, entry: locked }: &Guide,
) -> Result<Version, InstallError> {
    if constraints.admits(&locked.version) {
        return Ok(locked.version.clone());
    }
    let (address, by, locked) = (address.clone(), by.clone(), locked.version.clone());
    Err(InstallError::LockedVersionNotAdmitted { address, by, locked, constraints: constraints.clone() })
}

/// The warnings of a run, each given once although a version may be chosen repeatedly: for several packages, and after
/// another program has changed the entry in the lock file.
#[derive(Default)]
pub(crate) struct Warned(Mutex<BTreeSet<String>>);

impl Warned {
    fn is_new(&self, text: &str) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(text.to_owned())
    }
}
