//! Which version.

use tofu_oci_source::{Listing, NotOffered, Offer, SourceError, StrayEffect};
use tofu_oci_types::{Event, Reporter, Version};

use crate::{InstallError, Job, Upgrade};

/// The version to install: the locked one, or the newest that the constraints admit.
///
/// The locked one is not looked up in a listing: asking for it tells whether it is there.
///
/// Spec: `OpenTofu` 1.12, providercache installer, "ensureProviderVersionsNeed", "selectedVersion".
pub(crate) async fn choose(job: &Job, reporter: &dyn Reporter) -> Result<Version, InstallError> {
    if job.constraints.ask_for_unspecified() {
        return Err(InstallError::UnspecifiedVersion { address: job.address.clone() });
    }
    match &job.lock {
        Some(locked) if job.upgrade == Upgrade::KeepLocked => {
            if !job.constraints.admits(&locked.version) {
                return Err(InstallError::LockedVersionNotAdmitted {
                    address: job.address.clone(),
                    locked: locked.version.clone(),
                    constraints: job.constraints.clone(),
                });
            }
            Ok(locked.version.clone())
        }
        _ => newest(job, reporter).await,
    }
}

async fn newest(job: &Job, reporter: &dyn Reporter) -> Result<Version, InstallError> {
    let listing = job.source.versions(&job.address).await?;
    warn_of_strays(job, &listing, reporter);
    match job.constraints.select(&listing.versions) {
        Some(version) => Ok(version.clone()),
        None => Err(InstallError::NoMatchingVersion {
            address: job.address.clone(),
            place: job.source.place(),
            constraints: job.constraints.clone(),
            offered: listing.versions,
        }),
    }
}

fn warn_of_strays(job: &Job, listing: &Listing, reporter: &dyn Reporter) {
    let breaking = listing.stray.iter().filter(|stray| stray.effect == StrayEffect::BreaksInit);
    let tags: Vec<String> = breaking.map(|stray| stray.tag.to_string()).collect();
    if tags.is_empty() {
        return;
    }
    let text = format!(
        "{} has tags that OpenTofu takes for versions it cannot find, so that `tofu init` fails: {}",
        job.source.place(),
        tags.join(", ")
    );
    reporter.event(&Event::warning("floating-tag", text).with_hint("ask the publisher to delete these tags"));
}

/// The offer of the chosen version.
pub(crate) async fn offer(job: &Job, version: &Version) -> Result<Offer, InstallError> {
    let locked = job.lock.as_ref().filter(|locked| job.upgrade == Upgrade::KeepLocked && locked.version == *version);
    if locked.is_some() && job.source.lists_first() {
        let listing = job.source.versions(&job.address).await?;
        if !listing.versions.contains(version) {
            return Err(locked_version_gone(job, version, listing.versions));
        }
    }
    let error = match job.source.offer(&job.address, version, &job.platform).await {
        Ok(offer) => return Ok(offer),
        Err(error) => error,
    };
    match error {
        SourceError::NotOffered { what: NotOffered::VersionMissing { version, offered }, .. } if locked.is_some() => {
            Err(locked_version_gone(job, &version, offered))
        }
        other => Err(other.into()),
    }
}

fn locked_version_gone(job: &Job, version: &Version, offered: Vec<Version>) -> InstallError {
    let (address, place) = (job.address.clone(), job.source.place());
    InstallError::LockedVersionGone { address, place, locked: version.clone(), offered }
}
