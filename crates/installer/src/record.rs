//! What is recorded of a provider.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tofu_oci_fetch::Judgement;
use tofu_oci_lockfile::{LockEntry, LockFile, PackageHashes, Recordable, merge};
use tofu_oci_types::{Constraints, PackageHash, Platform, ProviderAddr, Scheme, Version};

use crate::{InstallError, InstallRequest, Installed};

/// A request that has succeeded.
pub(crate) struct Completed {
    pub(crate) installed: Installed,
    pub(crate) hashes: PackageHashes,
    /// The judgement on the release; `None` if its place was not asked.
    pub(crate) judgement: Option<Arc<Judgement>>,
}

impl Completed {
    /// Takes over a second run, which another entry of the lock file bound. For the same version, the first report
    /// stays.
    pub(crate) fn replace(&mut self, newer: Self) {
        if self.installed.version == newer.installed.version {
            self.judgement = newer.judgement.or_else(|| self.judgement.take());
        } else {
            *self = newer;
        }
    }
}

/// Checksums of one release: what was verified here, and what trusted signatures cover.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReleaseRecord {
    verified: BTreeMap<Platform, PackageHashes>,
    covered: BTreeMap<Platform, BTreeSet<PackageHash>>,
}

impl ReleaseRecord {
    /// Adds what signatures cover.
    pub(crate) fn cover(&mut self, covered: &BTreeMap<Platform, BTreeSet<PackageHash>>) {
        for (platform, hashes) in covered {
            self.covered.entry(platform.clone()).or_default().extend(hashes.iter().cloned());
        }
    }

    /// Adds what was verified of a platform's package.
    pub(crate) fn verify(&mut self, platform: &Platform, hashes: &PackageHashes) {
        self.verified.insert(platform.clone(), hashes.clone());
    }

    /// The checksums of each platform. If an annotation contradicts the package itself, the package is right, whoever
    /// signed the annotation.
    pub(crate) fn hashes(&self) -> BTreeMap<Platform, BTreeSet<PackageHash>> {
        let mut hashes = self.covered.clone();
        for (platform, verified) in &self.verified {
            let hashes = hashes.entry(platform.clone()).or_default();
            let is_true = |hash: &PackageHash| match hash.scheme() {
                Scheme::H1 => verified.h1.as_ref().is_none_or(|h1| h1 == hash),
                Scheme::Zh => verified.zh.as_ref().is_none_or(|zh| zh == hash),
                Scheme::Ch | Scheme::Other => true,
            };
            hashes.retain(is_true);
            hashes.extend(verified.iter().cloned());
        }
        hashes
    }
}

/// The lock file with what was verified and what trusted signatures cover, and without the entries to forget.
pub(crate) fn merged(
    mut file: LockFile,
    requests: &[InstallRequest],
    completed: &[Completed],
    forget: &BTreeSet<ProviderAddr>,
) -> Result<LockFile, InstallError> {
    for address in forget {
        file.remove(address);
    }
    let mut records: BTreeMap<&ProviderAddr, (&InstallRequest, &Version, ReleaseRecord)> = BTreeMap::new();
    for (request, Completed { installed, hashes, judgement }) in requests.iter().zip(completed) {
        let version = &installed.version;
        let (_, first, record) =
            records.entry(&request.address).or_insert_with(|| (request, version, ReleaseRecord::default()));
        if *first != version {
            return Err(InstallError::VersionsDiffer {
                address: request.address.clone(),
                first: (*first).clone(),
                second: version.clone(),
            });
        }
        if let Some(judgement) = judgement {
            record.cover(judgement.covered());
        }
        record.verify(&request.platform, hashes);
    }
    for (address, (request, version, record)) in records {
        let entry = entry(file.get(address), version, &request.constraints, &record);
        file.insert(address.clone(), entry);
    }
    Ok(file)
}

/// The entry with these checksums, merged with the entry before.
pub(crate) fn entry(
    before: Option<&LockEntry>,
    version: &Version,
    constraints: &Constraints,
    record: &ReleaseRecord,
) -> LockEntry {
    let hashes = record.hashes().into_values().flatten();
    let hashes = Recordable::new(hashes).expect("a verified or covered package has a known h1 or zh");
    merge(before, version.clone(), constraints.clone(), &hashes)
}
