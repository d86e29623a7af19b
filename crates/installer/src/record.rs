//! Which checksums of a provider are recorded, and for which platforms they are too few.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tofu_oci_fetch::Judgement;
use tofu_oci_lockfile::{Guide, LockEntry, LockFile, PackageHashes, Recordable, merge};
use tofu_oci_trust::{ManifestChecksums, Policy};
use tofu_oci_types::{Constraints, PackageHash, Platform, ProviderAddr, Scheme, Version};

use crate::{InstallError, InstallRequest, Installed, NarrowEntry};

/// A request that has succeeded.
pub(crate) struct InstallRecord {
    pub(crate) installed: Installed,
    pub(crate) hashes: PackageHashes,
    /// The judgement on the release; `None` if its place was not asked.
    pub(crate) judgement: Option<Arc<Judgement>>,
    /// The platforms that the release names; empty if its place was not asked.
    pub(crate) offered: BTreeSet<Platform>,
    /// What a key of the origin registry has signed.
    pub(crate) signed: BTreeSet<PackageHash>,
}

impl InstallRecord {
    /// Takes over a second run, which another entry of the lock file bound. For the same version, the first report
    /// stays.
    pub(crate) fn replace(&mut self, newer: Self) {
        if self.installed.version == newer.installed.version {
            self.judgement = newer.judgement.or_else(|| self.judgement.take());
            self.offered.extend(newer.offered);
            self.signed.extend(newer.signed);
        } else {
            *self = newer;
        }
    }
}

/// Checksums of one release: what was verified here, and what trusted signatures cover.
#[derive(Clone, Debug)]
pub(crate) struct ReleaseRecord {
    manifests: ManifestChecksums,
    verified: BTreeMap<Platform, PackageHashes>,
    covered: BTreeMap<Platform, BTreeSet<PackageHash>>,
    /// What a key of the origin registry has signed, whatever it is of.
    signed: BTreeSet<PackageHash>,
}

/// The entry as it binds: without `ch:` lines if a rule turns them off.
pub(crate) fn binding(entry: LockEntry, manifests: ManifestChecksums) -> LockEntry {
    match manifests {
        ManifestChecksums::Off => entry.without_manifests(),
        ManifestChecksums::Optional | ManifestChecksums::Required => entry,
    }
}

/// What chooses the version of a provider, with the lines that bind.
pub(crate) fn guide(lock: &LockFile, address: &ProviderAddr, policy: &Policy) -> Option<Guide> {
    let Guide { by, entry } = lock.guide(address)?;
    Some(Guide { by, entry: binding(entry, policy.rule(address).manifest_checksums) })
}

impl ReleaseRecord {
    /// Nothing yet.
    pub(crate) fn new(manifests: ManifestChecksums) -> Self {
        Self { manifests, verified: BTreeMap::new(), covered: BTreeMap::new(), signed: BTreeSet::new() }
    }

    /// Adds what signatures cover.
    pub(crate) fn cover(&mut self, covered: &BTreeMap<Platform, BTreeSet<PackageHash>>) {
        for (platform, hashes) in covered {
            self.covered.entry(platform.clone()).or_default().extend(hashes.iter().cloned());
        }
    }

    /// Adds what a key of the origin registry has signed.
    ///
    /// Spec: `opentofu-behaviour.md` §6.5, "signed" hashes.
    pub(crate) fn sign(&mut self, signed: &BTreeSet<PackageHash>) {
        self.signed.extend(signed.iter().cloned());
    }

    /// What a key of the origin registry has signed.
    pub(crate) fn signed(&self) -> &BTreeSet<PackageHash> {
        &self.signed
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
        if self.manifests == ManifestChecksums::Off {
            for hashes in hashes.values_mut() {
                hashes.retain(|hash| hash.scheme() != Scheme::Ch);
            }
        }
        hashes
    }
}

/// The lock file with what was verified, and the new entries that lack platforms.
pub(crate) struct Merged {
    pub(crate) file: LockFile,
    pub(crate) narrow: Vec<NarrowEntry>,
}

/// The lock file with what was verified and what trusted signatures cover, and without the entries to forget.
pub(crate) fn merged<'a>(
    before: &LockFile,
    completed: impl Iterator<Item = (&'a InstallRequest, &'a InstallRecord)>,
    forget: &BTreeSet<ProviderAddr>,
    policy: &Policy,
) -> Result<Merged, InstallError> {
    let mut file = before.clone();
    for address in forget {
        file.remove(address);
    }
    let mut records: BTreeMap<&ProviderAddr, ProviderRecord<'_>> = BTreeMap::new();
    for (request, InstallRecord { installed, hashes, judgement, offered, signed }) in completed {
        let of = records.entry(&request.address).or_insert_with(|| ProviderRecord {
            request,
            version: &installed.version,
            record: ReleaseRecord::new(policy.rule(&request.address).manifest_checksums),
            offered: BTreeSet::new(),
        });
        if *of.version != installed.version {
            return Err(InstallError::VersionsDiffer {
                address: request.address.clone(),
                first: of.version.clone(),
                second: installed.version.clone(),
            });
        }
        if let Some(judgement) = judgement {
            of.record.cover(judgement.covered());
        }
        of.record.verify(&request.platform, hashes);
        of.record.sign(signed);
        of.offered.extend(offered);
    }
    let mut narrow = Vec::new();
    for (address, of) in records {
        narrow.extend(of.narrow(before.get(address)));
        let entry = entry(before.get(address), of.version, &of.request.constraints, &of.record);
        file.insert(address.clone(), entry);
    }
    Ok(Merged { file, narrow })
}

/// What is recorded of one provider.
struct ProviderRecord<'a> {
    request: &'a InstallRequest,
    version: &'a Version,
    record: ReleaseRecord,
    offered: BTreeSet<&'a Platform>,
}

impl ProviderRecord<'_> {
    /// The entry, if it is new, the release has platforms that it lacks, and it is for one platform alone or for fewer
    /// than `before`. What the origin registry has signed is for all platforms.
    fn narrow(&self, before: Option<&LockEntry>) -> Option<NarrowEntry> {
        if !self.record.signed.is_empty() || before.is_some_and(|before| before.version == *self.version) {
            return None;
        }
        let binds = |hash: &PackageHash| matches!(hash.scheme(), Scheme::H1 | Scheme::Zh);
        let hashes = self.record.hashes().into_iter().filter(|(_, hashes)| hashes.iter().any(binds));
        let platforms: BTreeSet<Platform> = hashes.map(|(platform, _)| platform).collect();
        let missing: Vec<Platform> =
            self.offered.iter().filter(|platform| !platforms.contains(**platform)).copied().cloned().collect();
        // Each platform of an entry has at most one line of a scheme.
        let lines =
            |scheme| before.map_or(0, |entry| entry.hashes.iter().filter(|hash| hash.scheme() == scheme).count());
        let earlier = lines(Scheme::H1).max(lines(Scheme::Zh));
        (!missing.is_empty() && (platforms.len() == 1 || platforms.len() < earlier)).then(|| NarrowEntry {
            address: self.request.address.clone(),
            version: self.version.clone(),
            platforms: platforms.into_iter().collect(),
            missing,
        })
    }
}

/// The entry with these checksums, merged with the entry before.
pub(crate) fn entry(
    before: Option<&LockEntry>,
    version: &Version,
    constraints: &Constraints,
    record: &ReleaseRecord,
) -> LockEntry {
    let hashes = record.hashes().into_values().flatten().chain(record.signed.iter().cloned());
    let hashes = Recordable::new(hashes).expect("a verified or covered package has a known h1 or zh");
    binding(merge(before, version.clone(), constraints.clone(), &hashes), record.manifests)
}
